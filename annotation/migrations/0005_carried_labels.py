"""Labels carried to a later rubric version; the database sees that they can be."""

import django.db.models.deletion
from django.db import migrations, models

CAN_BE_CARRIED = """
CREATE FUNCTION annotation_label_can_be_carried() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    label record;
    target record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION 'a carried label never changes'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'carried_never_changes';
    END IF;
    SELECT j.grade, v.study_id, v.number, d.name AS dimension INTO label
        FROM annotation_judgment j
        JOIN studies_rubricversion v ON v.id = j.rubric_version_id
        LEFT JOIN studies_dimension d ON d.id = j.decided_by_id
        WHERE j.id = NEW.judgment_id;
    SELECT id, study_id, number, published_at INTO target
        FROM studies_rubricversion WHERE id = NEW.rubric_version_id;
    IF target.study_id <> label.study_id OR target.number <= label.number
            OR target.published_at IS NULL THEN
        RAISE EXCEPTION 'label % is not carried to a later published version of its study',
            NEW.judgment_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'carried_to_later_version';
    END IF;
    IF (label.grade IS NOT NULL AND NOT EXISTS (
            SELECT FROM studies_grade g
            WHERE g.rubric_version_id = target.id AND g.value = label.grade))
        OR (label.dimension IS NOT NULL AND NOT EXISTS (
            SELECT FROM studies_dimension d
            WHERE d.rubric_version_id = target.id AND d.name = label.dimension)) THEN
        RAISE EXCEPTION 'rubric % lacks the grade or dimension of label %',
            target.number, NEW.judgment_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'carried_within_version';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER carried_label_rules BEFORE INSERT OR UPDATE ON annotation_carriedlabel
    FOR EACH ROW EXECUTE FUNCTION annotation_label_can_be_carried();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0004_plan_keeps_places"),
        ("studies", "0004_people_and_plan"),
    ]

    operations = [
        migrations.CreateModel(
            name="CarriedLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "why",
                    models.CharField(
                        choices=[
                            ("untouched", "no change of the rubric can concern it"),
                            ("kept", "an admin kept it, although a change can concern it"),
                        ],
                        default="untouched",
                        max_length=16,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studies.member",
                    ),
                ),
                (
                    "judgment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="carried",
                        to="annotation.judgment",
                    ),
                ),
                (
                    "rubric_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="carried_labels",
                        to="studies.rubricversion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("judgment", "rubric_version"), name="carried_once_per_version"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("why__in", ["untouched", "kept"])),
                        name="carried_why_known",
                    ),
                ],
            },
        ),
        migrations.RunSQL(CAN_BE_CARRIED, "DROP FUNCTION annotation_label_can_be_carried CASCADE;"),
    ]
