from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.facts.packages import edges_of
from trainrx.fix.pins import consistent_set
from trainrx.knowledge.packages import Requirements, read_requirements
from trainrx.model.packages import Need

KNOWN = read_requirements()
PLAYERS = ("ms-swift", "transformers", "trl", "torch", "vllm", "peft", "accelerate", "tokenizers")


def known(*needs: tuple[str, str, str, str, str], **releases: str) -> Requirements:
    rows: dict[str, list[Need]] = {}
    for package, since, until, other, spec in needs:
        need = Need(package=package, needs=other, spec=spec, since=since, until=until)
        rows.setdefault(package, []).append(need)
    return Requirements(
        needs={name: tuple(found) for name, found in rows.items()},
        releases={name: tuple(listed.split()) for name, listed in releases.items()},
        models=(),
    )


def test_nothing_changes_where_all_fits() -> None:
    assert consistent_set({"trl": "0.24.0", "transformers": "4.57.1"}, KNOWN) == {}


def test_the_framework_stays_and_the_rest_follows() -> None:
    found = consistent_set(
        {"ms-swift": "3.2.1", "transformers": "4.53.0", "trl": "0.19.1"}, KNOWN, keep=("ms-swift",)
    )

    assert found == {"transformers": "4.50.3", "trl": "0.16.1"}


def test_torch_stays_where_another_vllm_serves_it() -> None:
    assert consistent_set({"torch": "2.9.1+cu128", "vllm": "0.11.0"}, KNOWN) == {"vllm": "0.14.1"}


def test_of_newer_releases_the_nearest_series_is_taken() -> None:
    found = consistent_set({"trl": "0.24.0", "transformers": "4.51.3"}, KNOWN, keep=("trl",))

    assert found == {"transformers": "4.56.2"}


def test_what_a_model_needs_is_kept() -> None:
    found = consistent_set({"transformers": "4.51.3"}, KNOWN, wanted={"transformers": ">=4.57"})

    assert found == {"transformers": "4.57.6"}


def test_there_may_be_no_set() -> None:
    rows = known(("a", "1.0", "", "b", ">=2"), a="1.0 1.1", b="1.0 1.5")

    assert consistent_set({"a": "1.0", "b": "1.0"}, rows) is None


def test_python_never_changes() -> None:
    rows = known(("a", "2.0", "", "python", ">=3.10"), a="1.0 2.0", python="3.9.0 3.12.0")

    assert consistent_set({"python": "3.9.1", "a": "2.0"}, rows) == {"a": "1.0"}


def test_optional_features_give_way() -> None:
    rows = known(a="1.0", b="1.0")
    need = Need(package="a", needs="b", spec=">=2", since="1.0", kind="extra")
    rows = rows._replace(needs={"a": (need,)})

    assert consistent_set({"a": "1.0", "b": "1.0"}, rows) == {}


@pytest.mark.parametrize("text", ["3.x", "", "abc", "4", ">=1.0"])
def test_a_version_nobody_can_tell_is_left_alone(text: str) -> None:
    found = consistent_set({"trl": "0.24.0", "transformers": text}, KNOWN, keep=("trl",))

    assert found == {}


def installed() -> st.SearchStrategy[dict[str, str]]:
    some = {name: st.sampled_from(KNOWN.releases[name]) for name in PLAYERS}
    return st.fixed_dictionaries({}, optional=some)


@examples(40)
@given(installed(), st.sampled_from([(), ("ms-swift",), ("trl",)]))
def test_a_set_satisfies_all_requirements_and_keeps_what_must_stay(
    versions: dict[str, str], keep: tuple[str, ...]
) -> None:
    found = consistent_set({**versions, "left-alone": "1.2.3"}, KNOWN, keep=keep)

    if found is not None:
        after = {**versions, **found}
        broken = [e for e in edges_of(after, KNOWN) if e.need.kind != "extra" and e.holds is False]
        assert not broken
        assert not set(found) & {*keep, "left-alone"}
        assert all(after[name] in KNOWN.releases[name] for name in found)
        assert consistent_set(after, KNOWN, keep=keep) is not None


@examples(40)
@given(installed())
def test_a_set_that_fits_is_not_touched(versions: dict[str, str]) -> None:
    edges = list(edges_of(versions, KNOWN))
    if all(edge.holds for edge in edges):
        assert consistent_set(versions, KNOWN) == {}
