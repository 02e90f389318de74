"""Every spelling of kb/params exists in the catalog of its package, over the range it claims."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.catalog.spellbook import serves
from trainrx.catalog.values import read_value
from trainrx.knowledge.load import load
from trainrx.launch.defaults import TRAINING
from trainrx.model.facts import Scalar
from trainrx.model.parts import Param, Spelling
from trainrx.versions.ranges import in_range

PARAMS = load().params
COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "ms-swift": {c: (c,) for c in catalog("ms-swift").contents.commands if c != "web-ui"},
    "llamafactory": {"train": ("train",)},
    "transformers": {"train": ("Seq2SeqTrainingArguments",)},
    "trl": {
        command: (config, "ModelConfig", command)
        for command, config in (
            ("sft", "SFTConfig"),
            ("dpo", "DPOConfig"),
            ("grpo", "GRPOConfig"),
            ("rloo", "RLOOConfig"),
            ("kto", "KTOConfig"),
            ("reward", "RewardConfig"),
            ("ppo", "PPOConfig"),
            ("orpo", "ORPOConfig"),
            ("cpo", "CPOConfig"),
            ("gkd", "GKDConfig"),
            ("online_dpo", "OnlineDPOConfig"),
        )
    },
    "verl": {
        "ppo": ("ppo_trainer", "ppo_megatron_trainer"),
        "sft": ("sft_trainer", "sft_trainer_engine"),
    },
    "openrlhf": {
        "sft": ("train_sft",),
        "ppo-ray": ("train_ppo_ray",),
        "dpo": ("train_dpo",),
        "rm": ("train_rm",),
        "kto": ("train_kto",),
    },
    "axolotl": {
        "train": (
            "train",
            "plugin:axolotl.integrations.cut_cross_entropy",
            "plugin:axolotl.integrations.expert_parallel",
            "plugin:axolotl.integrations.liger",
        )
    },
    "vllm": {"serve": ("serve", "EngineArgs")},
    "accelerate": {"launch": ("launch",)},
}
"""Classes and tables of a catalog behind our names of a framework's commands."""

NESTED = {
    ("accelerate", "deepspeed_config."): "launch",
    ("accelerate", "fsdp_config."): "launch",
}
"""Sections of a configuration file whose keys the catalog lists under a name of their own."""

PARENTS = {"trl": "transformers", "ms-swift": "transformers", "llamafactory": "transformers"}
"""Their training arguments extend TrainingArguments; which of its names depends on the release
installed, so one that any release has counts."""

EVERYWHERE = {"ms-swift": ("megatron sft", "megatron pt", "megatron rlhf")}
"""A spelling that names no commands is taken for one of these, too."""

UNLISTED = {
    ("transformers", "model_name_or_path"): "ModelArguments of transformers' example scripts",
    ("transformers", "attn_implementation"): "argument of from_pretrained, scripts pass it on",
    ("openrlhf", "flash_attn"): "before 0.8, the first release of the catalog",
    ("verl", "config_name"): "option of hydra itself",
    (
        "verl",
        "actor_rollout_ref.rollout.engine_kwargs.vllm.disable_cascade_attn",
    ): "keys below engine_kwargs.vllm are vLLM's own",
    ("axolotl", "gradient_checkpointing_kwargs.use_reentrant"): "key of a dictionary argument",
    ("vllm", "tp"): "short form",
}
"""Names no catalog lists, with the reason why they are accepted all the same."""

EFFECTIVE = {
    ("train.gradient_checkpointing", "ms-swift", "<3.0"): "SftArguments sets it where unset",
    ("tuner.type", "ms-swift", ">=3.2.2,<3.7"): "Megatron's commands train all weights there",
    ("vllm.device", "ms-swift", ">=3.1.1,<3.5"): "declared as the list ['auto'] from 3.2 on",
    ("train.optimizer", "axolotl", "<0.8"): "declared as a member of an enumeration",
    ("train.optimizer", "axolotl", ">=0.8"): "declared as a member of an enumeration",
    ("train.attention", "openrlhf", "<0.8.10"): "a switch, which is off",
    ("train.precision", "trl", ">=0.19"): "__post_init__ of the configs: bf16 unless fp16",
}
"""Defaults that are not the declared ones (parameter, package, range), with what sets them."""

OTHER_TASKS = {"infer", "deploy", "eval", "export", "merge-lora", "rollout", "app", "app-ui"}
OTHER_TASKS |= {"sample", "megatron export"}
TRAINING_ONLY = ("train.", "tuner.", "freeze.", "rlhf.")

SPELLINGS = [
    (param, package, spelling)
    for param in PARAMS.values()
    for package in COMMANDS
    for spelling in param.spelled.get(package, ())
    if spelling.arg
]
SPELLED = sorted({(param.id, package) for param, package, _ in SPELLINGS})


def releases(known: Catalog, spelling: Spelling) -> tuple[str, ...]:
    if not spelling.versions:
        return known.releases
    return tuple(r for r in known.releases if in_range(r, spelling.versions))


def tables(package: str, name: str, command: str) -> tuple[str, tuple[str, ...]]:
    """Give the name a catalog lists a spelling under, and where."""
    for (owner, prefix), table in NESTED.items():
        if owner == package and name.startswith(prefix):
            return name.removeprefix(prefix), (table,)
    mine = COMMANDS[package]
    if command:
        return name, mine.get(command, (command,))
    return name, tuple(table for tables in mine.values() for table in tables)


