"""What the shipped catalogs say about releases known by heart."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from catalog.ranges import expand
from catalog.releases import ascending, read_releases
from catalog.tables import Command
from trainrx.knowledge.catalogs import FOLDER, read_catalog, read_renames
from trainrx.knowledge.places import data_folder
from trainrx.model.catalog import EnvironmentVariable, ModelTypeRename, Preset

_MOST_BYTES = 2_050_000


@cache
def tables(package: str) -> dict[str, dict[str, Command]]:
    return expand(*read_catalog(package))


def names(package: str, release: str, command: str) -> set[str]:
    return set(tables(package)[release][command].arguments)


def counted(release: str, command: str) -> int:
    """Count arguments with those of the transformers release met."""
    contents, _ = read_catalog("ms-swift")
    read = tables("ms-swift")[release][command]
    taken = set(read.arguments) - {"config"}
    met = dict(contents.references["transformers"])
    since = [r for r in ascending([*met, release]) if r in met]
    known = [r for r in since if ascending([r, release])[0] == r]
    for package, cls in read.inherits:
        assert package == "transformers"
        taken |= names("transformers", met[known[-1]], cls)
    return len(taken)


def records(name: str, kind: type[msgspec.Struct]) -> list[msgspec.Struct]:
    return msgspec.json.Decoder(kind).decode_lines((Path(data_folder(FOLDER)) / name).read_bytes())


@pytest.mark.parametrize(
    ("release", "command", "taken", "unknown"),
    [
        ("2.6.1", "sft", "sft_type", "train_type"),
        ("2.6.1", "sft", "model_id_or_path", "model"),
        ("3.0.0", "sft", "train_type", "sft_type"),
        ("3.5.3", "rlhf", "num_infer_workers", "train_sampler_random"),
        ("3.5.3", "rlhf", "vllm_mode", "sft_type"),
        ("4.0.4", "sft", "train_type", "sft_type"),
        ("4.1.0", "sft", "tuner_type", "train_type"),
        ("4.6.0", "megatron sft", "output_dir", "save"),
        ("3.12.6", "megatron sft", "save", "output_dir"),
    ],
)
def test_swift_releases_take_their_own_names(
    release: str, command: str, taken: str, unknown: str
) -> None:
    known = names("ms-swift", release, command)

    assert taken in known
    assert unknown not in known


@pytest.mark.parametrize(
    ("release", "command", "count"),
    [
        ("2.0.0", "sft", 132),
        ("2.0.0", "dpo", 139),
        ("2.6.1", "rlhf", 236),
        ("3.0.0", "sft", 276),
        ("3.5.0", "rlhf", 392),
        ("3.5.0", "rollout", 120),
        ("3.9.0", "megatron sft", 292),
        ("4.0.4", "infer", 144),
        ("4.6.0", "sft", 333),
        ("4.6.0", "rlhf", 481),
        ("4.6.0", "megatron sft", 414),
    ],
)
def test_swift_commands_take_as_many_arguments_as_counted(
    release: str, command: str, count: int
) -> None:
    assert counted(release, command) == count


@pytest.mark.parametrize(
    ("package", "release", "command", "count"),
    [
        ("accelerate", "0.34.2", "launch", 92),
        ("openrlhf", "0.8.11", "train_ppo_ray", 136),
        ("torchrun", "2.13.0", "torchrun", 32),
        ("axolotl", "0.19.0", "train", 390),
        ("vllm", "0.8.5", "EngineArgs", 104),
        ("vllm", "0.11.0", "EngineArgs", 139),
        ("deepspeed", "0.19.6", "zero_optimization", 44),
    ],
)
def test_other_commands_take_as_many_arguments_as_counted(
    package: str, release: str, command: str, count: int
) -> None:
    top = [
        name
        for name in names(package, release, command)
        if package == "openrlhf" or "." not in name
    ]

    assert len(top) == count


def test_defaults_types_and_choices_survive() -> None:
    trl = tables("trl")
    assert trl["0.18.2"]["GRPOConfig"].arguments["beta"].default == 0.04
    assert trl["0.19.0"]["GRPOConfig"].arguments["beta"].default == 0.0

    rlhf = tables("ms-swift")["3.2.1"]["rlhf"].arguments
    assert rlhf["rlhf_type"].choices is not None
    assert "grpo" in rlhf["rlhf_type"].choices
    assert rlhf["target_modules"].type == "List[str]"

    vllm = tables("vllm")["0.11.0"]["serve"].arguments
    assert vllm["enforce_eager"].type == "BooleanOptionalAction"
    assert vllm["tensor_parallel_size"].aliases == ("-tp",)


def test_evaluation_strategy_went_with_4_46() -> None:
    early, late = (names("transformers", v, "TrainingArguments") for v in ("4.41.0", "5.0.0"))

    assert {"evaluation_strategy", "eval_strategy"} <= early
    assert "evaluation_strategy" not in late


def test_every_listed_release_is_there() -> None:
    for package, releases in read_releases().items():
        contents, _ = read_catalog("torchrun" if package == "torch" else package)
        assert contents.releases == releases
        assert all(tables(contents.package).values())


def test_every_parent_has_a_catalog_and_a_release() -> None:
    for package in ("ms-swift", "llamafactory", "trl"):
        contents, _ = read_catalog(package)
        for parents in contents.inherits.values():
            for parent in parents:
                known, _ = read_catalog(parent.package)
                assert parent.command in known.commands
                met = {version for _, version in contents.references[parent.package]}
                assert met <= set(known.releases)


def test_renames_name_packages_and_releases_that_are_known() -> None:
    renames = read_renames()

    assert len({(r.package, r.old, r.new) for r in renames}) >= 152
    for rename in renames:
        contents, options = read_catalog(rename.package)
        assert not rename.until or rename.until in contents.releases
        known = {option.name for option in options}
        assert rename.old in known or not rename.until
    assert any((r.old, r.new, r.until) == ("sft_type", "train_type", "3.0.0") for r in renames)
    assert any((r.old, r.new, r.until) == ("train_type", "tuner_type", "4.1.0") for r in renames)


def test_presets_have_the_content_of_their_release() -> None:
    presets = {p.name: p for p in records("presets-ms-swift.jsonl", Preset)}  # type: ignore[attr-defined]

    assert set(presets) >= {"zero0", "zero1", "zero2", "zero2_offload", "zero3", "zero3_offload"}
    zero3 = presets["zero3"]
    assert isinstance(zero3, Preset)
    assert zero3.spans[0][0] == "1.7.3"
    assert all(c["zero_optimization"]["stage"] == 3 for _, c in zero3.contents)


def test_model_types_of_4_0_are_paired_with_their_heirs() -> None:
    renames = [
        r
        for r in records("model-types.jsonl", ModelTypeRename)
        if isinstance(r, ModelTypeRename) and r.old in ("qvq", "qwen2_5", "qwen2_5-7b-instruct")
    ]

    assert [(r.old, r.until, r.new) for r in renames] == [
        ("qvq", "4.0.0", ("qwen2_vl",)),
        ("qwen2_5", "4.0.0", ("qwen2",)),
        ("qwen2_5-7b-instruct", "3.0.0", ("qwen2_5",)),
    ]


def test_a_variable_is_known_by_the_models_that_read_it() -> None:
    found = [
        v
        for v in records("environment-ms-swift.jsonl", EnvironmentVariable)
        if isinstance(v, EnvironmentVariable) and v.name == "MAX_PIXELS"
    ]

    assert any("qwen2_vl" in v.models for v in found)


def test_the_folder_is_small() -> None:
    assert sum(p.stat().st_size for p in Path(data_folder(FOLDER)).iterdir()) < _MOST_BYTES
