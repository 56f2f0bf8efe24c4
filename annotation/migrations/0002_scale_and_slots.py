"""Rules that span tables, kept by the database: labels stay on the scale of their rubric
version, and no query has more claims in force than annotators planned."""

from django.db import migrations

ON_THE_SCALE = """
ALTER TABLE annotation_judgment
    ADD CONSTRAINT judgment_grade_on_scale FOREIGN KEY (rubric_version_id, grade)
        REFERENCES studies_grade (rubric_version_id, value) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT judgment_dimension_of_version FOREIGN KEY (rubric_version_id, decided_by_id)
        REFERENCES studies_dimension (rubric_version_id, id) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT judgment_clause_of_dimension FOREIGN KEY (decided_by_id, clause_id)
        REFERENCES studies_clause (dimension_id, id) DEFERRABLE INITIALLY DEFERRED;
"""

SLOTS = """
CREATE FUNCTION annotation_slot_exists() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    planned integer;
BEGIN
    SELECT annotators INTO planned FROM studies_roundquery WHERE id = NEW.round_query_id;
    IF NEW.slot > planned THEN
        RAISE EXCEPTION 'slot % of a query with % annotators', NEW.slot, planned
            USING ERRCODE = 'check_violation', CONSTRAINT = 'claim_slot_planned';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER claim_slot_planned BEFORE INSERT OR UPDATE OF slot ON annotation_claim
    FOR EACH ROW WHEN (NEW.slot IS NOT NULL) EXECUTE FUNCTION annotation_slot_exists();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_initial"),
        ("studies", "0002_immutable_records"),
    ]

    operations = [
        migrations.RunSQL(
            ON_THE_SCALE,
            """
            ALTER TABLE annotation_judgment
                DROP CONSTRAINT judgment_grade_on_scale,
                DROP CONSTRAINT judgment_dimension_of_version,
                DROP CONSTRAINT judgment_clause_of_dimension;
            """,
        ),
        migrations.RunSQL(SLOTS, "DROP FUNCTION annotation_slot_exists CASCADE;"),
    ]
