"""What the parser a program declares makes of the words of a command: its values, or a refusal.

The parser is made again with argparse itself, so that abbreviations, numbers of words and signs
are read as the program reads them. No function of the program's own is called.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import msgspec

from trainrx.frameworks.common.view import UNKNOWN
from trainrx.launch.python_literals import as_declared
from trainrx.model.catalog import Value
from trainrx.model.job import ProgramOption, ProgramParser, Word

_UNSEEN = "\ue002"
"""Stands for what of a word is not known."""
_BARE = frozenset({"store_true", "store_false", "count", "help", "BooleanOptionalAction"})
_CONSTANT = frozenset({"store_const", "append_const"})
_SWITCHES = {"yes": True, "true": True, "t": True, "y": True, "1": True} | {
    "no": False, "false": False, "f": False, "n": False, "0": False
}  # fmt: skip
_FILES = (".json", ".yaml", ".yml")


class ParserRefusal(NamedTuple):
    """What a parser says as it refuses, and the word it is about; None where it is about all."""

    message: str
    word: Word | None


class _RefusedError(Exception):
    """The parser would print its usage and end."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _RefusedError(message)


class _All:
    """Choices that take what is not known as well."""

    def __init__(self, choices: Sequence[Value]) -> None:
        self._choices = choices

    def __contains__(self, item: object) -> bool:
        return (isinstance(item, str) and _UNSEEN in item) or item in self._choices

    def __iter__(self) -> Iterator[Value]:  # argparse lists them in its message
        return iter(self._choices)


def refusal(
    parser: ProgramParser, words: Sequence[Word], library: Iterable[ProgramOption] = ()
) -> ParserRefusal | None:
    """Give what the parser says against the words of a command; None where it takes them.

    Nothing is said of what rests on words that are not known, or on options it may have besides.

    Args:
        parser: the program's.
        words: what stands behind the program.
        library: what the classes of libraries add to it.
    """
    if _is_file(parser, words):
        return None
    made = _made(parser, library)
    if made is None:
        return None
    try:
        _, rest = _parse(made, words)
    except _RefusedError as error:
        message = str(error)
        unseen = any(word.unknown for word in words)
        ambiguous = message.startswith("ambiguous") and bool(parser.library)
        if (
            (ambiguous and not _is_of_its_own(message, parser))
            or (unseen and _is_of_all(message))
            or _UNSEEN in message
        ):
            return None
        return ParserRefusal(message, _word_of(message, words))
    return None if parser.is_open else _of_the_rest(parser, rest, words)


def _of_the_rest(
    parser: ProgramParser, rest: Sequence[str], words: Sequence[Word]
) -> ParserRefusal | None:
    strange = [text for text in rest if text.startswith("-") and _UNSEEN not in text]
    if rest and not any(word.unknown for word in words):
        strange = [*rest]
    if not strange:
        return None
    if parser.kind == "dataclasses":
        listed = ", ".join(repr(text) for text in strange)
        message = f"Some specified arguments are not used by the HfArgumentParser: [{listed}]"
    else:
        message = f"unrecognized arguments: {' '.join(strange)}"
    return ParserRefusal(message, next((w for w in words if w.text == strange[0]), None))


def given_values(
    parser: ProgramParser, words: Sequence[Word], library: Sequence[ProgramOption] = ()
) -> dict[str, object] | None:
    """Give what a command sets of a program's options, by the names the program reads them by.

    What is not set is left out. None where the parser refuses, or where that is not told.
    """
    if _is_file(parser, words):
        return None
    if parser.library and not library:
        # a name of the library is no beginning of the program's own
        parser = msgspec.structs.replace(parser, abbreviates=False)
    made = _made(parser, library, silent=True)
    if made is None:
        return None
    try:
        found, _ = _parse(made, words)
    except _RefusedError:
        return None
    return {
        name: UNKNOWN if _is_unseen(value) else value
        for name, value in vars(found).items()
        if value is not argparse.SUPPRESS
    }


def _is_unseen(value: object) -> bool:
    parts = value if isinstance(value, list) else [value]
    return any(isinstance(part, str) and _UNSEEN in part for part in parts)


