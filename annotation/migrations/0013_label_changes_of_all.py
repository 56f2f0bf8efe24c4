"""Whoever has labels in a round has a count of their changes, labels of before the counts too."""

from django.db import migrations

COUNT_FROM_ZERO = """
INSERT INTO annotation_labelchanges (round_id, annotator_id, count)
SELECT DISTINCT round_id, annotator_id, 0 FROM annotation_judgment
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_team_sizes")]

    operations = [migrations.RunSQL(COUNT_FROM_ZERO, migrations.RunSQL.noop)]
