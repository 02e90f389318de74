"""durable_rules 2.0.28 as an engine: only what of it was measured to be correct and stable.

Its C module is driven directly, with conjunctions of scalar tests on facts. Joins, absence and
chaining are done here: a join that fails in C reads past its buffer, its negation depends on the
order of facts, its host threads race. Everything that crosses into C is a short name or a scalar.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import Any

from trainrx.model.facts import Fact, Scalar
from trainrx.reason.base import (
    Check,
    EngineError,
    EngineRule,
    Inference,
    Pattern,
    field_value,
    matches,
)
from trainrx.reason.limits import anonymous
from trainrx.reason.reference import Collector
from trainrx.reason.rulebase import RuleBase

_OPERATORS = {"ne": "$neq", "lt": "$lt", "le": "$lte", "gt": "$gt", "ge": "$gte"}
_ERRORS = {
    108: "too many rules share a pattern",
    204: "a number it cannot read",
    302: "too many fields in a fact",
    303: "a fact matches more than 64 patterns",
    304: "too many facts in a rule",
    311: "a field is missing in a join",
    312: "values that cannot be compared",
}
_HANDLED = (0, 1)  # 1: no rule looks at the fact
_HEARTBEAT = "~"
_ABSENT = "~absent"
_LOCK = threading.Lock()  # the C module keeps its state in globals
_LEFT: deque[int] = deque()
"""Rule bases whose engines nobody holds any more.

