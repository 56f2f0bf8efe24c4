"""Agreement and disagreement as numbers, computed from narrow integer columns.

This package is pure: numpy and scipy, and nothing of Django. It never sees a text, a name of a
document or a model instance. Workers build a `table.LabelTable` and hand it on; web processes
read the stored results and never import this package.

- `table`: the columns, validated and sorted; one row for each label, unsure excluded.
- `counts`: small counts made from a table: grades per pair, coincidences and confusions per query.
- `agreement`: raw agreement, Cohen's kappa, Krippendorff's alpha, Gwet's AC1, and their bands.
- `intervals`: 95% intervals by bootstrap over queries, and Wilson's interval of a rate.
- `splits`: where the labels split: by class, deciding dimension, grades and direction.
- `report`: all of it as one JSON-ready report.

An undefined measure is an outcome with a reason (`agreement.Measure`), never 0, 1 or NaN.
Formulas, sources and every key of the report are documented in `docs/statistics.md`.
"""
