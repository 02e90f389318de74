"""The command line: `diagnose` (and `trainrx`, the same program)."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from trainrx.cli._output import guarded
from trainrx.model.text import Lang, language

if TYPE_CHECKING:
    import typer
    from typer.core import TyperCommand

    from trainrx.sanitizer import Level

DEFAULT = "diagnose"
COMPLETION = (["--install-completion"], ["--show-completion"])


def program() -> NoReturn:
    """Run the command and end the process: what the console script calls."""
    status = main()
    # nothing that lives now is worth a search for garbage at the end: an eighth of a lint run
    gc.freeze()
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the first word names, else `diagnose`; give the exit status."""
    # one short answer makes little garbage: looking for it less often saves a tenth of the time
    gc.set_threshold(100_000, 50, 50)
    words = list(sys.argv[1:] if argv is None else argv)
    lang = _spoken(words)
    return guarded(lambda: _dispatch(words, lang), lang, _level(words))


def _level(words: Sequence[str]) -> Level:
    """Say what is masked in a message: a command that goes wrong may not have read its options."""
    if "--no-redact" in words:
        return "none"
    strict = "--redact=strict" in words or ("--redact", "strict") in pairwise(words)
    return "strict" if strict else "secrets"


def _dispatch(words: list[str], spoken: Lang) -> int:
    """Import the module of one command only: each has its own pipeline behind it."""
    before, words = _leading_language(words)
    if os.environ.get(f"_{called_as().upper()}_COMPLETE") or words[:1] in COMPLETION:
        from trainrx.cli._completion import complete

        return complete(words, called_as())
    named = bool(words) and words[0] in commands()
    module = import_module(module_of(words[0] if named else DEFAULT))
    from typer.main import get_command

    app: typer.Typer = module.app
    given = words[1:] if named else words
    lang, rest = _leading_language(given)
    if not rest and len(app.registered_commands) == 1:
        rest = given  # a command that is given a language alone says what it lacks
    if not rest and app.info.no_args_is_help is True:
        rest = ["--help"]
    usual = getattr(module, "DEFAULT", "")
    known = {command.name for command in app.registered_commands}
    if usual and len(known) > 1 and rest[0] not in {*known, "-h", "--help"}:
        rest = [usual, *rest]
    if "--data" in rest:
        from trainrx.cli._options import with_data

        rest = with_data(rest)
    name = f"{called_as()} {words[0]}" if named else called_as()
    defaults = {"lang": lang or before} if lang or before else {}
    subcommands = {command.name: defaults for command in app.registered_commands}
    command = get_command(app)
    if spoken == "zh":
        from trainrx.cli._chinese import speak

        speak(cast("TyperCommand", command))
    status = command(
        args=rest,
        prog_name=name,
        standalone_mode=False,
        default_map={**defaults, **subcommands},
    )
    return status if isinstance(status, int) else 0


def _leading_language(words: list[str]) -> tuple[str, list[str]]:
    """Take `--lang` off the front, where it holds for whichever command follows."""
    option, _, value = words[0].partition("=") if words else ("", "", "")
    if option != "--lang" or (not value and len(words) < 2):
        return "", words
    return (value, words[1:]) if value else (words[1], words[2:])


def _spoken(words: Sequence[str]) -> Lang:
    """Give the language of help and errors, before anything is parsed: the last `--lang` holds."""
    for at in range(len(words) - 1, -1, -1):
        option, _, value = words[at].partition("=")
        value = value or "".join(words[at + 1 : at + 2])
        if option == "--lang" and value in ("en", "zh"):
            return "zh" if value == "zh" else "en"
    return language(os.environ)


def commands() -> frozenset[str]:
    """Name the commands: the modules of this folder that are not private."""
    files = (file for file in Path(__file__).parent.iterdir() if file.suffix == ".py")
    stems = (file.stem for file in files if not file.stem.startswith("_"))
    return frozenset(stem.replace("_", "-") for stem in stems)


def module_of(command: str) -> str:
    """Give the module of a command."""
    return f"trainrx.cli.{command.replace('-', '_')}"


def called_as() -> str:
    """Give the name this program was called by."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return name if name in ("diagnose", "trainrx") else "diagnose"


def make_app(help_text: str | None = None, *, bare: bool = False) -> typer.Typer:
    """Make a typer app that speaks plain text: no boxes, no completion, no traceback of its own.

    Args:
        help_text: what the command is for.
        bare: whether it does something without a word behind its name; else it shows its help.
    """
    import typer

    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        no_args_is_help=not bare,
        help=help_text,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
