"""One change of a fix in the spelling of the job at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.spell import Spelled, spell, spell_argument
from trainrx.catalog.tables import Taker
from trainrx.facts.batch import ONLINE as SAMPLING
from trainrx.facts.roles import TRAINING
from trainrx.fix.amounts import in_words
from trainrx.frameworks import framework_of
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Facts, Origin, Scalar
from trainrx.model.job import Argument, RawArg, RawLaunch
from trainrx.model.knowledge import Amount, PackageChange
from trainrx.model.refusal import RefusedArgument
from trainrx.model.result import Change, ChangeAction, Predicted
from trainrx.model.text import Lang
from trainrx.reason.conditions import Situation
from trainrx.versions.ranges import in_range


def install(name: str, spec: str, *, newest: bool = False) -> str:
    """Give the command that brings a package into a range; `newest`: to its newest release.

    Of a program that runs from its source, the command that brings the checkout up to date; where
    an older one is wanted, it says of which range the tag is to be.
    """
    checkout = framework_of(name).checkout
    if checkout is None:
        return f'pip install {"-U " if newest else ""}"{name}{spec}"'
    if "<" in spec:
        return f"git checkout TAG && {checkout[1]}  # a tag of {name}{spec}"
    return f"git pull && {checkout[1]}  # in the checkout of {name}{spec}"


SET_BY_USER = ("read", "given")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """For whom fixes are spelled: `style` is arg (command line) or config (YAML).

    `foresee` predicts the memory with other values, where a workload and a card are known.
    `refused` are the arguments its program does not take, `given` those that were set, by name,
    in files as well.
    """

    facts: Facts
    knowledge: Knowledge
    versions: Mapping[str, str]
    style: Literal["arg", "config"]
    lang: Lang
    launch: RawLaunch | None = None
    foresee: Callable[[Mapping[str, Scalar]], Predicted | None] | None = None
    refused: tuple[RefusedArgument, ...] = ()
    given: Mapping[str, Argument] = {}

    @property
    def situation(self) -> Situation:
        """Give what the conditions of fixes are decided on."""
        return Situation(self.facts, self.versions, self.knowledge.symptoms)

    @property
    def framework(self) -> str:
        """Give the framework's name, "" when unknown."""
        return self.facts.text("launch.framework") or ""

    @property
    def version(self) -> str | None:
        """Give the framework's version as far as known."""
        return self.facts.text("launch.framework_version")


ENGINE = ("vllm.", "rollout.")
"""What begins the names of parameters that only an engine for rollouts has."""
ROLLOUTS = frozenset(
    f"rlhf.{name}"
    for name in (
        "async",
        "dynamic_sample",
        "gather_for_generation",
        "generation_batch",
        "num_generations",
        "overlong_filter",
        "rollout_correction",
        "steps_per_generation",
        "temperature",
    )
)
"""Parameters of the rollouts themselves."""


def is_of_rollouts(name: str) -> bool:
    """Tell whether a parameter means nothing where nothing is sampled."""
    return name.startswith(ENGINE) or name in ROLLOUTS


def has_no_rollouts(facts: Facts) -> bool:
    """Tell whether the task of a job surely samples nothing, and nobody set an engine up for it."""
    if facts.text("launch.task") not in TRAINING - SAMPLING:
        return False
    return not any(item.kind.startswith(ENGINE) and item.how in SET_BY_USER for item in facts)


def can_spell(name: str, job: Target, wanted: Scalar | Amount | None = None) -> bool:
    """Tell whether this framework, version and task have a word for a parameter at all."""
    if is_of_rollouts(name) and has_no_rollouts(job.facts):
        return False
    if name.startswith(ARGUMENT):
        return _takes(name, job)
    param = job.knowledge.params.get(name)
    if param is None:
        return False
    present = job.facts.value(name)
    probe: dict[str, Scalar] = {"bool": True, "text": "", "int": 1, "float": 1.0}
    if wanted is not None and not isinstance(wanted, Amount):
        # a switch knows only its own word: that it is off now cannot be written
        return spell_for(name, wanted, job) is not None
    return spell_for(name, probe[param.type] if present is None else present, job) is not None


def spell_for(name: str, value: Scalar, job: Target) -> Spelled | None:
    """Spell a parameter for the job at hand; None where it has no word for it."""
    if name.startswith(ARGUMENT):
        own = name.removeprefix(ARGUMENT)
        return (
            spell_argument(own, value, job.framework, via=job.style, launch=job.launch)
            if _takes(name, job)
            else None
        )
    return spell(
        name,
        value,
        job.framework,
        job.version,
        job.knowledge.params,
        via=job.style,
        launch=job.launch,
    )


def _takes(name: str, job: Target) -> bool:
    """Tell whether the launched command has an argument of this name at its version."""
    return job.launch is None or name in job.facts


def change_to(name: str, value: Scalar, job: Target) -> Change | None:
    """Give the change to a value; None where it cannot be spelled."""
    written = spell_for(name, value, job)
    if written is None:
        return None
    present = job.facts.get(name)
    by_user = present is not None and present.how in SET_BY_USER
    before = present.value if present is not None else None
    now = "set" if by_user else _now(written, job)
    at = present.origins[0] if by_user and present and present.origins else None
    shown = _before(name, before, written, job) if by_user else None
    stands = _stands(written, job)
    if at is not None and stands is not None and stands.origin.source != at.source:
        # a log told what became of it: what is edited stands in the launch
        at, shown = stands.origin, " ".join(stands.values or ())
    return Change(
        kind=written.kind,
        param=written.param,
        canonical="" if name.startswith(ARGUMENT) else name,
        action="set" if now == "unknown" else _action(before, value, by_user=by_user),
        from_=shown,
        now=now,
        to=written.value,
        spelled=written.text,
        at=at or _unresolved(written, job),
    )


