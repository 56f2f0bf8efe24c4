"""A plan never takes away a place that is in force: the database refuses it."""

from django.db import migrations

KEEP_PLACES = """
CREATE FUNCTION annotation_places_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM annotation_claim WHERE round_query_id = NEW.id AND slot > NEW.annotators
    ) THEN
        RAISE EXCEPTION 'query % has places in force above %', NEW.query_id, NEW.annotators
            USING ERRCODE = 'check_violation', CONSTRAINT = 'round_query_places_in_force';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER round_query_places_in_force BEFORE UPDATE OF annotators ON studies_roundquery
    FOR EACH ROW WHEN (NEW.annotators IS NOT NULL) EXECUTE FUNCTION annotation_places_stay();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_released_claims"),
        ("studies", "0004_people_and_plan"),
    ]

    operations = [
        migrations.RunSQL(KEEP_PLACES, "DROP FUNCTION annotation_places_stay CASCADE;"),
    ]