The collector comes amid whatever runs, another inference in C included: what it finds is freed by
the next engine that is made, under the lock.
"""


class DurableEngine:
    """Runs a rule base in the Rete of durable_rules.

    Raises:
        EngineError: the C module cannot be loaded or refuses the rules.
    """

    def __init__(self, base: RuleBase) -> None:
        self.base = base
        self.native = load_native()
        self.name = f"durable_rules {_installed(self.native)}"
        self.rules = tuple(base.rules.values())
        self._sessions = itertools.count(1)
        with _LOCK, _translated(self.native):
            while _LEFT:
                self.native.delete_ruleset(_LEFT.popleft())
            handle: int = self.native.create_ruleset("trainrx", _ruleset(base))
        self._handle: int | None = handle
        # who shares an engine need not know who is the last to use it
        self._left = weakref.finalize(self, _LEFT.append, handle)
        self._left.atexit = False

    def infer(self, facts: Iterable[Fact]) -> Inference:
        """Apply the rules until nothing new follows.

        Raises:
            EngineError: the C engine failed, the engine is closed, or the facts exceed a limit.
        """
        found = Collector(self.base, facts)
        with _LOCK:
            if self._handle is None:
                raise EngineError("the engine is closed")
            session = _Session(self, self._handle, f"s{next(self._sessions)}", found)
            with _translated(self.native):
                session.run()
        return found.finish()

    def close(self) -> None:
        """Free the rule base in C, about 2 MB."""
        with _LOCK:
            if self._handle is not None and self._left.detach() is not None:
                self.native.delete_ruleset(self._handle)
            self._handle = None


class _Session:
    """One inference: asserts facts, drains what fires, then stratum by stratum what is absent."""

    def __init__(self, engine: DurableEngine, handle: int, sid: str, found: Collector) -> None:
        self.engine, self.native, self.base = engine, engine.native, engine.base
        self.handle, self.sid, self.found = handle, sid, found
        self.state: int | None = None

    def run(self) -> None:
        try:
            # a first completed action: without one, deleting the session frees a wild pointer
            self._put(_HEARTBEAT, "heartbeat", {})
            self._drain()
            for index in range(len(self.found.facts)):
                self._assert(index)
            self._drain()
            for stratum in range(1, self.base.strata):
                self._assert_absent(stratum)
                self._drain()
        finally:
            if self.state is not None:
                self.native.delete_state(self.handle, self.sid)

    def _assert(self, index: int) -> None:
        fact = self.found.facts[index]
        if fact.kind in self.base.fields:
            values = (
                (name, field_value(fact, name, self.base.sorts))
                for name in self.base.fields[fact.kind]
            )
            known = {f".{name}": value for name, value in values if value is not None}
            self._put(fact.kind, str(index), known)

    def _assert_absent(self, stratum: int) -> None:
        for (needed_in, pattern), number in self.base.absents.items():
            if needed_in == stratum and not self._exists(pattern):
                self._put(_ABSENT, f"a{number}", {"n": number})

    def _exists(self, pattern: Pattern) -> bool:
        of_kind = (self.found.facts[index] for index in self.found.of_kind(pattern.kind))
        return any(matches(pattern, fact, self.base.sorts) for fact in of_kind)

    def _put(self, kind: str, ident: str, fields: Mapping[str, Scalar]) -> None:
        message = _object({"sid": self.sid, "id": ident, "k": kind, **fields})
        code, self.state = self.native.assert_fact(self.handle, message)
        if code not in _HANDLED:
            raise EngineError(f"durable_rules refused a fact of kind {kind} (code {code})")

    def _drain(self) -> None:
        started = self.native.start_action_for_state(self.handle, self.state)
        pending = started[1] if started else None
        while pending:
            ((name, match),) = json.loads(pending).items()
            if name != _HEARTBEAT:
                self._fire(self.engine.rules[int(name)], match)
            pending = self.native.complete_and_start_action(self.handle, self.state)

    def _fire(self, rule: EngineRule, match: Mapping[str, Mapping[str, str]]) -> None:
        indexes = tuple(
            int(match[f"p{at}"]["id"]) for at, pattern in enumerate(rule.when) if not pattern.absent
        )
        for index in self.found.fire(rule, indexes):
            self._assert(index)


@contextmanager
def _translated(native: Any) -> Iterator[None]:  # noqa: ANN401  # a C module without types
    """Turn what the C module raises into EngineError."""
    try:
        yield
    except (native.error, MemoryError) as error:
        raise EngineError(_reason(error)) from error


def load_native() -> Any:  # noqa: ANN401  # a C module without types
    """Import the C module, only now: nothing else may pay for it.

    Lazy binding lets Python 3.13 load it: the one symbol that is gone there is never called.

    Raises:
        EngineError: it is not installed or cannot be loaded; says why.
    """
    flags = sys.getdlopenflags() if hasattr(sys, "getdlopenflags") else None
    if flags is not None:
        sys.setdlopenflags(os.RTLD_LAZY)
    try:
        import durable_rules_engine
    except ModuleNotFoundError as error:
        raise EngineError("durable_rules is not installed: extra `durable`") from error
    except ImportError as error:
        raise EngineError(f"durable_rules not usable: {error}") from error
    finally:
        if flags is not None:
            sys.setdlopenflags(flags)
    return durable_rules_engine


def _installed(native: object) -> str:
    """Give the version, by the name of the folder pip keeps beside the module.

    `importlib.metadata` says the same, ten times slower.
    """
    folder = Path(getattr(native, "__file__", None) or ".").parent
    found = sorted(folder.glob("durable_rules-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").partition("-")[2] if found else ""


def _reason(error: Exception) -> str:
    number = str(error).rsplit(" ", 1)[-1]
    known = _ERRORS.get(int(number)) if number.isdigit() else None
    return f"durable_rules failed: {known or error or type(error).__name__}"


def _ruleset(base: RuleBase) -> str:
    rules = {_HEARTBEAT: _Raw('{"all":[{"m":{"k":"~"}}]}')}
    for number, rule in enumerate(base.rules.values()):
        rules[str(number)] = _Raw('{"all":[' + ",".join(_clauses(base, rule)) + "]}")
    return _object(rules)


def _clauses(base: RuleBase, rule: EngineRule) -> Iterator[str]:
    absent: set[Pattern] = set()
    for at, pattern in enumerate(rule.when):
        if not pattern.absent:
            yield _object({f"p{at}": _pattern(pattern)})
        elif anonymous(pattern) not in absent:
            # one marker cannot fill two places: durable_rules wants distinct facts
            absent.add(anonymous(pattern))
            number = base.absents[base.stratum[rule.id], anonymous(pattern)]
            yield _object({f"p{at}": _all([_object({"k": _ABSENT}), _object({"n": number})])})


def _pattern(pattern: Pattern) -> _Raw:
    tests = [_test(check) for check in pattern.checks if check.op != "missing"]
    return _all([_object({"k": pattern.kind}), *tests])


def _test(check: Check) -> str:
    # user fields carry a dot: rules on the engine's own `id` and `sid` crash it
    if check.op == "known":
        return _object({"$ex": _Raw(_object({f".{check.field}": 1}))})
    test = _object({f".{check.field}": check.value})
    return test if check.op == "eq" else _object({_OPERATORS[check.op]: _Raw(test)})


def _all(tests: list[str]) -> _Raw:
    return _Raw(tests[0] if len(tests) == 1 else '{"$and":[' + ",".join(tests) + "]}")


class _Raw(str):
    """Text that is JSON already."""

    __slots__ = ()


def _object(fields: Mapping[str, Scalar | None]) -> str:
    """Write a JSON object as its parser likes it."""
    pairs = [f"{_quoted(key)}:{_scalar(value)}" for key, value in fields.items()]
    return "{" + ",".join(pairs) + "}"


def _scalar(value: Scalar | None) -> str:
    if isinstance(value, _Raw):
        return value
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _plain(repr(value))
    return str(value)


def _plain(number: str) -> str:
    """Write a number without an exponent: its parser stops at the e."""
    if "e" not in number:
        return number
    from decimal import Decimal  # few numbers are so large or small, and each start would pay

    plain = format(Decimal(number), "f")
    return plain if "." in plain else f"{plain}.0"
