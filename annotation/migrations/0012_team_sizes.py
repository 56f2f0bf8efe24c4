"""How many people "all annotators" of a round are is fixed when it is closed, whoever closes it:
the roles, and who is active, change later. Rounds closed before keep the number told until now."""

from django.db import migrations

# The same people as of an open round: see results.selectors.labels.select_planned_annotators.
FIX_TEAM_SIZES = """
CREATE FUNCTION annotation_team_size(round bigint, study bigint, moment timestamptz)
RETURNS integer LANGUAGE sql AS $$
    SELECT greatest(count(*), 1)::integer
    FROM studies_member m
    WHERE m.study_id = $2 AND m.is_active AND NOT m.is_machine
        AND ('annotator' = ANY (m.roles) AND m.created_at <= $3 OR EXISTS (
            SELECT FROM annotation_judgment j
            WHERE j.annotator_id = m.id AND j.round_id = $1 AND NOT j.is_surplus))
$$;

CREATE FUNCTION annotation_fix_team_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.closed_at IS NULL THEN
        NEW.team_size := NULL;
    ELSIF NEW.team_size IS NULL AND TG_OP = 'UPDATE' AND OLD.team_size IS NOT NULL THEN
        NEW.team_size := OLD.team_size;
    ELSIF NEW.team_size IS NULL THEN
        NEW.team_size := annotation_team_size(NEW.id, NEW.study_id, NEW.closed_at);
    END IF;
    RETURN NEW;
END $$;

UPDATE studies_round SET team_size = annotation_team_size(id, study_id, closed_at)
WHERE closed_at IS NOT NULL;

CREATE TRIGGER round_team_size BEFORE INSERT OR UPDATE OF closed_at, team_size ON studies_round
    FOR EACH ROW EXECUTE FUNCTION annotation_fix_team_size();
"""

FORGET_TEAM_SIZES = """
DROP FUNCTION annotation_fix_team_size CASCADE;
DROP FUNCTION annotation_team_size;
UPDATE studies_round SET team_size = NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_label_changes_by_round"),
        ("studies", "0010_team_size"),
    ]

    operations = [
        migrations.RunSQL(FIX_TEAM_SIZES, FORGET_TEAM_SIZES),
    ]
