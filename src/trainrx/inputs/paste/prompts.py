"""Prompts of shells, of Python and of notebooks, and what was printed below what they asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trainrx.inputs.paste.lines import ARGUMENT, continues
from trainrx.inputs.paste.segment import PostLine
from trainrx.inputs.paste.signs import OPTION, OVERRIDE, Kind
from trainrx.inputs.recognise import COMMAND, LOG
from trainrx.model.pattern import late

_PYTHON_PROMPT = late(r"\s*(?:>>> ?|\.\.\. |In ?\[\d*\]: ?)")
_RESULT = late(r"\s*Out ?\[\d*\]: ?")
_CELL = late(r"\s*(?:In|Out) ?\[\d*\]:")
_SHELL_PROMPT = late(
    r"[ \t]*(?:\([\w.-]{1,40}\) ?)*"
    r"(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[ :](?:[^$#%\n]{0,80}?\]?[$#%](?: |$)|[^\s$#%]{0,80}\]?[$#])"
    r"|(?:PS )?[A-Z]:\\[^>\n]{0,100}> ?|(?:ba|z|da)?sh-\d[\d.]*[$#] ?"
    r"|[➜❯λ] +(?:\S{1,40} +)?(?:git:\(\S{1,40}\) +)?(?:✗ +)?|\$ )"
    r"|[ \t]*\([\w.-]{1,40}\) ?[\w@:~/.-]{0,80}[$#] "
)
_WEAK_PROMPT = late(r"[ \t]*(?:%|\+{1,3}) (?=\S)")
"""What stands in front of other things, too: a prompt only before a command."""
_GOES_ON = late(r"^[ \t]*> ?(?=\S)")
_LABEL = late(r"[ \t]*(?:[^\n：`]{1,30}：[ \t]*`?|`)(?=[^\s`])")
_CODE_SPAN = late(r"\s*`([^`]{20,})`?\s*$")
"""A line that is marked as code as a whole, or begins to be."""
_BANG = late(r"\s*!(?=[\w./])|\s*%(?=(?:pip|conda) )")
_CELL_MAGIC = late(r"\s*%%(\w+)(?: +(\S+))?.*$")
_ENV_MAGIC = late(r"\s*%env\s+([A-Za-z_]\w*)\s*[= ]\s*(.*)$")
ASKED = 2.0
"""What a prompt in front of a line says for a command, nats."""
SHOWN, PRINTED = 1.0, 0.5
"""What a command that shows a file or a list says of the lines below it, and any other."""
SPAN: Mapping[Kind, float] = {"prose": -ASKED}
"""What marks of code around a line say of it."""
_SHOWS = r"\s*(?:sudo +)?(?:cat|head|tail|less|more|type|bat|nl|vim?|nano)\b[^>|]*\.(?:{})\b"
OUTPUTS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (late(_SHOWS.format("ya?ml|json|toml|cfg|conf|ini")), "config"),
    (late(_SHOWS.format("sh|bash|slurm|sbatch")), "script"),
    (late(_SHOWS.format("py|ipynb")), "python"),
    (
        late(
            r"\s*(?:uv +)?(?:pip3?|conda|mamba)\s+(?:list|freeze|show)|\s*nvidia-smi|\s*nvcc"
            r"|\s*[\w-]+ +env\b|.*\bcollect_env\b|\s*ds_report|\s*python\S* +(?:-V|--version)"
            r"|\s*(?:uname|lsb_release)\b"
        ),
        "versions",
    ),
    (late(r"\s*(?:print)?env\b"), "env"),
)
CELLS: Mapping[str, Kind] = {"bash": "script", "sh": "script", "script": "script"}


def unprompted(lines: Sequence[PostLine]) -> list[PostLine]:
    """Take the prompts off; what a shell was asked and what it printed are blocks of their own."""
    out: list[PostLine] = []
    block, before = 0, -1
    below: Mapping[Kind, float] = {}
    asking = False
    for line in lines:
        if line.block != before or _CELL.match(line.text):
            block, asking, below = block + 1, False, {}
        before = line.block
        if not line.text or line.text.isspace():
            block, asking = block + asking, False
            out.append(PostLine(line.number, "", block))
            continue
        command = _asked(line.text)
        if command is not None:
            block, asking, below = block + 1, True, _printed(command)
            out.append(PostLine(line.number, command, block, _with(line.hints, {"script": ASKED})))
        elif asking and _continues(out[-1].text, line.text):
            out.append(line._replace(text=_GOES_ON.sub("", line.text, count=1), block=block))
        else:
            block, asking = block + asking, False
            text, hints = _cell(line.text)
            if hints is SPAN:
                # what is marked as code stands apart from the words around it
                block, before = block + 1, -1
            below = hints if text == "" and hints else below
            out.append(PostLine(line.number, text, block, _with(line.hints, hints or below)))
    return out


def _asked(text: str) -> str | None:
    """Give the command behind the prompt of a shell; "" behind an idle one, None without."""
    shell = _SHELL_PROMPT.match(text)
    if shell is not None:
        return text[shell.end() :].strip()
    weak = _WEAK_PROMPT.match(text)
    if weak is None:
        return None
    command = text[weak.end() :]
    return command if COMMAND.match(command) and ARGUMENT.search(command) else None


def _printed(command: str) -> Mapping[Kind, float]:
    """Tell what kind of text a command prints."""
    shown = next((kind for sign, kind in OUTPUTS if sign.match(command)), None)
    return {"log": PRINTED} if shown is None else {shown: SHOWN}


def _continues(before: str, text: str) -> bool:
    """Tell whether a command goes on in a line, be it that the sign of that was lost."""
    return continues(before) or bool(OPTION.match(text) or OVERRIDE.match(text))


def _with(hints: Mapping[Kind, float], more: Mapping[Kind, float]) -> Mapping[Kind, float]:
    if not more or not hints:
        return more or hints
    return {kind: hints.get(kind, 0.0) + more.get(kind, 0.0) for kind in {**hints, **more}}


def _cell(text: str) -> tuple[str, Mapping[Kind, float]]:
    """Take the marks of a notebook's cell off a line, with what they say of it."""
    cell = _CELL_MAGIC.match(text)
    if cell is not None:
        return "", {_written(cell[1], cell[2] or ""): ASKED}
    env = _ENV_MAGIC.match(text)
    if env is not None:
        return f"export {env[1]}={env[2]}", {"script": ASKED}
    result = _RESULT.match(text)
    if result is not None:
        return text[result.end() :], {"log": ASKED}
    python = _PYTHON_PROMPT.match(text)
    bare = text[python.end() :] if python is not None else text
    if _BANG.match(bare):
        return _BANG.sub("", bare, count=1), {"script": ASKED}
    if python is not None:
        return bare, {"python": ASKED}
    code = _CODE_SPAN.match(bare)
    if code is not None:
        return code[1], SPAN
    return _command_alone(bare), {}


def _written(magic: str, name: str) -> Kind:
    """Tell what a cell holds that is run by a magic, or written to a file."""
    if magic == "writefile":
        return next((kind for sign, kind in OUTPUTS if sign.match(f"cat {name}")), "python")
    return CELLS.get(magic, "python")


def _command_alone(text: str) -> str:
    """Take off what introduces a command in its own line ("命令：..."), and quotes around it."""
    label = _LABEL.match(text)
    if label is None or LOG.search(text):
        return text
    bare = text[label.end() :].strip().rstrip("`")
    return bare if COMMAND.match(bare) and ARGUMENT.search(bare) else text
