"""What is never changed is not emptied either: TRUNCATE goes past triggers on rows."""

from django.db import migrations

TABLES = (
    "studies_action",
    "studies_rubricversion",
    "studies_grade",
    "studies_dimension",
    "studies_clause",
    "studies_clause_classes",
    "studies_edgecase",
)

# Only where the session says openly that it may, as tests do between two of them.
REFUSE_TRUNCATE = """
CREATE FUNCTION studies_refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('dissensus.may_empty_tables', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION '% is never emptied: % refused', TG_TABLE_NAME, TG_OP
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
"""

KEEP_TABLE = """
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION studies_refuse_truncate();
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0007_indexes_once")]

    operations = [
        migrations.RunSQL(REFUSE_TRUNCATE, "DROP FUNCTION studies_refuse_truncate;"),
        *(
            migrations.RunSQL(
                KEEP_TABLE.format(table=table), f"DROP TRIGGER never_emptied ON {table};"
            )
            for table in TABLES
        ),
    ]
