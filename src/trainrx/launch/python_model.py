"""What a Python program loads, adapts and trains on, and the variables it sets for itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.catalog.keywords import PEFT_KEYWORDS
from trainrx.frameworks.common.recognise import by_precedence
from trainrx.frameworks.common.view import UNKNOWN
from trainrx.launch.python_literals import is_known, texts_of
from trainrx.launch.python_modules import APART, ImportedFile
from trainrx.launch.python_names import Names, text_of
from trainrx.launch.python_values import Values
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg
from trainrx.model.pattern import late

QUOTE = 200
LORA = frozenset({"LoraConfig", "get_peft_model"})
_QUANTISED = frozenset({"BitsAndBytesConfig"})
_LORA_NAMES = {keyword: name for name, keyword in PEFT_KEYWORDS.items()}
_LORA_TELLING = frozenset({"r", "lora_alpha", "target_modules"})
_LORA_TAKEN = frozenset(
    {"lora_r", "lora_alpha", "lora_dropout", "lora_target_modules", "modules_to_save", "use_rslora"}
    | {"use_dora", "use_gradient_checkpointing"}
)
_MODEL_NAMES = {
    "model_name": "model_name_or_path",
    "pretrained_model_name_or_path": "model_name_or_path",
}
_MODEL_CLASS = late(r"Model|Transformer")
MODEL_TAKEN = frozenset(
    {"torch_dtype", "dtype", "attn_implementation", "device_map", "load_in_4bit", "load_in_8bit"}
    | {"max_seq_length", "full_finetuning", "trust_remote_code", "fast_inference"}
    | {"gpu_memory_utilization"}
)
_ENVIRON = ("os.environ", "environ")
_SETTERS = ("os.environ.setdefault", "os.environ.update", "os.putenv")


class Call(NamedTuple):
    """A call: the name that is called, and where it stands."""

    name: str
    node: ast.Call


class Program:
    """A syntax tree with its calls, in order; those that no run reaches are left out."""

    def __init__(
        self,
        text: str,
        source: str,
        tree: ast.Module,
        options: Mapping[str, object] | None,
        files: Mapping[int, ImportedFile] | None = None,
    ) -> None:
        self.names = Names(tree)
        self.values = Values(self.names, options)
        self._lines = text.split("\n")
        self._source = source
        self._files = files or {}
        nodes = (node for node in self.names.nodes if isinstance(node, ast.Call))
        found = (Call(text_of(node.func).rpartition(".")[2], node) for node in nodes)
        reached = (call for call in found if self._runs(call) is not False)
        self.calls = sorted(reached, key=lambda call: (call.node.lineno, call.node.col_offset))

    def arguments(
        self,
        call: Call,
        names: Mapping[str, str] | None = None,
        taken: frozenset[str] | None = None,
    ) -> Iterator[RawArg]:
        """Give the named arguments of a call; where it may not run none is known."""
        runs = self._runs(call) is True
        for given, at, value in self.values.keywords(call.node):
            name = (names or {}).get(given, given)
            if name and (taken is None or name in taken):
                yield self.as_arg(name, at, value if runs else UNKNOWN)

    def arg(self, name: str, value: ast.expr) -> RawArg:
        """Give what an expression is as an argument."""
        return self.as_arg(name, value, self.values.value(value))

    def as_arg(self, name: str, at: ast.expr | ast.stmt, value: object) -> RawArg:
        """Give a value as an argument that stands somewhere."""
        values = texts_of(value) if is_known(value) else None
        return RawArg(name=name, values=values, origin=self.origin(at), via="config")

    def origin(self, node: ast.expr | ast.stmt) -> Origin:
        """Cite the line an expression begins in."""
        source, lines, line = self._source, self._lines, node.lineno
        if line < 0:
            source, lines, shift = self._files[-(line // APART)]
            line -= shift
        text = lines[line - 1].strip() if line <= len(lines) else ""
        return Origin(source=source, line=line, text=text[:QUOTE])

    def _runs(self, call: Call) -> bool | None:
        return self.values.holds(self.names.conditions[id(call.node)])


def is_own(name: str, kind: str) -> bool:
    """Tell whether a framework has a configuration, or a trainer, of this name."""
    return any(one.python_class(name) == kind for one in by_precedence())


def named_by(function: str) -> Mapping[str, str] | None:
    """Give what the keywords of a call are called as arguments, those that differ.

    Args:
        function: the dotted name that is called; None for one whose keywords are no arguments.
    """
    owner, _, name = function.rpartition(".")
    if name in LORA:
        return _LORA_NAMES
    if name == "from_pretrained":
        return _MODEL_NAMES if _MODEL_CLASS.search(owner) else None
    return {} if name in _QUANTISED or name.endswith(("Arguments", "Config", "Trainer")) else None


def model_arguments(program: Program) -> Iterator[RawArg]:
    """Give what the model is loaded with: a tokenizer is not one."""
    found = [*_loaded(program)]
    yield from (arg for arg in found if arg.values not in (None, ("null",)))
    for call in program.calls:
        if call.name in _QUANTISED:
            yield from program.arguments(call)
    yield from (arg for arg in found if arg.values is None)


def _loaded(program: Program) -> Iterator[RawArg]:
    for call in program.calls:
        owner = text_of(call.node.func).rpartition(".")[0]
        if call.name == "from_pretrained" and _MODEL_CLASS.search(owner):
            if call.node.args:
                yield program.arg("model_name_or_path", call.node.args[0])
            taken = MODEL_TAKEN | {"model_name_or_path"}
            yield from program.arguments(call, _MODEL_NAMES, taken)
        for item in call.node.keywords if is_own(call.name, "Trainer") else ():
            if item.arg == "model" and program.values.of(item.value):
                yield program.arg("model_name_or_path", item.value)


def adapter_arguments(program: Program, tuned: Sequence[Call]) -> Iterator[RawArg]:
    """Give what an adapter is made with, under the names of a command line."""
    for call in tuned:
        found = [*program.arguments(call)]
        telling = [arg for arg in found if arg.name in _LORA_TELLING]
        if telling:
            unsure = all(arg.values is None for arg in telling)
            yield program.as_arg("use_peft", call.node, UNKNOWN if unsure else True)
        yield from program.arguments(call, _LORA_NAMES, _LORA_TAKEN)


def data_arguments(program: Program, trainers: Sequence[Call]) -> Iterator[RawArg]:
    """Give the data a program loads."""
    for call in program.calls:
        if call.name == "load_dataset" and call.node.args:
            yield program.arg("dataset_name", _loaded_files(program, call) or call.node.args[0])
    for call in trainers:
        for item in call.node.keywords:
            if item.arg == "train_dataset":
                yield program.as_arg("dataset_name", item.value, UNKNOWN)


_FILE_READERS = frozenset({"json", "csv", "parquet", "arrow"})
_REWRITING = frozenset(
    {"map", "rename_column", "rename_columns", "add_column", "set_transform", "with_transform"}
)
"""Calls behind which rows look otherwise than in their file."""


def _loaded_files(program: Program, call: Call) -> ast.expr | None:
    """Give the file a reader of `datasets` is told, where its rows are trained on as they stand."""
    if set(program.values.of(call.node.args[0]) or ()) - _FILE_READERS:
        return None
    if any(other.name in _REWRITING for other in program.calls):
        return None
    if any(
        item.arg == "formatting_func" for other in program.calls for item in other.node.keywords
    ):
        return None
    named = {item.arg: item.value for item in call.node.keywords}
    files = named.get("data_files")
    return files if isinstance(files, ast.Constant) and isinstance(files.value, str) else None


def variables(program: Program) -> Iterator[EnvVar]:
    """Give the variables a program sets for itself (`os.environ["X"] = "1"`)."""
    for node in program.names.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if text_of(target.value) in _ENVIRON:
                yield from _variable(program, target.slice, node.value)
        elif isinstance(node, ast.Call) and text_of(node.func) in _SETTERS:
            if len(node.args) == 2:
                yield from _variable(program, node.args[0], node.args[1])
            elif node.args and isinstance(node.args[0], ast.Dict):
                for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
                    yield from _variable(program, key, value)


def _variable(program: Program, key: ast.expr | None, value: ast.expr) -> Iterator[EnvVar]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        values = program.values.of(value)
        at = program.origin(value)
        yield EnvVar(name=key.value, value=values[0] if values else None, origin=at)
