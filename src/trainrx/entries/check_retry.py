"""Rules for `retry.yaml`: it may speak only of entries there are."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    reference_problems,
    text_problems,
)
from trainrx.entries.problem import Problem, error
from trainrx.model.fixing import RetryRule


def retry_problems(rule: RetryRule, at: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with one rule; `at` is its place in the table (`[3]`)."""
    yield from text_problems((f"{at}.why", rule.why), (f"{at}.before", rule.before))
    for key, known in (("causes", names.causes), ("symptoms", names.symptoms)):
        for name in getattr(rule, key):
            if name not in known:
                yield error(f"{at}.{key}", f"no {key.removesuffix('s')} {name!r}")
    if not (rule.causes or rule.families or rule.symptoms or rule.symptom_families):
        yield error(at, "speaks of no cause, symptom or family")
    if rule.when is not None:
        yield from condition_problems(f"{at}.when", rule.when, names)
    if rule.references:
        yield from reference_problems(rule.references, names.today, f"{at}.references")