def lacks(change: Change, job: Target) -> bool:
    """Tell whether a change names an argument that the command of the job does not have."""
    if change.kind != "arg" or change.action == "remove" or job.launch is None:
        return False
    return Taker(job.launch, job.version).lacks(change.param)


def _now(written: Spelled, job: Target) -> Literal["unset", "unknown"]:
    """Tell a parameter nobody set from one that may be set where it cannot be seen."""
    launch = job.launch
    if launch is None or not launch.args_complete or _unresolved(written, job) is not None:
        return "unknown"
    return "unset" if written.kind != "env" or launch.env_complete else "unknown"


def _stands(written: Spelled, job: Target) -> RawArg | None:
    """Give the argument of the launch that sets a parameter to a value that is known."""
    args = job.launch.args if job.launch is not None else ()
    found = (arg for arg in reversed(args) if plain(arg.name) == plain(written.param))
    return next((arg for arg in found if arg.values), None)


def _unresolved(written: Spelled, job: Target) -> Origin | None:
    """Give where a parameter is set to something that is not known (`--max_length $LEN`)."""
    args = job.launch.args if job.launch is not None else ()
    found = (arg.origin for arg in args if arg.name == written.param and arg.values is None)
    return next(found, None)


def _action(before: Scalar | None, after: Scalar, *, by_user: bool) -> ChangeAction:
    if not by_user:
        return "add"
    numbers = [
        float(v) for v in (before, after) if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]
    if len(numbers) == 2:
        return "lower" if numbers[1] < numbers[0] else "raise"
    return "switch" if isinstance(after, str) else "set"


def _before(name: str, value: Scalar | None, written: Spelled, job: Target) -> str | None:
    """Give the present value; with its option where that is another one (`--fp16 true`)."""
    present = None if value is None else spell_for(name, value, job)
    if present is not None and {present.kind, written.kind} == {"arg"}:
        return present.text if present.param != written.param else _written(name, value, job)
    return _written(name, value, job)


def _written(name: str, value: Scalar | None, job: Target) -> str | None:
    """Give the present value in the user's own spelling (`float16`, not fp16)."""
    if value is None:
        return None
    written = spell_for(name, value, job)
    if written is not None and written.value:
        return written.value
    return str(value).lower() if isinstance(value, bool) else str(value)


def change_in_words(name: str, wanted: Scalar | Amount, job: Target) -> Change:
    """Give a change whose value the user must compute: what it follows from is not known."""
    written = spell_for(name, 1, job)
    param = written.param if written else name
    source = wanted.fact if isinstance(wanted, Amount) else None
    entry = job.knowledge.facts.get(source) if source else None
    phrase = in_words(wanted, entry.title if entry is not None else None).in_(job.lang)
    return Change(
        kind=written.kind if written else "arg",
        param=param,
        canonical=name,
        action="set",
        now="unknown",
        to=None,
        spelled=f"{param}: {phrase}",
    )


def rewritten(  # one field each of the change it gives
    kind: Literal["arg", "env", "config_file"],
    param: str,
    to: str | None,
    spelled: str,
    *,
    before: str | None,
    at: Origin | None,
    canonical: str = "",
) -> Change:
    """Give the change of what a user wrote into other words; `to` None leaves the value open."""
    return Change(
        kind=kind,
        param=param,
        canonical=canonical,
        action="switch",
        from_=before,
        now="set",
        to=to,
        spelled=spelled,
        at=at,
    )


def removal(name: str, job: Target) -> Change | None:
    """Give the removal of a parameter the user set; None when there is nothing to remove."""
    present = job.facts.get(name)
    if present is None or present.how not in SET_BY_USER or present.value is None:
        return None
    written = spell_for(name, present.value, job)
    if written is None:
        return None
    return Change(
        kind=written.kind,
        param=written.param,
        canonical="" if name.startswith(ARGUMENT) else name,
        action="remove",
        from_=_written(name, present.value, job),
        now="set",
        to=None,
        spelled=written.text,
        at=present.origins[0] if present.origins else None,
    )


def package_change(
    wanted: PackageChange, job: Target, *, found: str | None = None
) -> Change | None:
    """Give the change of a package; None when its version is in the wanted range.

    `found` is the version a message told, where the list of versions has none.
    """
    present = job.versions.get(wanted.name) or found
    if present is not None and in_range(present, wanted.spec):
        return None
    upgrade = _is_below(present, wanted.spec)
    return release_change(wanted.name, present, wanted.spec, upgrade=upgrade)


def release_change(
    name: str, present: str | None, spec: str | None, *, upgrade: bool, spelled: str = ""
) -> Change:
    """Give the change of a package into a range; without `spelled` by the usual command."""
    return Change(
        kind="package",
        param=name,
        canonical=f"package.{name}",
        action="upgrade" if upgrade else "downgrade",
        from_=present,
        now="set" if present is not None else "unknown",
        to=spec,
        spelled=spelled or install(name, spec or ""),
    )


def pinned_change(name: str, present: str, version: str) -> Change:
    """Give the change of a package into one release, as a word of a longer command."""
    upgrade = in_range(present, f"<{version}") is True
    pin = f"=={version}"
    return release_change(name, present, pin, upgrade=upgrade, spelled=f"{name}{pin}")


def _is_below(present: str | None, spec: str) -> bool:
    """Tell whether a release of the range is newer than what is there, or is likely to be."""
    bounds = [bound for bound in spec.split(",") if bound.strip()]
    if present is not None:
        broken = [bound for bound in bounds if in_range(present, bound) is False]
        if broken and all(bound.strip().startswith("<") for bound in broken):
            return False
    lower = any(op in spec for op in (">", "~="))
    return lower or not any(op in spec for op in ("<", "=="))
