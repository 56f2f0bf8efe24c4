from django.db import migrations, models

# Labels that came without a time were kept as 0 seconds, which nobody needs for a label.
FORGET_UNMEASURED = """
UPDATE annotation_judgment SET active_seconds = NULL
WHERE source = 'import' AND active_seconds = 0
"""
MEASURE_NOTHING = """
UPDATE annotation_judgment SET active_seconds = 0 WHERE active_seconds IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_round_assignments")]

    operations = [
        migrations.AlterField(
            model_name="judgment",
            name="active_seconds",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.RunSQL(FORGET_UNMEASURED, MEASURE_NOTHING),
    ]
