"""Run the tests that stand beside causes and rules (`<id>.test.yaml`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.entries.launch_tests import case_problems, guard_problems, read_lint_cases
from trainrx.evidence.detector import Detector
from trainrx.facts.all import symptom_facts
from trainrx.facts.packages import package_facts
from trainrx.facts.refused import RefusalContext, refused_arguments, refused_facts
from trainrx.facts.symbols import symbol_facts
from trainrx.fix.changes import Target
from trainrx.fix.plan import Plan, plan
from trainrx.knowledge.conditions import conditions_of, facts_of, refuse_malformed
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.places import shipped
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import SYMPTOM, Fact, Facts, Origin, Scalar, fact
from trainrx.model.job import Input
from trainrx.model.knowledge import Cause, Rule, Symptom
from trainrx.model.protocols import Protocol
from trainrx.model.refusal import RefusedArgument
from trainrx.reason.conditions import Situation
from trainrx.reason.order import rank
from trainrx.reason.protocols import steps
from trainrx.reason.reasoner import Reasoner, Reasoning
from trainrx.reason.score import Scored, ruled_out, score
from trainrx.reason.stage import EngineName

PRESENT = 0.5
FACT_FIELDS = {"fact", "value"}

LINT = "lint"
"""Folder of the rules of lint below `rules/`."""


class TestedFramework(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose spelling the fixes take."""

    name: str
    version: str | None = None


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must come out: a verdict, the first fixes, facts asked for; of a rule its firings.

    `changes` are written by some fix, `without` names fixes and changes that must not be offered.
    Of a protocol `first` is the question it asks first, `asks` and `without` are others.
    """

    verdict: Literal["present", "absent", "unknown"] | None = None
    fixes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    first: str = ""
    already_right: tuple[str, ...] = ()
    fired: int | None = None


class CauseTest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One situation."""

    name: str
    expect: Expectation
    symptoms: tuple[dict[str, Scalar], ...] = ()
    facts: dict[str, Scalar] | tuple[dict[str, Scalar], ...] = ()
    versions: dict[str, str] = {}
    framework: TestedFramework | None = None
    log: str = ""


class CaseFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test file."""

    cases: tuple[CauseTest, ...]


def read_cases(path: Path) -> tuple[CauseTest, ...]:
    """Read a test file.

    Raises:
        KnowledgeError: it is malformed.
    """
    try:
        return msgspec.convert(read_yaml(path), CaseFile).cases
    except msgspec.ValidationError as error:
        message, _, key = str(error).partition(" - at `")
        raise KnowledgeError(str(path), key.rstrip("`").removeprefix("$."), message) from error


class PreparedRules:
    """The rules made ready once for all tests.

    Raises:
        KnowledgeError: a rule is malformed; names it.
    """

    def __init__(self, knowledge: Knowledge, engine: EngineName = "durable") -> None:
        self.knowledge = knowledge
        self.detector = Detector(tuple(knowledge.symptoms.values()))
        self._rules = Reasoner(knowledge.rules.values(), engine)

    def close(self) -> None:
        """Release the engine."""
        self._rules.close()

    def together(self) -> Iterator[str]:
        """Give a line when the conditions of all causes cannot be decided side by side."""
        causes = self.knowledge.causes.values()
        try:
            refuse_malformed(pair for cause in causes for pair in conditions_of(cause))
        except KnowledgeError as error:
            yield str(error)

    def cause(self, cause: Cause, cases: Iterable[CauseTest]) -> Iterator[str]:
        """Give a line for each expectation on a cause that does not hold."""
        listed = tuple(cases)
        kinds = {case.expect.verdict for case in listed}
        for kind in ("present", "absent", "unknown"):
            if kind not in kinds:
                yield f"{cause.id}: no case expects {kind}"
        for case in listed:
            for problem in self._cause_case(cause, case):
                yield f"{cause.id}: {case.name}: {problem}"

    def rule(self, rule: Rule, cases: Iterable[CauseTest]) -> Iterator[str]:
        """Give a line for each expectation on a rule that does not hold."""
        listed = tuple(cases)
        fired = {bool(case.expect.fired) for case in listed}
        if fired != {True, False}:
            yield f"{rule.id}: needs a case in which it fires and one in which it does not"
        for case in listed:
            done = self._rules.reason(self._known(case, _rule_facts(case)))
            count = sum(applied.rule == rule.id for applied in done.firings)
            if count != case.expect.fired:
                yield f"{rule.id}: {case.name}: fired {count} times, not {case.expect.fired}"

    def protocol(self, protocol: Protocol, cases: Iterable[CauseTest]) -> Iterator[str]:
        """Give a line for each expectation on a protocol that does not hold."""
        for case in cases:
            facts, active = self._situation(case)
            seen = (self.knowledge.symptoms[name].family for name in active)
            known = self._known(case, facts)
            asked = [step.id for step in steps([protocol], [f for f in seen if f], known)]
            wanted = case.expect
            if (wanted.verdict == "present") is not bool(asked):
                yield f"{protocol.id}: {case.name}: asks {', '.join(asked) or 'nothing'}"
            elif wanted.first and asked[0] != wanted.first:
                yield f"{protocol.id}: {case.name}: asks first {asked[0]}, not {wanted.first}"
            for name in (*(set(wanted.asks) - set(asked)), *(set(wanted.without) & set(asked))):
                yield f"{protocol.id}: {case.name}: asks {', '.join(asked)}: {name} is wrong"

    def _cause_case(self, cause: Cause, case: CauseTest) -> Iterator[str]:
        facts, active = self._situation(case)
        done = self._rules.reason(self._known(case, facts))
        scored = score(cause, done, "en")
        found = self._verdict(cause, scored, done, active)
        wanted = case.expect
        if found != wanted.verdict:
            terms = ", ".join(f"{r.id} {r.weight:+g}" for r in scored.reasons if r.holds)
            yield f"is {found} ({scored.probability:.2f}: {terms}), not {wanted.verdict}"
        made = plan(cause, self._target(case, done))
        yield from _differences(made, wanted)
        missing = set(wanted.asks) - set(_unknown(cause, scored, done.facts))
        if missing:
            yield f"does not ask for {', '.join(sorted(missing))}"

    def _known(self, case: CauseTest, facts: Iterable[Fact]) -> Situation:
        return Situation(Facts(facts), _versions(case), self.knowledge.symptoms)

    def _situation(self, case: CauseTest) -> tuple[list[Fact], set[str]]:
        facts = _plain(case)
        facts += package_facts(Facts(facts), _versions(case))
        active = {str(item["id"]) for item in case.symptoms}
        facts += [_meant(_symptom(item), self.knowledge.symptoms) for item in case.symptoms]
        if case.log:
            seen = self.detector.detect([Input(kind="log", name="test.log", text=case.log)])
            active |= {hits.symptom for hits in seen.symptoms}
            facts += [*seen.facts, *symptom_facts(seen.symptoms)]
        elif case.symptoms:
            facts.append(fact("log.given", True))
        facts += refused_facts(_refused(case, facts, self.knowledge))
        facts += symbol_facts(Facts(facts), facts, _versions(case))
        return facts, active

    def _verdict(
        self, cause: Cause, scored: Scored, done: Reasoning, active: set[str]
    ) -> Literal["present", "absent", "unknown"]:
        if ruled_out(cause, done.situation):
            return "absent"
        named = rank({cause.id: cause}, done, active=active, failed=bool(active), lang="en").causes
        if named and scored.probability >= PRESENT:
            return "present"
        against = any(reason.holds and reason.weight < 0 for reason in scored.reasons)
        refuted = any(reason.holds is False and reason.weight > 0 for reason in scored.reasons)
        undecided = any(reason.holds is None and reason.weight > 0 for reason in scored.reasons)
        return "absent" if against or (refuted and not undecided) else "unknown"

    def _target(self, case: CauseTest, done: Reasoning) -> Target:
        return Target(
            facts=done.facts,
            knowledge=self.knowledge,
            versions=_versions(case),
            style="arg",
            lang="en",
            refused=_refused(case, done.facts, self.knowledge),
        )


def _refused(
    case: CauseTest, facts: Iterable[Fact], knowledge: Knowledge
) -> tuple[RefusedArgument, ...]:
    around = RefusalContext(None, (), _versions(case), knowledge.params)
    return refused_arguments(facts, around)


def _differences(made: Plan, wanted: Expectation) -> Iterator[str]:
    offered = tuple(fix.id for fix in made.fixes)
    if wanted.fixes and offered[: len(wanted.fixes)] != wanted.fixes:
        yield f"offers {', '.join(offered) or 'nothing'}, not first {', '.join(wanted.fixes)}"
    written = {change.param for fix in made.fixes for change in fix.changes}
    if missing := set(wanted.changes) - written:
        yield f"writes {', '.join(sorted(written)) or 'nothing'}, not {', '.join(sorted(missing))}"
    if wrong := set(wanted.without) & {*offered, *written}:
        yield f"offers {', '.join(sorted(wrong))}"
    right = {item.id for item in made.already_right}
    if not set(wanted.already_right) <= right:
        yield f"calls {', '.join(sorted(right)) or 'nothing'} already right"


def _unknown(cause: Cause, scored: Scored, facts: Facts) -> Iterator[str]:
    open_votes = {reason.id for reason in scored.reasons if reason.holds is None}
    for vote in (*cause.evidence.supports, *cause.evidence.contradicts):
        if vote.id in open_votes:
            yield from (name for name in facts_of(vote.when) if name not in facts)


def _versions(case: CauseTest) -> Mapping[str, str]:
    own = case.framework
    more = {own.name: own.version} if own is not None and own.version else {}
    return {**case.versions, **more}


def _plain(case: CauseTest) -> list[Fact]:
    given = case.facts if isinstance(case.facts, dict) else {}
    facts = [fact(name, value, Origin(source="test")) for name, value in given.items()]
    if case.framework is not None:
        facts.append(fact("launch.framework", case.framework.name))
        if case.framework.version:
            facts.append(fact("launch.framework_version", case.framework.version))
    return facts


def _symptom(item: Mapping[str, Scalar]) -> Fact:
    fields = tuple((key, value) for key, value in item.items() if key not in ("id", "symptom"))
    return Fact(kind=f"symptom.{item.get('id', item.get('symptom'))}", fields=fields)


def _meant(sighted: Fact, symptoms: Mapping[str, Symptom]) -> Fact:
    """Add what the codes of a sighting mean, as a line of a log would have told it."""
    symptom = symptoms.get(sighted.kind.removeprefix(SYMPTOM))
    if symptom is None:
        return sighted
    more = [item for pair in sighted.fields for item in symptom.meaning(*pair).items()]
    return msgspec.structs.replace(sighted, fields=(*sighted.fields, *more))


def _rule_facts(case: CauseTest) -> list[Fact]:
    """Read the facts of a rule's case: `{symptom: ID, ...}` or `{fact: NAME, value: V}`."""
    if isinstance(case.facts, dict):
        return _plain(case)
    out = _plain(case)
    for index, item in enumerate(case.facts):
        if "symptom" in item:
            out.append(
                msgspec.structs.replace(
                    _symptom(item), origins=(Origin(source="test", line=index + 1),)
                )
            )
        elif set(item) == FACT_FIELDS:
            out.append(fact(str(item["fact"]), item["value"], Origin(source="test")))
    if any("symptom" in item for item in case.facts):
        out.append(fact("log.given", True))
    return out


