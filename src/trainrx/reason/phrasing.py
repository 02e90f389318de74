"""A condition or an amount in words."""

from __future__ import annotations

from trainrx.knowledge.conditions import facts_of, packages_of
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Amount, FactClause
from trainrx.model.parts import Condition
from trainrx.model.text import Lang, Text
from trainrx.reason.conditions import Situation

ONLY_IF = Text(en="Offered if", zh="适用条件")
UNLESS = Text(en="Offered unless", zh="不适用条件")
_COMMA = Text(en=", ", zh="，")
_LONGEST = 80
"""Characters of a value in a sentence."""
_AND = Text(en="and", zh="且")
_OR = Text(en="or", zh="或")
_NOT = Text(en="not", zh="非")
_IS_SEEN = Text(en="seen", zh="出现")
_NOT_SEEN = Text(en="not seen", zh="未出现")
_IS_KNOWN = Text(en="is known", zh="已知")
_NOT_KNOWN_IS = Text(en="is not known", zh="未知")
_SIGNS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def condition_text(condition: Condition, lang: Lang) -> str:
    """Say a condition in one line; names stay as they stand in `kb/`."""
    if condition.all is not None:
        return _joined(condition.all, _AND.in_(lang), lang)
    if condition.any is not None:
        return _joined(condition.any, _OR.in_(lang), lang)
    if condition.not_ is not None:
        return f"{_NOT.in_(lang)} ({condition_text(condition.not_, lang)})"
    if condition.symptom is not None:
        seen = _IS_SEEN if condition.seen else _NOT_SEEN
        tests = tests_text(condition.if_ or {}, lang)
        return f"{condition.symptom} {seen.in_(lang)}" + (f" [{tests}]" if tests else "")
    if condition.package is not None:
        named = f"{condition.package} {condition.versions or ''}".strip()
        return named if condition.known is None else f"{named} {_known(condition.known, lang)}"
    return _fact(condition, lang)


def _known(known: bool, lang: Lang) -> str:
    return (_IS_KNOWN if known else _NOT_KNOWN_IS).in_(lang)


def values_text(condition: Condition, situation: Situation, lang: Lang) -> str:
    """Say what is known of the facts and packages a condition tests, in their order."""
    values = {name: situation.facts.value(name) for name in facts_of(condition)}
    texts = [_value(name, value, " = ", lang) for name, value in values.items()]
    packages = dict.fromkeys(name for name, _ in packages_of(condition))
    texts += [_value(name, situation.versions.get(name), " ", lang) for name in packages]
    return _COMMA.in_(lang).join(texts)


def _value(name: str, value: Scalar | None, sign: str, lang: Lang) -> str:
    if value is None:
        return f"{name} {_known(False, lang)}"
    text = scalar(value)
    return f"{name}{sign}{text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}"


def clause_text(clause: FactClause, lang: Lang) -> str:
    """Say one clause of a rule."""
    name = clause.symptom or clause.fact or ""
    alias = f"{clause.as_}: " if clause.as_ else ""
    tests = tests_text(clause.if_, lang)
    absent = f" {_NOT_SEEN.in_(lang)}" if clause.absent else ""
    return f"{alias}{name}{absent}" + (f" [{tests}]" if tests else "")


def amount_text(value: Scalar | Amount) -> str:
    """Say the value a fix sets: a constant, or how it is computed from the present one."""
    if not isinstance(value, Amount):
        return scalar(value)
    parts: list[str] = []
    if value.value is not None:
        parts.append(scalar(value.value))
    if value.fact is not None:
        parts.append(value.fact)
    if value.times is not None:
        parts.append(f"x {value.times:g}")
    if value.plus is not None:
        parts.append(f"{value.plus:+g}")
    if value.at_least is not None:
        parts.append(f">= {value.at_least:g}")
    if value.at_most is not None:
        parts.append(f"<= {value.at_most:g}")
    return ", ".join(parts)


def scalar(value: Scalar) -> str:
    """Write a value as YAML does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # thresholds of the schema are floats; a count of pixels is read as a count
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:g}"
    return str(value)


def _fact(condition: Condition, lang: Lang) -> str:
    name = condition.fact or ""
    if condition.known is not None:
        return f"{name} {_known(condition.known, lang)}"
    if condition.one_of is not None:
        return f"{name} = {' | '.join(scalar(value) for value in condition.one_of)}"
    tests = (
        f"{sign} {scalar(value)}"
        for key, sign in _SIGNS.items()
        if (value := getattr(condition, key)) is not None
    )
    return f"{name} {', '.join(tests)}"


def _joined(parts: tuple[Condition, ...], word: str, lang: Lang) -> str:
    texts = [condition_text(part, lang) for part in parts]
    nested = [part.all is not None or part.any is not None for part in parts]
    return f" {word} ".join(
        f"({text})" if inner and len(parts) > 1 else text
        for text, inner in zip(texts, nested, strict=True)
    )


def tests_text(tests: dict[str, Scalar | dict[str, Scalar]], lang: Lang) -> str:
    """Say the tests of the fields of a symptom."""
    out: list[str] = []
    for name, test in tests.items():
        if isinstance(test, dict):
            out += (
                f"{name} {_known(value is True, lang) if op == 'known' else _sign(op, value)}"
                for op, value in test.items()
            )
        else:
            out.append(f"{name} = {scalar(test)}")
    return ", ".join(out)


def _sign(op: str, value: Scalar) -> str:
    return f"{_SIGNS.get(op, op)} {scalar(value)}"
