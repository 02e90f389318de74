"""Rules for the tests that stand beside entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.entries.check_common import KnownNames
from trainrx.entries.problem import Problem, error
from trainrx.entries.sources import EntrySource

VERDICTS = ("present", "absent", "unknown")


def sibling_problems(
    entry: EntrySource, test: EntrySource | None, *, is_rule: bool
) -> Iterator[Problem]:
    """Refuse a cause or rule without a test, or whose test shows one side only."""
    if test is None:
        yield error("", f"has no test beside it ({entry.ident}.test.yaml)")
        return
    if test.node is None:
        return
    told = [_expected(case) for case in _cases(test)]
    if is_rule:
        fired = {bool(expect.get("fired")) for expect in told}
        for wanted, word in ((True, "fires"), (False, "does not fire")):
            if wanted not in fired:
                yield error("", f"its test has no case in which it {word}")
        return
    verdicts = {expect.get("verdict") for expect in told}
    for verdict in VERDICTS:
        if verdict not in verdicts:
            yield error("", f"its test has no case with verdict {verdict}")


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
