"""Outcomes of pairs, kept up to date by triggers that name the pairs whose labels change."""

import django.db.models.deletion
from django.db import migrations, models

TRIGGERS = """
CREATE FUNCTION results_note_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results_changedpair (pair_id, study_id)
    SELECT DISTINCT changed.pair_id, p.study_id
    FROM changed JOIN studies_pair p ON p.id = changed.pair_id;
    RETURN NULL;
END $$;

CREATE TRIGGER judgment_inserted AFTER INSERT ON annotation_judgment
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION results_note_changed();
CREATE TRIGGER judgment_updated AFTER UPDATE ON annotation_judgment
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION results_note_changed();
CREATE TRIGGER judgment_deleted AFTER DELETE ON annotation_judgment
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION results_note_changed();
CREATE TRIGGER final_label_inserted AFTER INSERT ON results_finallabel
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION results_note_changed();

-- Whose labels count, and of which rounds the later ones take the place of the earlier.
CREATE FUNCTION results_note_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results_changedpair (pair_id, study_id)
    SELECT DISTINCT pair_id, NEW.study_id FROM annotation_judgment WHERE annotator_id = NEW.id;
    RETURN NULL;
END $$;
CREATE FUNCTION results_note_round() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results_changedpair (pair_id, study_id)
    SELECT DISTINCT pair_id, NEW.study_id FROM annotation_judgment WHERE round_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER member_becomes_machine AFTER UPDATE OF is_machine ON studies_member
    FOR EACH ROW WHEN (OLD.is_machine <> NEW.is_machine) EXECUTE FUNCTION results_note_member();
CREATE TRIGGER round_moved AFTER UPDATE OF kind, position ON studies_round
    FOR EACH ROW WHEN (OLD.kind <> NEW.kind OR OLD.position <> NEW.position)
    EXECUTE FUNCTION results_note_round();

INSERT INTO results_changedpair (pair_id, study_id)
SELECT DISTINCT p.id, p.study_id FROM annotation_judgment j JOIN studies_pair p ON p.id = j.pair_id;
"""

NO_TRIGGERS = """
DROP FUNCTION results_note_changed CASCADE;
DROP FUNCTION results_note_member CASCADE;
DROP FUNCTION results_note_round CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0003_final_label_rules"),
        ("studies", "0003_consensus_policy"),
        ("annotation", "0002_scale_and_slots"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChangedPair",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="studies.pair",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="studies.study",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="PairOutcome",
            fields=[
                (
                    "pair",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="outcome",
                        serialize=False,
                        to="studies.pair",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("tie", "Tie"),
                            ("split", "Split"),
                            ("unsure", "Unsure"),
                            ("agreed", "Agreed"),
                            ("none", "None"),
                        ],
                        max_length=8,
                    ),
                ),
                ("distance", models.PositiveSmallIntegerField()),
                ("votes", models.PositiveIntegerField()),
                ("outcomes", models.PositiveIntegerField()),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="studies.study",
                    ),
                ),
            ],
            options={
                "ordering": ["pair"],
                "indexes": [
                    models.Index(fields=["study", "kind", "votes"], name="outcome_by_kind")
                ],
            },
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
