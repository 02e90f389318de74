"""`${...}`: defaults, lengths, cuts, replacements and arrays."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.state import State
from trainrx.shell.values import Field, Variable, element, known

_BODY = late(
    r"(?P<indirect>!)?(?P<length>\#(?=[\w@*#?!-]))?(?P<name>[A-Za-z_]\w*|\d+|[@*\#?$!_-])"
    r"(?:\[(?P<index>(?:[^\[\]]|\[[^\[\]]*\])*)\])?(?P<operation>.*)",
    re.DOTALL,
)
_DEFAULT = late(r"(?P<empty>:?)(?P<sign>[-=+?])(?P<word>.*)", re.DOTALL)
_STRIP = late(r"(##?|%%?)(.*)", re.DOTALL)
_REPLACE = late(r"(//?)((?:\\.|[^/\\])*)(?:/(.*))?", re.DOTALL)
_SLICE = late(r":(\s*\d{1,9}|\s+-\d{1,9}|\s*\(-\d{1,9}\))\s*(?::\s*(-?\d{1,9})\s*)?")
_CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda text: text[:1].upper() + text[1:],
    ",": lambda text: text[:1].lower() + text[1:],
}
_RUNTIME = frozenset({"RANDOM", "SECONDS", "LINENO", "BASHPID", "PPID", "EPOCHSECONDS", "UID"})
_MAX_PATTERN = 256
_MAX_REPLACED = 1024
_GLOB = late(r"[*?\[\\]")


class Expansion(msgspec.Struct, frozen=True):
    """What an expansion gives; `many`: its fields stay apart even inside double quotes.

    `star`: what `$*` is made of, which outside double quotes is split like `$@`.
    """

    fields: tuple[Field, ...]
    many: bool = False
    lines: tuple[int, ...] = ()
    star: tuple[Field, ...] | None = None


class Parameters:
    """Expands parameters against the variables of one script."""

    def __init__(
        self, state: State, expand: Callable[[str], str], pattern: Callable[[str], str]
    ) -> None:
        self._state = state
        self._expand = expand
        self._pattern = pattern

    def plain(self, name: str) -> Expansion:
        """Expand `$name`."""
        if name in ("@", "*"):
            return self._all(name, name)
        found = self._find(name)
        if found is None:
            return Expansion((Field(self._missing(name)),))
        if found.array and not found.values:
            return Expansion((Field(""),))
        line = found.line if not found.array else found.values[0].line
        return Expansion((Field(found.text, line),), lines=found.lines)

    def braced(self, body: str) -> Expansion:
        """Expand `${body}`."""
        match = _BODY.fullmatch(body)
        if match is None:
            return Expansion((Field(self._mark(body)),))
        name, index, operation = match["name"], match["index"], match["operation"]
        if match["indirect"]:
            return self._indirect(name, index, operation)
        if index in ("@", "*") or name in ("@", "*"):
            return self._list(name, index or name, operation, length=bool(match["length"]))
        if index is None and not operation and not match["length"]:
            return self.plain(name)
        text = self._element(name, index)
        if match["length"]:
            if text is None and self._state.is_gone(name):
                text = ""
            if text is None or not known(text):
                return Expansion((Field(self._mark(body)),))
            return Expansion((Field(str(len(text))),))
        if text is None and not operation.startswith((":-", "-", ":=", "=", "+", ":+")):
            # An array that is set has nothing where it has no element.
            return Expansion((Field("" if self._find(name) else self._missing(name)),))
        return Expansion((Field(self._operate(name, text, operation)),))

    def _find(self, name: str) -> Variable | None:
        positional = self._state.positional
        if name.isdigit() and name != "0" and positional is not None:
            index = int(name[:9]) - 1
            if self._state.takes_any(positional[: index + 1]):
                return None
            field = positional[index] if index < len(positional) else Field("")
            return Variable((field,), field.line)
        if name == "#" and positional is not None:
            if not self._countable(positional):
                return None
            return Variable((Field(str(len(positional))),), 0)
        return self._state.get(name)

    def _missing(self, name: str) -> str:
        unknowns = self._state.unknowns
        if self._state.is_gone(name):
            return ""
        if name in ("0", "BASH_SOURCE"):
            return unknowns.mark("arg", "0")
        if name.isdigit() or name in ("@", "*", "#"):
            return unknowns.mark("arg", name)
        if name in _RUNTIME or not name[0].isalpha():
            return unknowns.mark("runtime", name)
        return unknowns.variable(name)

    def _mark(self, body: str) -> str:
        """Give the mark of an expansion that is not worked out."""
        shown = self._state.unknowns.show(f"${{{body}}}")[:80]
        return self._state.unknowns.mark("value", shown, shown)

    def _indirect(self, name: str, index: str | None, operation: str) -> Expansion:
        if index in ("@", "*"):
            shown = f"${{!{name}[{index}]}}"
            return Expansion((Field(self._state.unknowns.mark("array", shown, shown)),))
        target = self._state.known_value(name)
        if index is not None or target is None or not re.fullmatch(r"[A-Za-z_]\w*|\d+", target):
            return Expansion((Field(self._mark(f"!{name}{operation}")),))
        return self.braced(target + operation)

    def _all(self, name: str, star: str) -> Expansion:
        if name in ("@", "*"):
            fields = self._state.positional
        else:
            found = self._state.get(name)
            fields = None if found is None else found.values
            if found is None and self._state.is_gone(name):
                fields = ()
        if fields is None:
            return Expansion((Field(self._missing(name)),))
        return self._together(fields, star)

    def _together(self, fields: tuple[Field, ...], star: str) -> Expansion:
        if star == "*":
            between = self._state.separators()[:1]
            return Expansion((Field(between.join(field.text for field in fields)),), star=fields)
        return Expansion(fields, many=True)

    def _countable(self, fields: tuple[Field, ...]) -> bool:
        """Tell whether every field stands for one word: a mark of a branch may be several."""
        found = (item for field in fields for item in self._state.unknowns.within(field.text))
        kinds = ("branch", "loop", "array")
        return not any(item.kind in kinds or item.name in ("@", "*") for item in found)

    def _list(self, name: str, star: str, operation: str, *, length: bool) -> Expansion:
        whole = self._all(name, "@")
        if not whole.many:
            if operation.startswith((":-", "-")):
                return Expansion((Field(self._expand(operation.lstrip(":-"))),))
            return whole
        if length:
            if self._countable(whole.fields):
                return Expansion((Field(str(len(whole.fields))),))
            return Expansion((Field(self._mark(f"#{name}[{star}]")),))
        cut = _SLICE.fullmatch(operation)
        fields = whole.fields
        if cut:
            # `${@:1}` counts from the script's name, `${a[@]:1}` from the first element.
            fields = (Field(""), *fields) if name in ("@", "*") else fields
            fields = fields[slice(*_bounds(cut, len(fields)))]
        elif operation:
            fields = tuple(
                msgspec.structs.replace(field, text=self._operate(name, field.text, operation))
                for field in fields
            )
        return self._together(fields, star)

    def _element(self, name: str, index: str | None) -> str | None:
        found = self._find(name)
        if found is None:
            return None
        if index is None:
            return found.text
        number = self.index(found, index)
        if number is None:
            return self._mark(f"{name}[{index}]")
        item = element(found, number)
        return None if item is None else item.text

    def index(self, variable: Variable, text: str) -> int | None:
        """Work out which element is meant, None when that is not known."""
        number = self._expand(f"$(({text}))")
        if not re.fullmatch(r"-?[0-9]{1,9}", number):
            return None
        index = int(number)
        before = variable.values[: index + 1] if index >= 0 else variable.values
        return index if self._countable(before) else None

    def _operate(self, name: str, text: str | None, operation: str) -> str:
        default = _DEFAULT.fullmatch(operation)
        if default and not _SLICE.fullmatch(operation):
            return self._default(name, text, default)
        if text is None or not known(text):
            return self._missing(name) if text is None else text
        self._state.budget.spend(1 + len(text) // 32)
        if operation in _CASES:
            return _CASES[operation](text)
        if match := _STRIP.fullmatch(operation):
            return self._strip(name, text, match)
        if match := _REPLACE.fullmatch(operation):
            return self._replace(name, text, match)
        if match := _SLICE.fullmatch(operation):
            return text[slice(*_bounds(match, len(text)))]
        if not operation:
            return text
        return self._mark(name + operation)

    def _default(self, name: str, text: str | None, match: re.Match[str]) -> str:
        if text is not None and not known(text):
            if not match["empty"] or self._state.alone(text) != "":
                return text
            text = ""  # After `X=$1`, X is empty as `$1` is.
        surely = self._state.takes_default(name) or self._state.is_gone(name)
        if text is None and not surely:
            return self._state.unknowns.variable(name)
        given = text is not None and (text != "" or not match["empty"])
        if match["sign"] == "+":
            return self._expand(match["word"]) if given else ""
        if given and text is not None:
            return text
        if match["sign"] == "?":
            return self._missing(name)
        word = self._expand(match["word"])
        if match["sign"] == "=":
            self._state.set_text(name, word, 0)
        return word

    def _strip(self, name: str, text: str, match: re.Match[str]) -> str:
        sign, pattern = match[1], self._pattern(match[2])
        if not known(pattern) or len(pattern) > _MAX_PATTERN:
            return self._mark(name + match[0])
        self._state.budget.spend(1 + len(text) * len(pattern) // 4)
        from trainrx.shell import glob

        return glob.strip(text, pattern, end=sign[0] == "%", longest=len(sign) == 2)

    def _replace(self, name: str, text: str, match: re.Match[str]) -> str:
        old, new = self._pattern(match[2]), self._expand(match[3] or "")
        is_anchored = match[1] == "/" and old[:1] in ("#", "%")
        count = -1 if match[1] == "//" else 1
        if not known(old) or is_anchored or _GLOB.search(old) or text.count(old) > _MAX_REPLACED:
            return self._mark(name + match[0])
        self._state.budget.spend(1 + len(text) * len(old) // 4)
        return text.replace(old, new, count) if old else text


def _bounds(match: re.Match[str], size: int) -> tuple[int, int]:
    start = int(match[1].strip("() \t\n"))
    if start < -size:
        return size, size
    start = size + start if start < 0 else min(start, size)
    if match[2] is None:
        return start, size
    length = int(match[2])
    return start, max(size + length if length < 0 else start + length, start)
