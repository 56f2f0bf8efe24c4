"""What was published or logged stays: the database itself refuses to change it."""

from django.db import migrations

REFUSE_CHANGE = """
CREATE FUNCTION studies_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER action_append_only BEFORE UPDATE OR DELETE ON studies_action
    FOR EACH ROW EXECUTE FUNCTION studies_refuse_change();
"""

KEEP_PUBLISHED = """
CREATE FUNCTION studies_keep_published_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL THEN
        RAISE EXCEPTION 'rubric % is published: % refused', OLD.number, TG_OP
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END $$;

CREATE TRIGGER rubric_version_immutable BEFORE UPDATE OR DELETE ON studies_rubricversion
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_version();

-- The argument names the column that leads to the version: directly, or over a dimension or
-- a clause of it.
CREATE FUNCTION studies_keep_published_part() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    part jsonb;
    published boolean;
BEGIN
    FOREACH part IN ARRAY ARRAY[to_jsonb(NEW), to_jsonb(OLD)] LOOP
        CONTINUE WHEN part IS NULL OR part = 'null'::jsonb;
        SELECT v.published_at IS NOT NULL INTO published
        FROM studies_rubricversion v
        WHERE v.id = CASE TG_ARGV[0]
            WHEN 'version' THEN (part->>'rubric_version_id')::bigint
            WHEN 'dimension' THEN
                (SELECT d.rubric_version_id FROM studies_dimension d
                 WHERE d.id = (part->>'dimension_id')::bigint)
            ELSE
                (SELECT d.rubric_version_id FROM studies_clause c
                 JOIN studies_dimension d ON d.id = c.dimension_id
                 WHERE c.id = (part->>'clause_id')::bigint)
            END;
        IF published THEN
            RAISE EXCEPTION 'a part of a published rubric: % on % refused', TG_OP, TG_TABLE_NAME
                USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN COALESCE(NEW, OLD);
END $$;

CREATE TRIGGER grade_immutable BEFORE INSERT OR UPDATE OR DELETE ON studies_grade
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_part('version');
CREATE TRIGGER dimension_immutable BEFORE INSERT OR UPDATE OR DELETE ON studies_dimension
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_part('version');
CREATE TRIGGER edge_case_immutable BEFORE INSERT OR UPDATE OR DELETE ON studies_edgecase
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_part('version');
CREATE TRIGGER clause_immutable BEFORE INSERT OR UPDATE OR DELETE ON studies_clause
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_part('dimension');
CREATE TRIGGER clause_classes_immutable BEFORE INSERT OR UPDATE OR DELETE ON studies_clause_classes
    FOR EACH ROW EXECUTE FUNCTION studies_keep_published_part('clause');
"""

# What the foreign keys of judgments refer to together with the version.
REFERENCED = """
ALTER TABLE studies_dimension
    ADD CONSTRAINT dimension_of_version UNIQUE (rubric_version_id, id);
ALTER TABLE studies_clause
    ADD CONSTRAINT clause_of_dimension UNIQUE (dimension_id, id);
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0001_initial")]

    operations = [
        migrations.RunSQL(
            REFUSE_CHANGE,
            """
            DROP TRIGGER action_append_only ON studies_action;
            DROP FUNCTION studies_refuse_change;
            """,
        ),
        migrations.RunSQL(
            KEEP_PUBLISHED,
            """
            DROP FUNCTION studies_keep_published_version CASCADE;
            DROP FUNCTION studies_keep_published_part CASCADE;
            """,
        ),
        migrations.RunSQL(
            REFERENCED,
            """
            ALTER TABLE studies_dimension DROP CONSTRAINT dimension_of_version;
            ALTER TABLE studies_clause DROP CONSTRAINT clause_of_dimension;
            """,
        ),
    ]
