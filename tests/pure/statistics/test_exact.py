"""The exact tests agree with scipy.stats, which is not loaded for them."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, norm

from results.statistics.exact import binomial_p, fisher_exact_p, normal_quantile
from tests.conftest import ROOT

COUNT = st.integers(0, 60)


def test_the_lady_tasting_tea() -> None:
    # Fisher (1935), The Design of Experiments, ch. 2: three of four cups right, p = 34/70.
    assert fisher_exact_p([[3, 1], [1, 3]]) == pytest.approx(34 / 70)


@given(COUNT, COUNT, COUNT, COUNT)
def test_fishers_test_is_that_of_scipy(a: int, b: int, c: int, d: int) -> None:
    table = [[a, b], [c, d]]
    assert fisher_exact_p(table) == pytest.approx(fisher_exact(table).pvalue, rel=1e-6)


def test_fishers_test_bears_a_million_pairs() -> None:
    table = [[60_000, 140_000], [250_000, 550_000]]
    expected = fisher_exact(table).pvalue
    assert fisher_exact_p(table) == pytest.approx(expected, rel=1e-4)


@given(st.integers(1, 500).flatmap(lambda asked: st.tuples(st.integers(0, asked), st.just(asked))))
def test_the_binomial_test_is_that_of_scipy(counts: tuple[int, int]) -> None:
    assert binomial_p(*counts) == pytest.approx(binomtest(*counts).pvalue, rel=1e-6)


@pytest.mark.parametrize("above", [0.5, 0.2, 0.05, 0.001, 0.9])
def test_the_normal_quantile_is_that_of_scipy(above: float) -> None:
    assert normal_quantile(above) == pytest.approx(norm.isf(above), abs=1e-9)


def test_the_report_loads_no_scipy_stats() -> None:
    code = "import results.statistics.report, results.statistics.diagnosis, sys\n"
    code += "assert 'scipy.stats' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
