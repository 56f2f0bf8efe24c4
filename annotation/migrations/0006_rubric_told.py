import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_carried_labels"),
        ("studies", "0006_rubric_drafts"),
    ]

    operations = [
        migrations.CreateModel(
            name="RubricTold",
            fields=[
                (
                    "annotator",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="rubric_told",
                        serialize=False,
                        to="studies.member",
                    ),
                ),
                ("at", models.DateTimeField(auto_now=True)),
                (
                    "rubric_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studies.rubricversion",
                    ),
                ),
            ],
        ),
    ]
