from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0009_label_changes_by_round"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="team_size",
            field=models.PositiveIntegerField(null=True, blank=True, editable=False),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=Q(team_size__isnull=True) | Q(team_size__gte=1, closed_at__isnull=False),
                name="round_team_size_once_closed",
            ),
        ),
    ]
