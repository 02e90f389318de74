"""Count where source outside `trainrx/frameworks` names a framework: its name stands in its room.

A name is a string equal to one, or the import of its module. What is excepted is listed with the
reason; the list holds ten files at most.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from trainrx.frameworks import names

SOURCE = Path(__file__).parents[1] / "src" / "trainrx"
ROOM = "frameworks"
MOST = 10
EXCEPTIONS = {
    "catalog/arguments.py": "the package whose HfArgumentParser spells options twice",
    "cli/_scaffold.py": "the id of an entry, as an example",
    "facts/homes.py": "packages whose classes others derive from",
    "facts/packages.py": "packages, and who needs which release of them",
    "fix/versions.py": "the package a model needs a release of",
    "inspect/topics.py": "a section of parameters: vllm.*",
    "models/facts.py": "words in names of models; a lower floor than frameworks",
    "render/screen/verdict.py": "a section of parameters: vllm.*",
    "render/inspect_rows.py": "a section of parameters: vllm.*",
    "versions/listing.py": "names of packages in listings; a lower floor than frameworks",
}


def named(tree: ast.Module, known: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Give the line of each place that names a framework, and the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if text in known:
                yield node.lineno, text
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for module in _modules(node):
                package, _, own = module.partition(f"trainrx.{ROOM}.")
                name = own.partition(".")[0].replace("_", "-")
                if not package and name in known:
                    yield node.lineno, name


def _modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    inside = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    yield from (f"{inside}{alias.name}" for alias in node.names)


def problems(source: Path = SOURCE) -> Iterator[str]:
    """Give what stands outside its room, and exceptions that are not needed any more."""
    known = frozenset(names())
    needed = set()
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(source).as_posix()
        found = [] if file.startswith(f"{ROOM}/") else [*named(ast.parse(path.read_text()), known)]
        if file in EXCEPTIONS and found:
            needed.add(file)
        else:
            yield from (f"{file}:{line}: names {name}: ask the framework" for line, name in found)
    yield from (f"{file}: no exception is needed here" for file in EXCEPTIONS.keys() - needed)
    if len(EXCEPTIONS) > MOST:
        yield f"{len(EXCEPTIONS)} exceptions: {MOST} at most"


def main() -> int:
    """Print the problems."""
    found = list(problems())
    print("\n".join((*found, f"{len(found)} names of frameworks outside their rooms")))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
