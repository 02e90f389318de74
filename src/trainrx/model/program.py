"""What a Python program declares of its own command line."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.catalog import Value


class ProgramOption(msgspec.Struct, frozen=True, kw_only=True):
    """One option, or a positional argument (`flags` is its bare name), as a program declares it.

    `kind` is the type by which it is read: int, float, str, a function of the program's own under
    "?" (what it takes nobody knows), switch for a dataclass's bool. `choices` None: any value.
    `nargs` is argparse's. `required` None: that cannot be told. `line` is its line in the program.
    Options with the same `apart` exclude each other.
    """

    flags: tuple[str, ...]
    dest: str = ""
    action: str = "store"
    kind: str = "str"
    nargs: str | int | None = None
    choices: tuple[Value, ...] | None = None
    required: bool | None = False
    default: Value = None
    line: int = 0
    apart: int = 0


class ProgramParser(msgspec.Struct, frozen=True, kw_only=True):
    """The parser of a program's command line.

    `source` is the program. `is_open`: it takes options that its text does not tell. `library`:
    the classes of libraries whose fields are options as well. `takes_file`: an only word may be a
    file of values (.json, .yaml). `abbreviates`: the beginning of a name will do.
    """

    kind: Literal["argparse", "dataclasses"]
    source: str = ""
    options: tuple[ProgramOption, ...] = ()
    is_open: bool = False
    library: tuple[str, ...] = ()
    takes_file: bool = False
    abbreviates: bool = True
