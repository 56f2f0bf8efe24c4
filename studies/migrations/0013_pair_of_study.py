"""A pair is of its query's study, by one foreign key in the place of two; documents lose an id that
no address names."""

import django.db.models.deletion
from django.db import migrations, models

PAIR_OF_STUDY = """
ALTER TABLE studies_pair ADD CONSTRAINT pair_query_of_study
    FOREIGN KEY (study_id, query_id) REFERENCES studies_query (study_id, id)
    DEFERRABLE INITIALLY DEFERRED;
"""
ID_OF_DOCUMENTS = """
ALTER TABLE studies_document ADD COLUMN public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid();
ALTER TABLE studies_document ALTER COLUMN public_id DROP DEFAULT;
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0012_judges_read_results")]

    operations = [
        migrations.AddConstraint(
            model_name="query",
            constraint=models.UniqueConstraint(fields=("study", "id"), name="query_of_study"),
        ),
        migrations.RunSQL(
            PAIR_OF_STUDY, "ALTER TABLE studies_pair DROP CONSTRAINT pair_query_of_study;"
        ),
        migrations.AlterField(
            model_name="pair",
            name="study",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="pairs",
                to="studies.study",
            ),
        ),
        migrations.AlterField(
            model_name="pair",
            name="query",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="pairs",
                to="studies.query",
            ),
        ),
        migrations.RunSQL(
            "ALTER TABLE studies_document DROP COLUMN public_id;",
            ID_OF_DOCUMENTS,
            state_operations=[migrations.RemoveField(model_name="document", name="public_id")],
        ),
    ]
