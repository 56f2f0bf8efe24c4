"""The history of final labels is not emptied either."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0008_filters_and_targets"),
        ("studies", "0008_no_truncate"),
    ]

    operations = [
        migrations.RunSQL(
            """
            CREATE TRIGGER never_emptied BEFORE TRUNCATE ON results_finallabel
                FOR EACH STATEMENT EXECUTE FUNCTION studies_refuse_truncate();
            """,
            "DROP TRIGGER never_emptied ON results_finallabel;",
        )
    ]
