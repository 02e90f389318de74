"""What lint holds out of its process is there again for whoever asks for it afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

STARTED = """
import sys
from trainrx.cli._lean import import_records
import_records()
assert "msgspec" in sys.modules
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", STARTED + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "name", ["inspect", "platform", "uuid", "decimal", "textwrap", "typing_extensions"]
)
def test_what_lint_does_not_need_is_not_loaded(name: str) -> None:
    assert run(f"print({name!r} in sys.modules)") == "False"


def test_the_modules_held_out_can_be_imported_afterwards() -> None:
    code = """
import datetime, decimal, typing, uuid
import msgspec.inspect, msgspec.toml, msgspec.yaml
print(decimal.Decimal("1.5") + 1, uuid.UUID(int=7).int, datetime.date(2026, 1, 2), end=" ")
print(typing.ForwardRef("int").__forward_arg__, msgspec.inspect.type_info(int).gt)
"""
    assert run(code) == "2.5 7 2026-01-02 int None"


def test_records_are_read_and_described_as_ever() -> None:
    code = """
import datetime
from trainrx.model.parts import Condition
import msgspec

class Held(msgspec.Struct):
    when: Condition
    at: datetime.datetime

text = b'{"when": {"all": [{"fact": "a"}, {"not": {"fact": "b"}}]}, "at": "2026-01-02T03:04:05"}'
held = msgspec.json.decode(text, type=Held)
print(held.when.all[1].not_.fact, type(held.at) is datetime.datetime, end=" ")
print(msgspec.json.schema(Condition)["$ref"])
"""
    assert run(code) == "b True #/$defs/Condition"


def test_a_process_that_has_msgspec_already_keeps_it() -> None:
    code = "import msgspec, uuid; from trainrx.cli._lean import import_records; import_records()"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(msgspec.inspect.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "msgspec.inspect"
