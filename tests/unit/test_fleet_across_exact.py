import pytest
from scipy.stats import fisher_exact, hypergeom

from trainrx.fleet.across import exact
from trainrx.fleet.across.exact import Stratum, hypotheses_that_count, least_tail, stands_out, tail


@pytest.mark.parametrize(
    "one",
    [
        Stratum(50, 10, 8, 5),
        Stratum(50, 10, 8, 0),
        Stratum(12, 9, 7, 6),
        Stratum(2000, 300, 40, 19),
        Stratum(6, 5, 2, 2),
    ],
)
def test_within_one_stratum_it_is_the_test_of_fisher(one: Stratum) -> None:
    well_on, failed_off = one.on - one.failed_on, one.failed - one.failed_on
    table = [[one.failed_on, well_on], [failed_off, one.jobs - one.on - failed_off]]

    assert tail([one]) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    assert one.variance == pytest.approx(hypergeom.var(one.jobs, one.failed, one.on))


def test_over_strata_the_probabilities_of_all_ways_to_the_sum_are_added() -> None:
    strata = [Stratum(10, 4, 5, 3), Stratum(20, 5, 3, 2)]
    laws = [hypergeom(one.jobs, one.failed, one.on) for one in strata]

    expected = sum(
        laws[0].pmf(a) * laws[1].pmf(b) for a in range(5) for b in range(4) if a + b >= 5
    )

    assert tail(strata) == pytest.approx(expected)
    assert least_tail(strata) == pytest.approx(laws[0].pmf(4) * laws[1].pmf(3))


def test_what_can_never_be_significant_is_not_corrected_for() -> None:
    assert hypotheses_that_count([1e-6, 1e-5, *[0.5] * 1000], 0.05) == 2
    assert hypotheses_that_count([1e-9] * 40, 0.05) == 40
    assert hypotheses_that_count([], 0.05) == 1


def test_a_subject_stands_out_by_its_excess_over_chance() -> None:
    assert stands_out([Stratum(100, 20, 10, 8)], 1.5)
    assert not stands_out([Stratum(100, 20, 10, 3)], 1.5)
    assert not stands_out([Stratum(10, 10, 4, 4)], 0.0)


def test_of_many_jobs_the_normal_law_gives_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    strata = [Stratum(400, 160, 60, 28 + number % 3) for number in range(12)]
    known = tail(strata)

    monkeypatch.setattr(exact, "MOST_WORK", 0)

    assert 1e-7 < known < 1e-5
    assert tail(strata) == pytest.approx(known, rel=0.2)
