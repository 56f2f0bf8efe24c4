"""Changes of labels are counted by round, which is not known here."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0008_no_truncate"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="member",
            name="label_changes",
        ),
    ]
