"""What Hydra composes: lists of defaults, packages, words of the command, and where files lie.

The packages and the order below are those hydra-core 1.3.2 gave for the same files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import trainrx
from trainrx.launch.hydra import StartFile, compose, start_file
from trainrx.launch.places import FoundFile
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch

HERE = Origin(source="run.sh", line=1)


def word(text: str) -> RawArg:
    name, _, value = text.partition("=")
    sign = "+" if name.startswith("+") else "~" if name.startswith("~") else ""
    return RawArg(name=name.lstrip("+"), values=(value,) if value else (), origin=HERE, sign=sign)


def composed(files: Mapping[str, str], *words: str) -> list[tuple[str, str]]:
    def read(name: str) -> FoundFile | None:
        inside = name.removeprefix("/conf/")
        return FoundFile(files[inside], Path(name)) if inside in files else None

    found = compose(StartFile(("/conf/main.yaml",), ()), [word(text) for text in words], read)
    return [(part.name.removeprefix("/conf/"), part.package) for part in found.parts]


FILES = {
    "main.yaml": (
        "defaults:\n- model: a\n- data@my.data: a\n- optional extra: none\n- _self_\nx: 1\n"
    ),
    "model/a.yaml": "defaults:\n- /optim@opt: a\n- enc: b\nk: 1\n",
    "model/b.yaml": "k: 2\n",
    "model/enc/b.yaml": "size: 3\n",
    "optim/a.yaml": "lr: 1\n",
    "data/a.yaml": "# @package other\ny: 1\n",
    "data/b.yaml": "# @package _global_\ny: 2\n",
    "trainer/c.yaml": "defaults:\n- override /model: b\nz: 1\n",
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            (),
            [
                ("optim/a", "model.opt"),
                ("model/enc/b", "model.enc"),
                ("model/a", "model"),
                ("data/a", "my.data"),
                ("main.yaml", ""),
            ],
        ),
        (("model=b",), [("model/b", "model"), ("data/a", "my.data"), ("main.yaml", "")]),
        (("~model", "data@my.data=b"), [("data/b", "my.data"), ("main.yaml", "")]),
        (
            ("model=b", "+data=b"),
            [("model/b", "model"), ("data/a", "my.data"), ("main.yaml", ""), ("data/b", "")],
        ),
    ],
)
def test_files_come_in_order_and_under_their_package(
    words: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    assert composed(FILES, *words) == expected


def test_a_file_that_is_absent_is_missing_and_stops_nothing() -> None:
    files = {"main.yaml": "defaults:\n- model: gone\nx: 1\n"}

    found = compose(
        StartFile(("/conf/main.yaml",), ()),
        (),
        lambda name: FoundFile(files["main.yaml"], Path(name)) if "main" in name else None,
    )

    assert [part.package for part in found.parts] == [""]
    assert found.missing == ("model/gone.yaml",)


@pytest.mark.parametrize(
    ("args", "program", "expected"),
    [
        (("config_path=conf", "config_name=x"), "src/t.py", ("conf/x.yaml", "src/conf/x.yaml")),
        (("cp=/a/b/", "cn=x.yaml"), "t.py", ("/a/b/x.yaml",)),
        (("config_dir=d", "cn=x"), "pkg.mod.run", ("pkg/mod/../conf/x.yaml", "d/x.yaml")),
        ((), "src/t.py", ("src/../conf/main.yaml",)),
    ],
)
def test_the_first_file_is_named_by_flags_else_by_the_program(
    args: tuple[str, ...], program: str, expected: tuple[str, ...]
) -> None:
    text = '@hydra.main(version_base=None, config_path="../conf", config_name="main")\ndef f(): ...'
    raw = RawLaunch(
        framework="",
        command="train",
        args=tuple(word(item) for item in args),
        env=(),
        origin=HERE,
        program=program,
    )

    start = start_file(raw, text)

    assert start is not None
    assert start.names == expected


PROGRAM = """\
import hydra
from trainer import load
@hydra.main(version_base=None, config_path="../configs", config_name="train.yaml")
def main(cfg):
    load(cfg)
