"""What bash itself makes of a script's words, without running anything of the script.

A copy is made in which only assignments, declarations, control flow and a few builtins stand; every
other command becomes a function that prints its words. Substitutions, redirections, files and
`eval` are not in it: a script that needs them for its launch cannot be compared. The copy runs in a
restricted bash with an empty environment and PATH and a time limit.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

UNSEEN = "__UNSEEN__"
"""Stands for what was taken out; words that hold it are not compared."""
_KEEP = frozenset({":", "true", "false", "[", "test", "shift", "unset", "let", "break", "continue"})
_REFUSED = frozenset(
    {"source", ".", "read", "mapfile", "readarray", "getopts", "trap", "alias", "ssh", "pdsh"}
    | {"enable", "command", "builtin"}
)
_INNER = re.compile(r"(?:exec|printf\s+-v|(?:ba)?sh\s+-\w*c|(?:source|\.)\s(?!\S*activate\b))")
_FILES = re.compile(r"(?<![\w-])-[a-hkprsuwxGLNOSt] |(?<![\w-])-(?:nt|ot|ef) |=~")
_RUNTIME = re.compile(
    r"\$\{?(?:RANDOM|SECONDS|LINENO|BASH\w*|EPOCH\w+|PPID|UID|EUID|HOSTNAME|OSTYPE|PIPESTATUS|SHLVL"
    r"|PWD|OLDPWD|IFS|PATH|FUNCNAME|[$?!_0-])"
)
_GUARDED = re.compile(r"^(?:PATH|SHELL|ENV|IFS|PS4|HISTFILE|SHELLOPTS|POSIXLY_CORRECT|BASH\w*|_)$")
_FAILED = re.compile(rb"restricted|command not found|No such file|syntax error|readonly|File size")
_PROLOGUE = """\
__argv() { printf '%s\\0' "$#" "$@"; }
readonly -f __argv
enable -n kill exec eval source . trap read mapfile readarray ulimit umask suspend fc history hash
enable -n bind caller command compgen complete compopt dirs disown fg bg jobs getopts help logout
enable -n popd pushd times wait type cd alias
"""


_NUMBERS = frozenset({"binary_expression", "arithmetic_expansion", "compound_statement"})


class NotComparable(Exception):  # noqa: N818 (it is an answer, not a failure)
    """The script cannot be turned into a harmless copy that tells the same words."""


def argv(text: str, env: dict[str, str], *, inside: bool = False) -> list[list[str]]:
    """Give the words of the commands that bash would run, in order.

    `eval` is followed once: what it was given becomes a script of its own.

    Raises:
        NotComparable: The copy would not tell.
    """
    source = text.encode()
    root = Parser(Language(tree_sitter_bash.language())).parse(source).root_node
    if root.has_error:
        raise NotComparable("not parsed")
    edits: list[tuple[int, int, bytes]] = []
    _edit(root, edits)
    found: list[list[str]] = []
    for words in _run(_PROLOGUE.encode() + _apply(source, edits) + b"\n", env):
        if words[:1] != ["eval"]:
            found.append(words)
            continue
        inner = " ".join(words[1:])
        if inside or re.search(rf"[$`]|{UNSEEN}", inner):
            raise NotComparable("eval of what is not known")
        found += argv(inner, {}, inside=True)
    return found


def _run(script: bytes, env: dict[str, str]) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "copy.sh")
        path.write_bytes(script)
        command = ["timeout", "-s", "KILL", "2", "prlimit", "--cpu=2", "--nproc=64", "--fsize=0"]
        command += ["env", "-i", "PATH=/nonexistent", *(f"{k}={v}" for k, v in env.items())]
        command += ["/bin/bash", "--norc", "--noprofile", "-rf"]
        done = subprocess.run(
            [*command, str(path)], check=False, capture_output=True, cwd="/", timeout=5
        )
    if done.returncode in (-9, 137) or _FAILED.search(done.stderr):
        raise NotComparable("the copy fails")
    parts = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    found = []
    at = 0
    while at < len(parts):
        count = int(parts[at])
        found.append(parts[at + 1 : at + 1 + count])
        at += 1 + count
    return found


def _apply(source: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Make the edits; one inside another is left out."""
    pieces = []
    at = 0
    for start, end, new in sorted(edits, key=lambda item: (item[0], -item[1])):
        if start < at:
            continue
        pieces += [source[at:start], new]
        at = end
    return b"".join((*pieces, source[at:]))


