"""What is set for the recorder of torch, and how its release is found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from packaging.version import Version

from trainrx.collect.recorder import (
    installed_packages,
    recorder_dumps,
    recorder_variables,
    version_of,
)

BUFFER, DUMP = "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_DUMP_ON_TIMEOUT"


@pytest.mark.parametrize(
    ("torch", "env", "names"),
    [
        (None, {}, set()),
        ("2.1.2", {}, set()),
        ("2.5.1+cu124", {}, {BUFFER, DUMP}),
        ("2.8.0", {}, {BUFFER}),
        ("2.9.0", {}, {"TORCH_FR_BUFFER_SIZE"}),
        ("2.13.0", {}, set()),
        ("2.5.1", {BUFFER: "0"}, {DUMP}),
        ("2.5.1", {"TORCH_FR_BUFFER_SIZE": "100", DUMP: "0"}, set()),
    ],
)
def test_only_what_a_release_lacks_and_nobody_has_set_is_set(
    torch: str | None, env: Mapping[str, str], names: set[str]
) -> None:
    assert recorder_variables(version_of(torch), env).keys() == names


def make_environment(root: Path, name: str, packages: str) -> Path:
    folder = root / name
    (folder / "bin").mkdir(parents=True)
    for package in packages.split():
        (folder / f"lib/python3.11/site-packages/{package}.dist-info").mkdir(parents=True)
    python = folder / "bin/python3"
    python.write_text("")
    python.chmod(0o755)
    return python


def test_packages_are_those_beside_the_interpreter_a_command_is_written_for(tmp_path: Path) -> None:
    python = make_environment(tmp_path, "one", "torch-2.6.0+cu124 ms_swift-3.2.1")
    make_environment(tmp_path, "two", "torch-2.1.0")
    launcher = tmp_path / "torchrun"
    launcher.write_text(f"#!{python}\nimport sys\n")
    launcher.chmod(0o755)

    found = installed_packages([str(launcher), "train.py"], {"PATH": str(tmp_path / "two/bin")})

    assert found == {"torch": "2.6.0+cu124", "ms-swift": "3.2.1"}


def test_an_interpreter_on_the_path_is_asked_where_the_command_is_a_shell(tmp_path: Path) -> None:
    make_environment(tmp_path, "two", "torch-2.1.0")

    path = f"{tmp_path / 'two/bin'}:/bin:/usr/bin"

    assert installed_packages(["bash", "launch.sh"], {"PATH": path}) == {"torch": "2.1.0"}


def test_a_version_that_is_none_is_not_known() -> None:
    assert version_of("2.6.0a0+git") == Version("2.6.0a0+git")
    assert version_of("nightly build") is None


def test_dumps_count_where_they_were_written_since_the_start(tmp_path: Path) -> None:
    for rank, written in ((0, 100.0), (1, 300.0)):
        (tmp_path / f"dump_{rank}").write_text("x")
        os.utime(tmp_path / f"dump_{rank}", (written, written))

    env = {"TORCH_FR_DUMP_TEMP_FILE": str(tmp_path / "dump_")}

    assert recorder_dumps(env, 200.0) == (tmp_path / "dump_1",)
