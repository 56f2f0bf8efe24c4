"""Rules of final labels that span tables and time, kept by the database: a decision stays on the
scale of its rubric version, and nothing of it changes but its end."""

from django.db import migrations

ON_THE_SCALE = """
ALTER TABLE results_finallabel
    ADD CONSTRAINT final_label_grade_on_scale FOREIGN KEY (rubric_version_id, grade)
        REFERENCES studies_grade (rubric_version_id, value) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT final_label_dimension_of_version FOREIGN KEY (rubric_version_id, decided_by_id)
        REFERENCES studies_dimension (rubric_version_id, id) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT final_label_clause_of_dimension FOREIGN KEY (decided_by_id, clause_id)
        REFERENCES studies_clause (dimension_id, id) DEFERRABLE INITIALLY DEFERRED;
"""

HISTORY = """
CREATE FUNCTION results_keep_final_label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        AND to_jsonb(OLD) - 'ended_at' - 'ended_by_id' = to_jsonb(NEW) - 'ended_at' - 'ended_by_id'
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a final label is only ever ended: % refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER final_label_kept BEFORE UPDATE OR DELETE ON results_finallabel
    FOR EACH ROW EXECUTE FUNCTION results_keep_final_label();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0002_final_labels"),
        ("studies", "0002_immutable_records"),
    ]

    operations = [
        migrations.RunSQL(
            ON_THE_SCALE,
            """
            ALTER TABLE results_finallabel
                DROP CONSTRAINT final_label_grade_on_scale,
                DROP CONSTRAINT final_label_dimension_of_version,
                DROP CONSTRAINT final_label_clause_of_dimension;
            """,
        ),
        migrations.RunSQL(HISTORY, "DROP FUNCTION results_keep_final_label CASCADE;"),
    ]