"""


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir()
    return folder


OWN = {
    "src/train.py": PROGRAM,
    "configs/train.yaml": "defaults:\n- model: small\n- trainer: base\n- _self_\nmode: train\n",
    "configs/model/small.yaml": "args:\n  pretrained_model_name_or_path: Qwen/Qwen2.5-1.5B\n",
    "configs/trainer/base.yaml": (
        "args:\n  per_device_train_batch_size: 2\n  gradient_accumulation_steps: 8\n  bf16: true\n"
    ),
    "scripts/run.sh": (
        "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 src/train.py "
        "trainer.args.per_device_train_batch_size=4\n"
    ),
}


def test_a_program_of_ones_own_hands_mappings_of_the_trainer_on(tmp_path: Path) -> None:
    folder = repository(tmp_path, OWN)

    job = trainrx.inspect_launch(folder / "scripts" / "run.sh").jobs[0]

    known = {item.canonical: item.value for item in (*job.settings, *job.facts) if item.known}
    assert job.model == "Qwen/Qwen2.5-1.5B"
    assert not job.framework
    assert (known["train.micro_batch"], known["train.grad_accum"]) == (4, 8)
    assert known["batch.effective"] == 64
    places = [str(Path(item.found).relative_to(folder)) for item in job.configs]
    assert places == [
        "configs/model/small.yaml",
        "configs/trainer/base.yaml",
        "configs/train.yaml",
    ]


def test_what_a_missing_file_may_set_is_open(tmp_path: Path) -> None:
    script = "python3 -m verl.trainer.main_ppo --config-path /elsewhere --config-name mine $@\n"
    folder = repository(tmp_path, {"run.sh": script})

    job = trainrx.inspect_launch(folder / "run.sh").jobs[0]

    open_terms = next(item for item in job.facts if item.name == "launch.open_terms")
    assert {"length", "batch", "tuner"} <= set(str(open_terms.value).split())
    assert [(item.name, item.found) for item in job.configs] == [("/elsewhere/mine.yaml", "")]


def test_a_config_beside_a_vendored_verl_is_followed(tmp_path: Path) -> None:
    files = {
        "examples/run.sh": "cd ..\npython3 -m verl.trainer.main_ppo -cp config -cn mine \\\n"
        "  actor_rollout_ref.model.path=Qwen/Qwen3-4B\n",
        "verl/trainer/config/mine.yaml": (
            "defaults:\n- actor@actor_rollout_ref.actor: dp\n- _self_\n"
            "data:\n  train_batch_size: 96\n"
        ),
        "verl/trainer/config/actor/dp.yaml": "strategy: fsdp2\nppo_mini_batch_size: 48\n",
    }
    folder = repository(tmp_path, files)

    job = trainrx.inspect_launch(folder / "examples" / "run.sh").jobs[0]

    given = {item.name: item.value for item in job.arguments if item.via == "config"}
    assert given["actor_rollout_ref.actor.strategy"] == "fsdp2"
    assert given["actor_rollout_ref.actor.ppo_mini_batch_size"] == 48
    assert given["data.train_batch_size"] == 96


VENDORED = "trainer:\n  nnodes: 1\nmine:\n  depth: 3\n"
DECLARED = '@hydra.main(config_path="config", config_name="ppo_trainer", version_base=None)'


@pytest.mark.parametrize(
    ("setup", "package"),
    [
        ("setup.py", "src/verl"),
        ("verl/setup.py", "verl/verl"),
        ("verl/pyproject.toml", "verl/verl"),
    ],
)
def test_a_fork_in_the_repository_says_what_its_program_takes(
    tmp_path: Path, setup: str, package: str
) -> None:
    script = "python3 -m verl.trainer.main_ppo mine.depth=4 +trainer.val_before_train=True a.b=1\n"
    files = {
        "scripts/run.sh": script,
        setup: "",
        f"{package}/trainer/main_ppo.py": f"import hydra\n{DECLARED}\ndef main(config): ...\n",
        f"{package}/trainer/config/ppo_trainer.yaml": VENDORED,
    }
    folder = repository(tmp_path, files)

    found = trainrx.lint(folder / "scripts" / "run.sh")

    assert [(item.rule, item.severity) for item in found] == [("unknown-argument", "warning")]
    assert "a.b" in found[0].message


def test_a_folder_that_cannot_be_installed_is_no_fork(tmp_path: Path) -> None:
    script = "python3 -m verl.trainer.main_ppo mine.depth=4\n"
    files = {
        "scripts/run.sh": script,
        "verl/verl/trainer/main_ppo.py": f"import hydra\n{DECLARED}\ndef main(config): ...\n",
        "verl/verl/trainer/config/ppo_trainer.yaml": VENDORED,
    }
    folder = repository(tmp_path, files)

    found = trainrx.lint(folder / "scripts" / "run.sh")

    assert [(item.rule, item.severity) for item in found] == [("unknown-argument", "warning")]