def _is_file(parser: ProgramParser, words: Sequence[Word]) -> bool:
    return parser.takes_file and len(words) == 1 and words[0].text.endswith(_FILES)


def _made(
    parser: ProgramParser, library: Iterable[ProgramOption], *, silent: bool = False
) -> argparse.ArgumentParser | None:
    """Make the parser again; None where that cannot be done."""
    made = _Parser(
        prog="", allow_abbrev=parser.abbreviates, conflict_handler="resolve", add_help=True
    )
    own = {flag for option in parser.options for flag in option.flags}
    more = (option for option in library if own.isdisjoint(option.flags))
    groups: dict[int, Any] = {0: made}
    try:
        for option in (*parser.options, *more):
            if option.apart not in groups:
                groups[option.apart] = made.add_mutually_exclusive_group()
            groups[option.apart].add_argument(*option.flags, **_keywords(option, silent=silent))
    except (ValueError, TypeError, argparse.ArgumentError):
        return None
    return made


def _keywords(option: ProgramOption, *, silent: bool) -> dict[str, Any]:
    named = option.flags[0].startswith("-")
    found: dict[str, Any] = {"default": argparse.SUPPRESS} if silent else {}
    found["action"] = (
        argparse.BooleanOptionalAction
        if option.action == "BooleanOptionalAction"
        else option.action
    )
    if option.dest and named:
        found["dest"] = option.dest
    if named and option.action != "help":
        found["required"] = bool(option.required)
    if option.action == "help":
        return {"action": "help"}
    if option.action in _CONSTANT:
        return found | {"const": UNKNOWN}
    if option.action in _BARE:
        return found
    if option.nargs is not None:
        found["nargs"] = option.nargs
    if option.nargs == "?" and named:
        found["const"] = True if option.kind == "switch" else UNKNOWN
    found["type"] = _reader(option)
    if option.choices is not None:
        found["choices"] = _All(option.choices)
    return found


def _reader(option: ProgramOption) -> Callable[[str], object]:
    """Give what reads one word; its name stands in what argparse says."""
    kind = option.kind

    def read(text: str) -> object:
        if _UNSEEN in text or kind in ("str", "?"):
            return text
        if kind == "switch":
            if text.lower() not in _SWITCHES:
                raise argparse.ArgumentTypeError(
                    f"Truthy value expected: got {text} but expected one of "
                    "yes/no, true/false, t/f, y/n, 1/0 (case insensitive)."
                )
            return _SWITCHES[text.lower()]
        if kind == "choice":
            return {str(one): one for one in option.choices or ()}.get(text, text)
        return as_declared(text, kind)

    read.__name__ = kind
    return read


def _parse(
    made: argparse.ArgumentParser, words: Sequence[Word]
) -> tuple[argparse.Namespace, list[str]]:
    texts = [_text(word) for word in words]
    with contextlib.redirect_stdout(io.StringIO()):  # --help prints
        try:
            return made.parse_known_args(texts)
        except SystemExit:
            return argparse.Namespace(), []


def _text(word: Word) -> str:
    """Give a word as the parser is to see it: of one with unknown parts only its name is known."""
    if not word.unknown:
        return word.text
    name, sign, _ = word.text.partition("=")
    return f"{name}={_UNSEEN}" if sign and name.startswith("-") and "$" not in name else _UNSEEN


def _is_of_its_own(message: str, parser: ProgramParser) -> bool:
    """Tell whether the options a beginning may mean are the program's own, two of them at least."""
    named = set(message.partition(" could match ")[2].split(", "))
    return sum(not named.isdisjoint(option.flags) for option in parser.options) > 1


def _is_of_all(message: str) -> bool:
    """Tell what a word that is not known, which may be several or none, could change."""
    return message.startswith("the following arguments") or "expected" in message


def _word_of(message: str, words: Sequence[Word]) -> Word | None:
    """Find the word a message is about: the option it names, else the value."""
    _, _, rest = message.partition("argument ")
    names = rest.partition(":")[0].split("/")
    for word in words:
        if word.text.partition("=")[0] in names:
            return word
    return next((word for word in words if word.text and repr(word.text) in message), None)
