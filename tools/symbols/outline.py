"""What one file defines: names, classes with their attributes, signatures. Nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence

import msgspec


class Signature(msgspec.Struct, frozen=True, array_like=True):
    """The parameters of a function without `self`; `open`: any further keyword is taken."""

    takes: tuple[str, ...]
    requires: tuple[str, ...]
    open: bool


class Class(msgspec.Struct, frozen=True, array_like=True):
    """A class: its bases as they are written, its attributes, its methods.

    `fields` are annotated attributes, those without a default first; of a dataclass they are what
    its constructor takes.
    """

    bases: tuple[str, ...]
    attributes: tuple[str, ...]
    methods: dict[str, Signature]
    fields: tuple[str, ...]
    required: tuple[str, ...]
    is_dataclass: bool


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """A module: `own` names are defined here, `others` imported; `stars` are star imports.

    `listed` is `__all__`, `lazy` what `_import_structure` of the Hugging Face packages lists.
    `needed` are the names imported whenever the module is: no condition, no function around them.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    stars: tuple[str, ...]
    listed: tuple[str, ...] | None
    lazy: tuple[str, ...]
    sweeps: tuple[str, ...]
    classes: dict[str, Class]
    functions: dict[str, Signature]
    needed: tuple[tuple[str, str], ...]


def outline(source: str, module: str, *, is_package: bool) -> Outline | None:
    """Read a module; None when it is no Python this interpreter knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    reader = _Reader(module, is_package=is_package)
    reader.read(tree.body, guarded=False)
    return Outline(
        own=tuple(sorted(reader.own)),
        others=tuple(sorted(reader.others - reader.own)),
        stars=tuple(dict.fromkeys(reader.stars)),
        listed=None if reader.listed is None else tuple(sorted(set(reader.listed))),
        lazy=tuple(sorted(reader.lazy)),
        sweeps=tuple(reader.sweeps),
        classes=reader.classes,
        functions=reader.functions,
        needed=tuple(sorted(reader.needed)),
    )


class _Reader:
    def __init__(self, module: str, *, is_package: bool) -> None:
        self._module = module
        self._is_package = is_package
        self.own: set[str] = set()
        self.others: set[str] = set()
        self.stars: list[str] = []
        self.listed: list[str] | None = None
        self.lazy: set[str] = set()
        self.sweeps: list[str] = []
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Signature] = {}
        self.needed: set[tuple[str, str]] = set()

    def read(self, body: Sequence[ast.stmt], *, guarded: bool) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self.own.add(node.name)
                self.classes[node.name] = read_class(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.own.add(node.name)
                # of two that stand under a condition either may be meant
                self.functions.setdefault(node.name, signature(node.args))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node, guarded=guarded)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assign(node)
            elif isinstance(node, ast.Expr):
                self._call(node.value)
            else:
                for inner in _blocks(node):
                    self.read(inner, guarded=True)

    def _import(self, node: ast.Import | ast.ImportFrom, *, guarded: bool) -> None:
        if isinstance(node, ast.Import):
            self.others.update(a.asname or a.name.split(".")[0] for a in node.names)
            if not guarded:
                self.needed.update((a.name, "") for a in node.names if "." in a.name)
            return
        source = absolute(node, self._module, is_package=self._is_package)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
                continue
            self.others.add(alias.asname or alias.name)
            if not guarded:
                self.needed.add((source, alias.name))

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in _flat(targets):
            if isinstance(target, ast.Name):
                if target.id == "__all__":
                    self.listed = [*(self.listed or ()), *_texts(node.value)]
                elif target.id in ("_import_structure", "import_structure"):
                    self._lazy(node.value)
                else:
                    self.own.add(target.id)
            elif isinstance(target, ast.Subscript) and _is_structure(target.value):
                self.lazy.update(_texts(node.value))

    def _lazy(self, value: ast.expr | None) -> None:
        """Read the table of a lazy package; a call that sweeps a folder names all it exports."""
        if isinstance(value, ast.Dict):
            for inner in value.values:
                self.lazy.update(_texts(inner))
            self.lazy.update(
                key.value.split(".")[0]
                for key in value.keys
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )
        elif isinstance(value, ast.Call):
            prefix = next((k.value for k in value.keywords if k.arg == "prefix"), None)
            below = f".{prefix.value!s}" if isinstance(prefix, ast.Constant) else ""
            self.sweeps.append(f"{self._module}{below}")

    def _call(self, value: ast.expr) -> None:
        """Read `__all__.extend(...)` and `_import_structure["x"].append(...)`."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return
        holder = value.func.value
        given = [text for arg in value.args for text in _texts(arg)]
        if isinstance(holder, ast.Name) and holder.id == "__all__":
            self.listed = [*(self.listed or ()), *given]
        elif isinstance(holder, ast.Subscript) and _is_structure(holder.value):
            self.lazy.update(given)


def absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    """Give the absolute name of the module an import statement names."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    drop = node.level - (1 if is_package else 0)
    parts = parts[: len(parts) - drop] if drop else parts
    return ".".join([*parts, node.module] if node.module else parts)


def read_class(node: ast.ClassDef) -> Class:
    """Read a class, with what its methods assign to `self`."""
    attributes: set[str] = set()
    methods: dict[str, Signature] = {}
    fields: dict[str, bool] = {}
    for item in _statements(node.body):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            attributes.add(item.name)
            attributes.update(_set_on_self(item))
            if not _is_property(item):
                methods.setdefault(item.name, signature(item.args, bound=not _is_static(item)))
        elif isinstance(item, ast.ClassDef):
            attributes.add(item.name)
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            attributes.add(item.target.id)
            if not _is_class_variable(item.annotation):
                fields[item.target.id] = item.value is None
        elif isinstance(item, ast.Assign):
            attributes.update(t.id for t in _flat(item.targets) if isinstance(t, ast.Name))
    return Class(
        bases=tuple(name for base in node.bases if (name := _dotted(base))),
        attributes=tuple(sorted(attributes)),
        methods=methods,
        fields=tuple(fields),
        required=tuple(name for name, needed in fields.items() if needed),
        is_dataclass=any("dataclass" in _dotted(d) for d in node.decorator_list),
    )


def signature(args: ast.arguments, *, bound: bool = False) -> Signature:
    """Read the parameters of a function; the first one of a method is left out."""
    positional = [*args.posonlyargs, *args.args]
    without = len(positional) - len(args.defaults)
    needed = [a.arg for a in positional[:without]]
    needed += [
        a.arg for a, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is None
    ]
    taken = [a.arg for a in (*positional, *args.kwonlyargs)]
    first = taken[0] if bound and positional else ""
    return Signature(
        takes=tuple(name for name in taken if name != first),
        requires=tuple(name for name in needed if name != first),
        open=args.kwarg is not None,
    )


def _set_on_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    given = [*method.args.posonlyargs, *method.args.args]
    own = given[0].arg if given else ""
    for node in ast.walk(method):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == own
        ):
            yield node.attr


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Give the statements below `if`, `try`, `with` and loops."""
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if inner:
            yield inner
    for handler in getattr(node, "handlers", ()):
        yield handler.body


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for inner in _blocks(node):
                yield from _statements(inner)


def _flat(targets: Iterable[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _flat(target.elts)
        else:
            yield target


def _texts(value: ast.AST | None) -> list[str]:
    """Give the texts of a list, or of several that are joined."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return [text for one in value.elts for text in _texts(one)]
    if isinstance(value, ast.Constant) and _is_name(value.value):
        return [str(value.value)]
    if isinstance(value, ast.BinOp):
        return [*_texts(value.left), *_texts(value.right)]
    return []


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_structure(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("_import_structure", "import_structure")


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return ""


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_dotted(d) == "staticmethod" for d in node.decorator_list)


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_dotted(d).endswith(("property", "setter")) for d in node.decorator_list)


def _is_class_variable(node: ast.expr) -> bool:
    return _dotted(node).endswith("ClassVar")
