"""Any arguments of any release, with any values: translated without a fault, and taken there."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.catalog.catalog import KnownArgument, catalog
from trainrx.catalog.signature import signature
from trainrx.knowledge.load import load
from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script
from trainrx.translation.translate import Version2, move, text_of

PARAMS = load([], [], launches=True).params
HEADS = {
    ("ms-swift", "sft"): "swift sft",
    ("ms-swift", "rlhf"): "swift rlhf",
    ("ms-swift", "infer"): "swift infer",
    ("ms-swift", "export"): "swift export",
    ("ms-swift", "megatron sft"): "megatron sft",
    ("llamafactory", "train"): "llamafactory-cli train",
    ("trl", "sft"): "trl sft",
    ("trl", "grpo"): "trl grpo",
    ("openrlhf", "train_sft"): "python -m openrlhf.cli.train_sft",
}
WORDS = st.sampled_from(
    [
        "1",
        "0",
        "true",
        "false",
        "0.5",
        "auto",
        "AUTO",
        "none",
        "/data/m",
        "a b",
        "zero2",
        "bf16",
        "x#3",
    ]
)


def written(known: KnownArgument, data: st.DataObject) -> str:
    """Write an argument with its default, one of its choices, or any word."""
    texts = [str(item) for item in known.choices or ()]
    if isinstance(known.default, (int, float, str)):
        texts.append(
            str(known.default).lower() if known.default in (True, False) else str(known.default)
        )
    word = data.draw(st.sampled_from(texts) if texts and data.draw(st.booleans()) else WORDS)
    return f"--{known.name} {shlex.quote(word)}"


def launch_of(head: str, words: list[str]) -> RawLaunch:
    return find_launches(read_script(" ".join((head, *words)), "x"))[0]


@given(st.sampled_from(sorted(HEADS)), st.data())
@examples(100)
def test_any_launch_is_translated(place: tuple[str, str], data: st.DataObject) -> None:
    framework, command = place
    known = catalog(framework)
    alive = [r for r in known.releases if known.has_command(command) & known.of(r)]
    old, new = data.draw(st.sampled_from(alive)), data.draw(st.sampled_from(alive))
    names = sorted(signature(framework, command, known.of(old)), key=lambda one: one.name)
    chosen = data.draw(st.lists(st.sampled_from(names), max_size=8, unique_by=lambda one: one.name))
    launch = launch_of(HEADS[place], [written(one, data) for one in chosen])

    moved = move(launch, (), Version2(old, new), PARAMS, "en")

    assert len(moved.arguments) >= len(launch.args)
    unknown = [one for one in moved.refused if "unknown argument" in one.reason]
    assert not unknown
    again = launch_of(text_of(moved.launch), [])
    assert [(a.name, a.values) for a in again.args] == [
        (a.name, a.values) for a in moved.launch.args
    ]


@given(st.sampled_from(sorted(HEADS)), st.data())
@examples(100)
def test_to_the_same_version_nothing_changes(place: tuple[str, str], data: st.DataObject) -> None:
    framework, command = place
    known = catalog(framework)
    alive = [r for r in known.releases if known.has_command(command) & known.of(r)]
    release = data.draw(st.sampled_from(alive))
    names = sorted(signature(framework, command, known.of(release)), key=lambda one: one.name)
    one = data.draw(st.sampled_from(names))
    default = one.choices[0] if one.choices else one.default
    if not isinstance(default, (int, float)) or isinstance(default, bool):
        return
    if one.type == "int" and not one.choices:
        # a default need not be what the parser takes: `type=int, default=1e8`
        default = int(default)
    launch = launch_of(HEADS[place], [f"--{one.name} {default}"])

    moved = move(launch, (), Version2(release, release), PARAMS, "en")

    assert [item.outcome for item in moved.arguments] == ["kept"]
