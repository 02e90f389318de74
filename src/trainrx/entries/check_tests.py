"""Rules for the tests that stand beside entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.entries.check_common import KnownNames
from trainrx.entries.problem import Problem, error
from trainrx.entries.sources import EntrySource


def fired_problems(rule: EntrySource, test: EntrySource | None) -> Iterator[Problem]:
    """Refuse a rule without a test, or whose test shows one side only."""
    if test is None or test.node is None:
        yield from _untested(rule, test)
        return
    fired = {bool(_expected(case).get("fired")) for case in _cases(test)}
    for wanted, word in ((True, "fires"), (False, "does not fire")):
        if wanted not in fired:
            yield error("", f"its test has no case in which it {word}")


def sibling_problems(
    entry: EntrySource, test: EntrySource | None, *, may_be_unknown: bool
) -> Iterator[Problem]:
    """Refuse an entry without a test, or whose test shows one side only."""
    if test is None or test.node is None:
        yield from _untested(entry, test)
        return
    verdicts = {_expected(case).get("verdict") for case in _cases(test)}
    for verdict in ("present", "absent", *(["unknown"] if may_be_unknown else [])):
        if verdict not in verdicts:
            yield error("", f"its test has no case with verdict {verdict}")


def _untested(entry: EntrySource, test: EntrySource | None) -> Iterator[Problem]:
    if test is None:
        yield error("", f"has no test beside it ({entry.ident}.test.yaml)")


def case_problems(test: EntrySource, names: KnownNames) -> Iterator[Problem]:
    """Refuse cases that speak of symptoms and facts there are not: they would prove nothing."""
    if not isinstance(test.data, dict) or not isinstance(test.data.get("cases"), list):
        yield error("cases", "must be a list of cases")
        return
    for index, case in enumerate(_cases(test)):
        at = f"cases[{index}]"
        for key in ("facts", "symptoms"):
            for row in _rows(case.get(key)):
                yield from _row(row, f"{at}.{key}", names)


def _rows(told: object) -> list[object]:
    if isinstance(told, dict):
        return [{"fact": name} for name in told]
    return told if isinstance(told, list) else []


def _row(row: object, at: str, names: KnownNames) -> Iterator[Problem]:
    if not isinstance(row, dict):
        yield error(at, f"{row!r} is no mapping")
        return
    symptom = row.get("symptom", row.get("id"))
    if symptom is not None and symptom not in names.symptoms:
        yield error(at, f"no symptom {symptom!r}")
    fact = row.get("fact")
    if isinstance(fact, str) and not names.is_fact(fact):
        yield error(at, f"the fact {fact!r} is neither in kb/params nor in kb/facts")


def _cases(test: EntrySource) -> list[Mapping[str, object]]:
    listed = test.data.get("cases") if isinstance(test.data, dict) else None
    return [case for case in listed if isinstance(case, dict)] if isinstance(listed, list) else []


def _expected(case: Mapping[str, object]) -> Mapping[str, object]:
    told = case.get("expect")
    return told if isinstance(told, dict) else {}
