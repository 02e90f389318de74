from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from trainrx.cli import commands
from trainrx.cli.serve import secret_of
from trainrx.model.errors import UsageError

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "integrations" / "container"
RECIPE = (CONTAINER / "Containerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((CONTAINER / "compose.yaml").read_text(encoding="utf-8"))
UNIT = (ROOT / "integrations/systemd/trainrx.service").read_text(encoding="utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
OURS = {name: one for name, one in COMPOSE["services"].items() if one["image"] == "trainrx"}


def _words_of_recipe() -> list[str]:
    found = re.search(r"^CMD (\[.*\])$", RECIPE, re.MULTILINE)
    assert found is not None
    return list(json.loads(found[1]))


def _words_of_unit() -> list[str]:
    found = re.search(r"^ExecStart=/opt/trainrx/bin/diagnose (.*)$", UNIT, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


def _settings(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [_words_of_recipe(), _words_of_unit(), *(one["command"] for one in OURS.values())],
    ids=" ".join,
)
def test_what_is_started_are_commands_and_options_there_are(words: list[str]) -> None:
    assert words[0] in commands()
    command = get_command(import_module(f"trainrx.cli.{words[0]}").app)

    # raises where an option or a value is not known
    context = command.make_context(words[0], words[1:])

    assert context.params


@pytest.mark.parametrize("name", OURS)
def test_what_is_ours_runs_without_root_rights_and_a_file_system_to_write_to(name: str) -> None:
    service: dict[str, Any] = OURS[name]

    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [re.split("[/:]", mount)[1] for mount in service["tmpfs"]] == ["tmp", "cache"]
    assert "ports" not in service


def test_the_page_has_no_way_out_and_its_token_is_a_secret() -> None:
    page = COMPOSE["services"]["page"]

    assert [COMPOSE["networks"][name] for name in page["networks"]] == [{"internal": True}]
    assert page["environment"] == {"TRAINRX_TOKEN_FILE": "/run/secrets/token"}
    assert set(page["secrets"]) == set(COMPOSE["secrets"])


def test_only_this_machine_reaches_the_front() -> None:
    published = [port for one in COMPOSE["services"].values() for port in one.get("ports", ())]

    assert published == ["127.0.0.1:8600:8600"]


def test_the_image_is_made_of_files_and_extras_there_are() -> None:
    extras = re.search(r"\.\[([\w,]+)\]", RECIPE)
    ignored = (CONTAINER / "Containerfile.containerignore").read_text(encoding="utf-8")

    assert extras is not None
    for extra in extras[1].split(","):
        assert re.search(rf"^{extra} = \[", PROJECT, re.MULTILINE)
    taken = re.findall(r"^!(.*)$", ignored, re.MULTILINE)
    assert all((ROOT / name).exists() for name in taken)
    shipped = re.findall(r'^"(\w+)[\w/]*" = "trainrx/_data', PROJECT, re.MULTILINE)
    assert shipped
    assert set(shipped) <= set(taken)


def test_the_image_ends_without_root_and_asks_itself_whether_it_lives() -> None:
    last = RECIPE.rpartition("\nFROM ")[2]

    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "http://127.0.0.1:8600/healthz" in last
    assert "gcc" not in last


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("DynamicUser", ["yes"]),
        ("ProtectSystem", ["strict"]),
        ("PrivateTmp", ["yes"]),
        ("NoNewPrivileges", ["yes"]),
        ("CapabilityBoundingSet", [""]),
        ("IPAddressDeny", ["any"]),
        ("IPAddressAllow", ["localhost"]),
        ("MemoryMax", ["6G"]),
        ("LoadCredential", ["token:/etc/trainrx-token"]),
    ],
)
def test_the_unit_is_shut_in(name: str, values: list[str]) -> None:
    assert _settings(name) == values


def test_a_token_is_read_from_the_file_that_holds_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("something long\n")

    found = secret_of({"TRAINRX_TOKEN_FILE": str(tmp_path / "token"), "TRAINRX_TOKEN": "other"})

    assert found == "something long"


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), ("\n", "is empty")])
def test_a_file_without_a_token_lets_nobody_in(
    content: str | None, said: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)

    with pytest.raises(UsageError, match=said):
        secret_of({"TRAINRX_TOKEN_FILE": str(tmp_path / "token")})
