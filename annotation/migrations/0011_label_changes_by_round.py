"""Changes of labels are counted by round, from zero: reports of before are of an earlier format,
and are computed anew."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_indexes_once"),
        ("studies", "0009_label_changes_by_round"),
    ]

    operations = [
        migrations.CreateModel(
            name="LabelChanges",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("count", models.PositiveBigIntegerField(default=0)),
                (
                    "annotator",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_changes",
                        to="studies.member",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_changes",
                        to="studies.round",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("round", "annotator"), name="label_changes_once_per_annotator"
                    )
                ],
            },
        ),
    ]