def _lint_failures(paths: Sequence[Path]) -> Iterator[str]:
    """Run what stands beside the rules of lint, which judge a launch and no log."""
    loaded = LoadedKnowledge()
    for path in paths:
        rule = path.name.removesuffix(".test.yaml")
        if rule not in loaded.lint.rules:
            yield f"{rule}: {path} tests no rule"
            continue
        for case in read_lint_cases(path):
            yield from (f"{rule}: {line}" for line in case_problems(rule, case, loaded))


def failures(bench: PreparedRules, roots: Iterable[Path]) -> Iterator[str]:
    """Run every test below some folders; give a line for each expectation that does not hold."""
    known = bench.knowledge
    entries: dict[str, Cause | Rule | Protocol] = {
        **known.protocols,
        **known.causes,
        **known.rules,
    }
    linted: list[Path] = []
    for root in roots:
        for path in sorted(root.rglob("*.test.yaml")):
            ident = path.name.removesuffix(".test.yaml")
            if path.parent.name == LINT:
                linted.append(path)
                continue
            entry = entries.get(ident)
            cases = read_cases(path)
            if isinstance(entry, Cause):
                yield from bench.cause(entry, cases)
            elif isinstance(entry, Protocol):
                yield from bench.protocol(entry, cases)
            elif isinstance(entry, Rule):
                yield from bench.rule(entry, cases)
            else:
                yield f"{ident}: {path} tests no cause, rule or protocol"
    yield from _lint_failures(linted)
    yield from bench.together()
    for guard in bench.knowledge.guards.values():
        yield from guard_problems(guard, bench.knowledge)


def main(say: Callable[[str], object], kb: Sequence[Path] = (), rules: Sequence[Path] = ()) -> int:
    """Run the tests of the shipped knowledge and of the given folders; give the exit status.

    Raises:
        KnowledgeError: an entry or a test file is malformed.
    """
    knowledge = load(kb, rules)
    roots = [root for root in (*shipped(), *kb, *rules) if root.is_dir()]
    bench = PreparedRules(knowledge)
    try:
        found = list(failures(bench, roots))
    finally:
        bench.close()
    count = sum(1 for root in roots for _ in root.rglob("*.test.yaml"))
    for line in found:
        say(line)
    say(f"{count} test files, {len(knowledge.guards)} guards: {len(found)} failures")
    return 1 if found else 0
