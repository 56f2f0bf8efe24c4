"""Is the rubric silent somewhere? From a label table to a verdict for each query class.

- `reasoning`: the steps in their order; `diagnose` is the one function that others call.
- `concentration`: does a class split more than the rest, whole queries compared?
- `shares`: one test for direction and for citation, against an expectation and against the rest.
- `direction`, `citation`: what is asked of the splits.
- `leniency`: who is higher everywhere, which is no hole.
- `verdict`: hole, slips, noise or too little data, and how many pairs are missing.
- `sentences`, `outcome`: the diagnosis as data, as English, and as JSON.
- `resampling`: permutations and sign flips of whole queries; `thresholds`: every number chosen.

Definitions, sources and the calibration by simulation stand in `docs/diagnosis.md`.
"""

from results.statistics.diagnosis.outcome import ClassDiagnosis, Diagnosis
from results.statistics.diagnosis.reasoning import diagnose

__all__ = ["ClassDiagnosis", "Diagnosis", "diagnose"]
