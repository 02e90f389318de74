"""What is known of a launch, as far as lint's conditions ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from trainrx.catalog.resolved import Resolved
from trainrx.facts.engine import engine_facts
from trainrx.facts.guards import guard_facts
from trainrx.facts.layout import layout_facts
from trainrx.facts.request import request_facts
from trainrx.facts.training import training_facts
from trainrx.facts.vision import vision_facts
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.launch.facts import counted
from trainrx.model.catalog import Value
from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.model.hardware import ModelShape
from trainrx.model.job import RawLaunch
from trainrx.models.facts import model_facts, shape_of

VARIABLE = "env."
_NONE = "none"
_OF_DATA = ("dataset", "val_dataset", "cached_dataset", "split_dataset_ratio", "streaming")
"""Arguments ms-swift takes from the checkpoint with `load_data_args`: what is not given is not
known."""


def facts_of(
    launch: RawLaunch,
    resolved: Resolved,
    given: Sequence[Fact],
    *,
    wanted: Iterable[str],
    models: Sequence[ModelShape],
    versions: Mapping[str, str],
    shape: ModelShape | None = None,
) -> Facts:
    """Put together what stands in the launch and what follows from it.

    What is only assumed (the default of the newest release, where the version is not known) is
    left out: no finding may rest on it.

    Args:
        launch: the command.
        resolved: what it sets.
        given: what the caller says of the hardware.
        wanted: arguments (`arg.NAME`) that conditions ask for.
        models: shapes of known models.
        versions: package name to version text.
        shape: the model's own, from its config.json.
    """
    own = [item for item in _launch_facts(launch, resolved, versions) if _is_sure(item)]
    facts = Facts((*given, *own, *_arguments(launch, resolved, wanted), *_variables(launch)))
    facts.add(*model_facts(facts, models, shape))
    facts.add(*training_facts(facts))
    facts.add(*layout_facts(facts))
    facts.add(*vision_facts(facts))
    facts.add(*engine_facts(facts, shape or shape_of(facts, models)))
    facts.add(*request_facts(facts))
    facts.add(*guard_facts(facts))
    return facts


def _is_sure(item: Fact) -> bool:
    """Tell what follows from the launch from what is only assumed.

    That `swift` starts one process where nothing asks for more is how its program works.
    """
    return item.how != "assumed" or item.kind == "parallel.processes_per_node"


def without_defaults(resolved: Resolved) -> Resolved:
    """Give what a launch sets itself: its program starts from a configuration of its own."""
    given = {n: a for n, a in resolved.arguments.items() if a.via not in ("default", "computed")}
    facts = tuple(item for item in resolved.facts if item.how != "default")
    return msgspec.structs.replace(resolved, arguments=given, facts=facts)


def _launch_facts(
    launch: RawLaunch, resolved: Resolved, versions: Mapping[str, str]
) -> Iterable[Fact]:
    here = (launch.origin,)
    for item in resolved.facts:
        yield msgspec.structs.replace(item, origins=here) if not item.origins else item
    version = versions.get(launch.framework)
    if version:
        yield fact("launch.framework_version", version, launch.origin)


def _arguments(launch: RawLaunch, resolved: Resolved, wanted: Iterable[str]) -> Iterable[Fact]:
    saved = resolved.arguments.get("load_data_args")
    taken_back = _OF_DATA if saved is not None and saved.known and saved.value is True else ()
    for name in wanted:
        item = resolved.arguments.get(name.removeprefix(ARGUMENT))
        if item is not None and item.known and (item.origins or item.name not in taken_back):
            origins = item.origins or (launch.origin,)
            yield fact(name, _plain(item.value), *origins, how=item.how)
            yield from counted(item.name, item.value, *origins, how=item.how)


def _variables(launch: RawLaunch) -> Iterable[Fact]:
    for item in launch.env:
        if item.value is not None:
            yield fact(f"{VARIABLE}{item.name}", item.value, item.origin)


def _plain(value: Value) -> Scalar:
    if value is None:
        return _NONE
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    return str(value) if isinstance(value, dict) else value
