"""Programs that change a text line by line, as far as launch scripts use them: cut, tr, awk ...

Every one of them takes the words behind the program's name and what it reads, and gives None for
what is not understood: an option, a pattern, a program of more than a few words.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from trainrx.model.pattern import late

_CLASSES = {
    "[:upper:]": string.ascii_uppercase,
    "[:lower:]": string.ascii_lowercase,
    "[:digit:]": string.digits,
    "[:alpha:]": string.ascii_uppercase + string.ascii_lowercase,
    "[:alnum:]": string.digits + string.ascii_uppercase + string.ascii_lowercase,
    "[:space:]": "\t\n\v\f\r ",
}
_SET = late(r"(\[:\w+:\])|\\(.)|(.)-(.)|(.)", re.DOTALL)
_STRANGE = late(r"\\[^nt\\/.-]|\[[.=]|\[:(?!(?:upper|lower|digit|alpha|alnum|space):\])")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
_AWK = late(
    r"(?:-F ?\x00?(?P<between>[^\x00\\*+?.|()^$\[\]{}]{1,4})\x00)?"
    r" *(?:NR ?== ?(?P<row>\d{1,6})|/(?P<holds>[\w:, =-]{1,80})/)?"
    r" *\{ *print(?: +(?P<what>NF|\$(?:NF|\d{1,4})(?: *, *\$(?:NF|\d{1,4})){0,8}))? *;? *\} *"
)
_CUT = late(
    r"(?:-d\x00?(?P<between>[^\x00])\x00)?-(?P<kind>[fc])\x00?(?P<first>\d{1,4})?"
    r"(?P<range>-)?(?P<last>\d{1,4})?(?:\x00-d\x00?(?P<behind>[^\x00]))?"
)
_SED = late(
    r"s(?P<sign>[/|#,:@])(?P<old>(?:\\.|(?!(?P=sign)|\\).){1,80})(?P=sign)"
    r"(?P<new>(?:(?!(?P=sign)).){0,80})(?P=sign)(?P<g>g?)"
)
_PLAIN = late(r"\^?(?:[\w ,:/=@%\"'-]|\\[./|#,:@-]|\[\[:space:\]\]\*)*\$?")
"""A pattern of basic regular expressions: a text, at most held to an end of the line."""
_SPACES = "[[:space:]]*"
_PRODUCT = late(r"\s*-?\d{1,15}(?:\s*[-+*/%]\s*\d{1,15}){1,20}\s*")


def head(words: list[str], text: str) -> str | None:
    """Give the first lines."""
    match = re.fullmatch(r"(?:-n?\x00?(\d{1,6}))?", "\0".join(words))
    if match is None:
        return None
    return "".join(text.splitlines(keepends=True)[: int(match[1] or 10)])


def tail(words: list[str], text: str) -> str | None:
    """Give the last lines, or those from `+n` on."""
    match = re.fullmatch(r"(?:-n?\x00?(\+?)(\d{1,6}))?", "\0".join(words))
    if match is None:
        return None
    lines, count = text.splitlines(keepends=True), int(match[2] or 10)
    if match[1]:
        return "".join(lines[max(count - 1, 0) :])
    return "".join(lines[-count:]) if count else ""


def tr(words: list[str], text: str) -> str | None:
    """Replace, drop or squeeze characters."""
    if any(map(_STRANGE.search, words)):
        return None
    options = "".join(word[1:] for word in words if re.fullmatch(r"-[cds]+", word))
    sets = [_set(word) for word in words if not re.fullmatch(r"-[cds]+", word)]
    if "d" in options:
        if len(sets) != 1 or "s" in options:
            return None
        return "".join(char for char in text if (char in sets[0]) == ("c" in options))
    if not sets or len(sets) > 2 or not all(sets) or "c" in options:
        return None
    if len(sets) == 2:
        new = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
        text = text.translate({ord(old): to for old, to in zip(sets[0], new, strict=False)})
    elif "s" not in options:
        return None
    if "s" not in options:
        return text
    return re.sub(f"([{re.escape(sets[-1])}])\\1+", r"\1", text)


def _set(word: str) -> str:
    r"""Spell out a set of characters: `a-z`, `[:upper:]`, `\n`."""
    parts = []
    for match in _SET.finditer(word):
        if match[1]:
            parts.append(_CLASSES[match[1]])
        elif match[2]:
            parts.append(_ESCAPES.get(match[2], match[2]))
        elif match[3] and match[3] <= match[4] <= "\x7f":
            parts.append("".join(map(chr, range(ord(match[3]), ord(match[4]) + 1))))
        else:
            parts.append(match[0])
    return "".join(parts)


def wc(words: list[str], text: str) -> str | None:
    """Count lines, words or characters."""
    if words == ["-l"]:
        return f"{text.count(chr(10))}\n"
    if words == ["-w"]:
        return f"{len(text.split())}\n"
    return f"{len(text.encode())}\n" if words == ["-c"] else None


def awk(words: list[str], text: str) -> str | None:
    """Print fields of lines: `{print $2}`, `-F, '{print NF}'`."""
    match = _AWK.fullmatch("\0".join(words))
    if match is None:
        return None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match["row"] and int(match["row"]) != number:
            continue
        if match["holds"] and match["holds"] not in line:
            continue
        between = match["between"] or " "
        fields = line.split(between) if between != " " and line else line.split()
        if match["what"] == "NF":
            found.append(str(len(fields)))
            continue
        names = re.findall(r"NF|\d+", match["what"] or "0")
        found.append(" ".join(_awk_field(name, line, fields) for name in names))
    return "".join(item + "\n" for item in found)


def _awk_field(name: str, line: str, fields: list[str]) -> str:
    number = len(fields) if name == "NF" else int(name)
    if number == 0:
        return line
    return fields[number - 1] if number <= len(fields) else ""


def cut(words: list[str], text: str) -> str | None:
    """Give some fields or characters of every line."""
    match = _CUT.fullmatch("\0".join(words))
    if match is None or not (match["first"] or match["last"]):
        return None
    first = int(match["first"] or 1)
    last = int(match["last"] or 9999) if match["range"] else first
    if not 0 < first <= last or (match["last"] and not match["range"]):
        return None
    between = "" if match["kind"] == "c" else match["between"] or match["behind"] or "\t"
    if match["kind"] == "c" and (match["between"] or match["behind"]):
        return None
    found = []
    for line in text.splitlines():
        parts = line.split(between) if between else list(line)
        # A line without a separator is given as it is.
        whole = bool(between) and len(parts) == 1
        found.append(line if whole else between.join(parts[first - 1 : last]))
    return "".join(item + "\n" for item in found)


def sed(words: list[str], text: str) -> str | None:
    """Replace texts: `s/a/b/g`, several with `-e`."""
    programs = [word for word in words if word not in ("-e", "-E", "-r")]
    if len(programs) != max(words.count("-e"), 1):
        return None
    for program in programs:
        match = _SED.fullmatch(program)
        matcher = None if match is None else _matcher(match["old"])
        if match is None or matcher is None or re.search(r"[&\\]", match["new"]):
            return None
        new, count = match["new"], 0 if match["g"] else 1
        lines = text.split("\n")
        last = lines.pop()
        lines = [matcher.sub(new, line, count=count) for line in lines]
        text = "\n".join([*lines, matcher.sub(new, last, count=count) if last else ""])
    return text


def _matcher(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str] | None:
    """Compile a pattern that is hardly more than a text; None for another one.

    It is tried at the first of several blanks only, so that it takes linear time.
    """
    inner = pattern.removeprefix("^").removesuffix("$")
    before, spaces, after = inner.partition(_SPACES)
    mixed = _SPACES in after or before.endswith(" ") or after.startswith(" ")
    if not _PLAIN.fullmatch(pattern) or (spaces and (mixed or pattern == spaces)):
        return None
    first, last = (re.escape(re.sub(r"\\(.)", r"\1", part)) for part in (before, after))
    start = "^" if pattern.startswith("^") else r"(?<!\s)" if spaces and not first else ""
    end = r"\Z" if pattern.endswith("$") else ""
    source = start + first + (r"\s*" if spaces else "") + last + end
    return re.compile(source, re.IGNORECASE if ignore_case else 0)


def grep(words: list[str], text: str) -> str | None:
    """Give the lines that hold a text, or (`-o`) the text itself."""
    options = "".join(word[1:] for word in words if re.fullmatch(r"-[oivcEFh]+", word))
    patterns = [word for word in words if not re.fullmatch(r"-[oivcEFh]+", word)]
    if len(patterns) != 1 or ("F" in options and re.search(r"[\\^$\[]", patterns[0])):
        return None
    matcher = _matcher(patterns[0], ignore_case="i" in options)
    if matcher is None:
        return None
    lines = [line for line in text.splitlines() if bool(matcher.search(line)) != ("v" in options)]
    if "c" in options:
        return f"{len(lines)}\n"
    if "o" in options:
        if "v" in options or not patterns[0].strip("^$"):
            return None
        lines = [found[0] for line in lines for found in matcher.finditer(line)]
    return "".join(line + "\n" for line in lines)


def paste(words: list[str], text: str) -> str | None:
    """Join the lines: `paste -sd,`."""
    match = re.fullmatch(r"-s\x00?-?d\x00?([^\\])(?:\x00-)?", "\0".join(words))
    return None if match is None else match[1].join(text.splitlines()) + "\n"


def bc(words: list[str], text: str) -> str | None:
    """Work out whole numbers."""
    if words or not _PRODUCT.fullmatch(text):
        return None
    found = re.findall(r"\d+|[-+*/%]", text)
    if found[0] == "-":
        found[:2] = [f"-{found[1]}"]
    result = whole(found)
    return None if result is None else f"{result}\n"


def whole(words: list[str]) -> int | None:
    """Work out numbers and the signs between them, as expr and bc do: `*` first, 010 is ten."""
    total, term, before = 0, int(words[0]), "+"
    for sign, word in zip(words[1::2], words[2::2], strict=True):
        number = int(word)
        if sign == "*":
            term *= number
        elif sign in "/%":
            if not number:
                return None
            quotient = abs(term) // abs(number) * (1 if (term < 0) == (number < 0) else -1)
            term = quotient if sign == "/" else term - number * quotient
        else:
            total += term if before == "+" else -term
            term, before = number, sign
    return total + (term if before == "+" else -term)


FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "cat": lambda words, text: None if words else text,
    "head": head,
    "tail": tail,
    "tr": tr,
    "wc": wc,
    "awk": awk,
    "cut": cut,
    "sed": sed,
    "grep": grep,
    "paste": paste,
    "bc": bc,
    "xargs": lambda words, text: None if words else " ".join(text.split()) + "\n",
}
"""The programs by name."""
