"""A run's hits for a query become one row, as a ranking is written, read and kept whole."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import studies.models.fields

DOCUMENTS_ONCE = """
CREATE FUNCTION studies_are_distinct(text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT count(DISTINCT one COLLATE "C") = cardinality($1) FROM unnest($1) AS one
$$;
ALTER TABLE studies_ranking ADD CONSTRAINT ranking_documents_once CHECK (
    studies_are_distinct(document_ids) AND array_position(scores, NULL) IS NULL
);
"""
FROM_HITS = """
INSERT INTO studies_ranking (run_id, query_id, document_ids, scores)
SELECT run_id, query_id, array_agg(document_external_id ORDER BY rank),
    array_agg(score ORDER BY rank)
FROM studies_runhit
GROUP BY run_id, query_id
ORDER BY min(id)
"""
TO_HITS = """
INSERT INTO studies_runhit (run_id, query_id, document_external_id, rank, score)
SELECT r.run_id, r.query_id, hit.document_id, hit.rank, hit.score
FROM studies_ranking r
CROSS JOIN LATERAL unnest(r.document_ids, r.scores)
    WITH ORDINALITY AS hit(document_id, score, rank)
ORDER BY r.id, hit.rank
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0013_pair_of_study")]

    operations = [
        migrations.CreateModel(
            name="Ranking",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "document_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=studies.models.fields.ExternalIdField(), size=None
                    ),
                ),
                (
                    "scores",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(), size=None
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="studies.query",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rankings",
                        to="studies.run",
                    ),
                ),
            ],
            options={
                "ordering": ["run", "query"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "query"), name="ranking_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("document_ids__len__gte", 1),
                            ("document_ids__len", models.F("scores__len")),
                        ),
                        name="ranking_scores_each_document",
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            DOCUMENTS_ONCE,
            """
            ALTER TABLE studies_ranking DROP CONSTRAINT ranking_documents_once;
            DROP FUNCTION studies_are_distinct;
            """,
        ),
        migrations.RunSQL(FROM_HITS, TO_HITS),
        migrations.DeleteModel(name="RunHit"),
    ]
