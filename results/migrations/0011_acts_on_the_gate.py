"""What was decided of the gate is found among millions of labels in the log."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0010_withdrawn_proposals"),
    ]

    operations = [
        migrations.RunSQL(
            """
            CREATE INDEX action_on_the_gate ON studies_action (study_id, id)
                WHERE name IN ('gate.passed', 'gate.overridden', 'gate.override_ended');
            """,
            "DROP INDEX action_on_the_gate;",
        )
    ]