def _edit(node: Node, edits: list[tuple[int, int, bytes]]) -> None:
    """Say what to change in a part of the script so that it does no harm."""
    kind = node.type
    new = _replacement(node)
    if new is not None:
        edits.append((node.start_byte, node.end_byte, new))
        return
    if kind in ("heredoc_redirect", "herestring_redirect", "heredoc_body"):
        raise NotComparable("here-document")
    if kind in ("variable_name", "special_variable_name") and _is_runtime(node):
        raise NotComparable("runtime value")
    if kind == "command" and _command(node, edits):
        return
    if kind in ("if_statement", "elif_clause", "while_statement"):
        _check_condition(node)
    if kind == "test_command" and _FILES.search(_text(node) + " "):
        raise NotComparable("a test of files")
    for child in node.children:
        _edit(child, edits)


def _replacement(node: Node) -> bytes | None:
    """Give what stands for a part in the copy, None for one that stays or is looked into."""
    kind = node.type
    parent = node.parent.type if node.parent else ""
    if kind in ("command_substitution", "process_substitution"):
        return UNSEEN.encode()
    if kind == "file_redirect":
        return b" "
    if kind == "variable_assignment":
        name = node.child_by_field_name("name")
        return b"__guarded=1" if name is not None and _GUARDED.match(_text(name)) else None
    if kind == "if_statement" and _asks_for_files(node):
        return b":"
    joins = kind in ("|", "|&") and parent == "pipeline"
    return b";" if joins or (kind == "&" and parent not in _NUMBERS) else None


def _is_runtime(node: Node) -> bool:
    before = node.prev_sibling
    sign = before is not None and before.type in ("$", "${")
    return sign and _RUNTIME.fullmatch("$" + _text(node)) is not None


def _asks_for_files(node: Node) -> bool:
    """Tell `if [ ! -d logs ]; then mkdir logs; fi`, which changes nothing that is compared."""
    conditions = node.children_by_field_name("condition")
    if not any(_FILES.search(_text(item) + " ") for item in conditions):
        return False
    return all(_is_harmless(item) for item in node.named_children if item not in conditions)


def _is_harmless(node: Node) -> bool:
    if node.type in ("variable_assignment", "declaration_command", "unset_command"):
        return False
    if node.type == "command":
        name = node.child_by_field_name("name")
        return name is not None and _text(name) in ("echo", "mkdir", "rm", "exit", "touch", "cd")
    return all(_is_harmless(child) for child in node.named_children)


def _check_condition(node: Node) -> None:
    conditions = node.children_by_field_name("condition") or node.named_children[:1]
    for condition in conditions:
        if not condition.is_named:
            continue
        text = _text(condition)
        if not re.match(r"\s*!?\s*(?:\[|\(\(|test\b|true\b|:)", text) or re.search(
            r"`|\$\([^(]", text
        ):
            raise NotComparable("a condition on a command")


def _command(node: Node, edits: list[tuple[int, int, bytes]]) -> bool:
    """Edit a command; True when nothing is left to edit inside."""
    name_node = node.child_by_field_name("name")
    if name_node is None:
        return False
    name = _text(name_node)
    if name in _KEEP:
        if name in ("[", "test") and _FILES.search(_text(node) + " "):
            raise NotComparable("a test of files")
        return False
    if name in ("exit", "return"):
        return False
    if name == "set":
        if not re.match(r"set\s+--(?:\s|$)", _text(node)):
            edits.append((node.start_byte, node.end_byte, b":"))
            return True
        return False
    if name in ("source", ".") and not _INNER.match(_text(node)):
        edits.append((node.start_byte, node.end_byte, b":"))
        return True
    if name in _REFUSED or _INNER.match(_text(node)) or "$(" in name or "`" in name:
        raise NotComparable(f"{name} cannot stand in the copy")
    assignments = [child for child in node.children if child.type == "variable_assignment"]
    edits += [(child.start_byte, child.end_byte, b"") for child in assignments]
    edits.append((name_node.start_byte, name_node.start_byte, b"__argv "))
    for child in node.children:
        if child.type != "variable_assignment":
            _edit(child, edits)
    return True


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