def covered(package: str, name: str, command: str) -> int:
    """Give the releases in which a command takes a name; any command when none is named."""
    known = catalog(package)
    listed, places = tables(package, name, command)
    bits = 0
    for place in places:
        for option in known.find(listed, place):
            bits |= known.bits(option)
    parent = PARENTS.get(package)
    heirs = known.contents.inherits
    inherits = not command or any(place in heirs for place in places)
    if parent and inherits and catalog(parent).find(listed):
        bits |= known.all
    return bits


def life(package: str, name: str, command: str) -> int:
    known = catalog(package)
    bits = 0
    for place in tables(package, name, command)[1]:
        bits |= known.has_command(place)
    return bits


def missing(package: str, spelling: Spelling, name: str) -> Iterator[str]:
    """Say at which releases a command does not take a name."""
    known = catalog(package)
    wanted = releases(known, spelling)
    if known.precedes(spelling.versions):
        return  # of releases no catalog lists: its source is the code of a tag
    if not wanted:
        yield "the catalog has no release of the range"
    for command in spelling.commands or ("", *EVERYWHERE.get(package, ())):
        has = covered(package, name, command)
        alive = life(package, name, command)
        gone = [r for r in wanted if (bit := known.of(r)) & alive and not has & bit]
        if gone:
            yield f"{command or 'no command'}: {gone[0]}..{gone[-1]} ({len(gone)} releases)"


def shown_default(param: Param, package: str, command: str, release: str) -> Spelling | None:
    """Give the spelling whose default `parse.defaults` takes."""
    for spelling in param.spelled[package]:
        if spelling.versions and not in_range(release, spelling.versions):
            continue
        if not serves(spelling, command) or spelling.default is None:
            continue
        if not command.startswith("megatron") or command in spelling.commands:
            return spelling
    return None


def declared(package: str, spelling: Spelling, command: str, release: str) -> set[Scalar | None]:
    """Give the defaults a command declares; none when it does not take the name itself."""
    known = catalog(package)
    bit = known.of(release)
    listed, places = tables(package, spelling.arg, command)
    found: set[Scalar | None] = set()
    for place in places:
        for option in known.find(listed, place):
            if known.bits(option) & bit:
                value = known.known(option, bit)
                usable = value.settled and isinstance(value.default, Scalar)
                found.add(value.default if usable else None)
        if found:
            # the first table is the one the command reads when nothing else is said
            break
    return found


def canonical(param: Param, spelling: Spelling, value: Scalar | None) -> Scalar | None:
    if value is None or (spelling.values == {"true": ""} and isinstance(value, bool)):
        return value
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return read_value(param, spelling, (text,)).value


def same(param: Param, wanted: Scalar | None, found: Scalar | None) -> bool:
    if param.type == "float" and wanted is not None and found is not None:
        return float(wanted) == float(found)
    return wanted == found


def plays(param: Param, command: str) -> bool:
    return not (param.id.startswith(TRAINING_ONLY) and command in OTHER_TASKS)


def wrong_defaults(param: Param, package: str) -> Iterator[str]:
    known = catalog(package)
    for command in COMMANDS[package]:
        if not plays(param, command):
            continue
        for release in known.releases:
            spelling = shown_default(param, package, command, release)
            if spelling is None or (param.id, package, spelling.versions) in EFFECTIVE:
                continue
            for value in declared(package, spelling, command, release):
                if not same(param, spelling.default, canonical(param, spelling, value)):
                    yield f"{command} {release} {spelling.arg}: {spelling.default}, not {value}"


def label(case: tuple[Param, str, Spelling]) -> str:
    param, package, spelling = case
    return f"{param.id}-{package}-{spelling.arg}-{spelling.versions}-{'+'.join(spelling.commands)}"


def test_a_name_exists_over_its_whole_range() -> None:
    wrong = [
        f"{label(case)}: {line}"
        for case in SPELLINGS
        if (case[1], plain(case[2].arg)) not in UNLISTED
        for line in missing(case[1], case[2], case[2].arg)
    ]

    assert wrong == []


def test_an_alias_exists_at_some_release_of_the_range() -> None:
    wrong = [
        f"{label((param, package, spelling))}: {name}"
        for param, package, spelling in SPELLINGS
        for name in spelling.also
        if (package, plain(name)) not in UNLISTED
        and not covered(package, name, "") & catalog(package).of(spelling.versions)
    ]

    assert wrong == []


def test_a_default_is_the_declared_one() -> None:
    wrong = [
        f"{name} of {package}: {line}"
        for name, package in SPELLED
        for line in wrong_defaults(PARAMS[name], package)
    ]

    assert wrong == []


def test_every_exception_is_used() -> None:
    spelled = {(package, plain(name)) for _, package, s in SPELLINGS for name in (s.arg, *s.also)}
    ranges = {(param.id, package, spelling.versions) for param, package, spelling in SPELLINGS}

    assert set(UNLISTED) <= spelled
    assert set(EFFECTIVE) <= ranges


def test_the_tasks_that_train_are_not_among_the_others() -> None:
    assert not TRAINING & OTHER_TASKS
