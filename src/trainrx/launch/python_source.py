"""A training program that sets its arguments in Python (`SFTConfig(max_length=2048)`).

Nothing is executed: keyword arguments of the known classes are read from the syntax tree. Literals
count, and names bound once to a literal; all else is set but not known.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.frameworks.common.recognise import by_precedence
from trainrx.inputs.recognise import PROGRAM
from trainrx.launch.python_values import Values, text_of
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.pattern import late

LARGEST = 1 << 20
"""Characters; nobody writes a longer training program, and parsing takes memory."""
MOST_LAUNCHES = 8
QUOTE = 200
MAGIC = late(r"(?m)^([ \t]*)[!%][^\n]*$")
"""Lines of a notebook that are for its shell."""

ARGUMENTS = frozenset({"TrainingArguments", "Seq2SeqTrainingArguments", "UnslothTrainingArguments"})
TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "UnslothTrainer", "SentenceTransformerTrainer"})
LORA = frozenset({"LoraConfig", "get_peft_model"})
QUANTISED = frozenset({"BitsAndBytesConfig"})
_LORA_NAMES = {"r": "lora_r", "target_modules": "lora_target_modules"}
_LORA_TELLING = frozenset({"r", "lora_alpha", "target_modules"})
_LORA_TAKEN = frozenset(
    {"lora_r", "lora_alpha", "lora_dropout", "lora_target_modules", "modules_to_save", "use_rslora"}
    | {"use_dora", "use_gradient_checkpointing"}
)
_MODEL_NAMES = {"model_name": "model_name_or_path", "pretrained_model_name_or_path": ""}
_MODEL_TAKEN = frozenset(
    {"torch_dtype", "dtype", "attn_implementation", "device_map", "load_in_4bit", "load_in_8bit"}
    | {"max_seq_length", "full_finetuning", "trust_remote_code", "fast_inference"}
    | {"gpu_memory_utilization"}
)
_TRAINER_OWN = frozenset(
    {"model", "ref_model", "args", "train_dataset", "eval_dataset", "tokenizer", "data_collator"}
    | {"processing_class", "peft_config", "callbacks", "optimizers", "reward_funcs", "compute_loss"}
    | {"compute_metrics", "preprocess_logits_for_metrics", "formatting_func", "model_init"}
    | {"reward_processing_classes", "reward_model", "value_model", "judge", "rollout_func", "tools"}
)
"""Objects a trainer is handed: no arguments of a launch."""


class _Call(NamedTuple):
    """A call of interest: the name that is called, and where its arguments belong."""

    name: str
    node: ast.Call


def read_program(text: str, source: str) -> tuple[RawLaunch, ...]:
    """Give the launches a Python program holds, one for each configuration of a trainer.

    `framework` is trl, transformers or unsloth; `args` are literal keyword arguments with the line
    each stands on. Empty when the text is no Python, or calls none of the known classes.
    """
    tree = parsed(text)
    if tree is None:
        return ()
    reader = _SourceReader(text, source, tree)
    return tuple(reader.launches())[:MOST_LAUNCHES]


def is_program(text: str) -> bool:
    """Tell whether a text is Python that calls a class of a training library."""
    return PROGRAM.search(text[:LARGEST]) is not None and parsed(text) is not None


def parsed(text: str) -> ast.Module | None:
    """Parse a program or the cells of a notebook; None when it is no Python."""
    if len(text) > LARGEST or "\0" in text:
        return None
    return _parsed(text) or _parsed(MAGIC.sub(r"\1pass", text))


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a string is not ours to tell
            return ast.parse(text)
    # deep nesting ends in any of these, by the version of Python
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _SourceReader:
    """Reads one syntax tree."""

    def __init__(self, text: str, source: str, tree: ast.Module) -> None:
        self._lines = text.split("\n")
        self._source = source
        name = source.replace("\\", "/").rpartition("/")[2]
        self._program = name if name.endswith(".py") else ""
        nodes = list(ast.walk(tree))
        self._values = Values(nodes)
        found = [_Call(_name(node), node) for node in nodes if isinstance(node, ast.Call)]
        self._calls = sorted(found, key=lambda call: (call.node.lineno, call.node.col_offset))
        self._imports = {
            name
            for node in nodes
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in _imported(node)
        }
        self._env = tuple(self._variables(nodes))

    def launches(self) -> Iterator[RawLaunch]:
        """Give a launch for each configuration, or one of all that is called without any."""
        configs = [c for c in self._calls if c.name in ARGUMENTS or _is_own(c, "Config")]
        trainers = [c for c in self._calls if c.name in TRAINERS or _is_own(c, "Trainer")]
        tuned = [call for call in self._calls if call.name in LORA]
        shared = (*self._model(), *self._tuner(tuned), *self._data(trainers))
        for call in configs:
            own = (*self._arguments(call), *self._trainer(trainers))
            yield self._launch(call, trainers, (*own, *shared), whole=_is_whole(call))
        if not configs and (trainers or tuned):
            own = tuple(self._trainer(trainers))
            yield self._launch((*trainers, *tuned)[0], trainers, (*own, *shared), whole=False)

    def _launch(
        self, call: _Call, trainers: Sequence[_Call], args: Sequence[RawArg], *, whole: bool
    ) -> RawLaunch:
        classes = [item.name for item in (call, *trainers)]
        framework, command = next(
            (one.name, found)
            for one in by_precedence()
            if (found := one.in_python(classes, self._imports)) is not None
        )
        first: dict[str, RawArg] = {}
        for arg in args:
            first.setdefault(arg.name, arg)
        return RawLaunch(
            framework=framework,
            command=command,
            args=tuple(first.values()),
            env=self._env,
            origin=self._origin(call.node),
            args_complete=whole,
            # what the shell around the program sets is not at hand
            env_complete=False,
            program=self._program,
        )

    def _arguments(
        self,
        call: _Call,
        names: Mapping[str, str] | None = None,
        taken: frozenset[str] | None = None,
    ) -> Iterator[RawArg]:
        for item in call.node.keywords:
            name = (names or {}).get(item.arg or "", item.arg or "")
            if name and (taken is None or name in taken):
                yield self._arg(name, item.value)

    def _trainer(self, trainers: Sequence[_Call]) -> Iterator[RawArg]:
        for call in trainers:
            yield from (a for a in self._arguments(call) if a.name not in _TRAINER_OWN)

    def _model(self) -> Iterator[RawArg]:
        """Give what the model is loaded with: a tokenizer is not one."""
        for call in self._calls:
            owner = _owner(call.node)
            if call.name != "from_pretrained" or not re.search(r"Model|Transformer", owner):
                continue
            if call.node.args:
                yield self._arg("model_name_or_path", call.node.args[0])
            names = {**_MODEL_NAMES, "pretrained_model_name_or_path": "model_name_or_path"}
            yield from self._arguments(call, names, _MODEL_TAKEN | {"model_name_or_path"})
        for call in self._calls:
            if call.name in QUANTISED:
                yield from self._arguments(call)
            for item in call.node.keywords if _is_own(call, "Trainer") else ():
                if item.arg == "model" and self._values.of(item.value):
                    yield self._arg("model_name_or_path", item.value)

    def _tuner(self, tuned: Sequence[_Call]) -> Iterator[RawArg]:
        for call in tuned:
            if any(item.arg in _LORA_TELLING for item in call.node.keywords):
                at = self._origin(call.node)
                yield RawArg(name="use_peft", values=("true",), origin=at, via="config")
            yield from self._arguments(call, _LORA_NAMES, _LORA_TAKEN)

    def _data(self, trainers: Sequence[_Call]) -> Iterator[RawArg]:
        for call in self._calls:
            if call.name == "load_dataset" and call.node.args:
                yield self._arg("dataset_name", call.node.args[0])
        for call in trainers:
            for item in call.node.keywords:
                if item.arg == "train_dataset":
                    origin = self._origin(item.value)
                    yield RawArg(name="dataset_name", values=None, origin=origin, via="config")

    def _variables(self, nodes: Sequence[ast.AST]) -> Iterator[EnvVar]:
        """Give the variables a program sets for itself (`os.environ["X"] = "1"`)."""
        for node in nodes:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if not isinstance(target, ast.Subscript) or not isinstance(node, ast.Assign):
                continue
            name = target.slice
            in_environ = text_of(target.value) in ("os.environ", "environ")
            if in_environ and isinstance(name, ast.Constant):
                values = self._values.of(node.value)
                value = values[0] if values else None
                yield EnvVar(name=str(name.value), value=value, origin=self._origin(node))

    def _arg(self, name: str, value: ast.expr) -> RawArg:
        values = self._values.of(value)
        return RawArg(name=name, values=values, origin=self._origin(value), via="config")

    def _origin(self, node: ast.expr | ast.stmt) -> Origin:
        text = self._lines[node.lineno - 1].strip() if node.lineno <= len(self._lines) else ""
        return Origin(source=self._source, line=node.lineno, text=text[:QUOTE])


def _is_whole(call: _Call) -> bool:
    """Tell whether all arguments of a call stand there: none is hidden in a mapping."""
    return all(item.arg is not None for item in call.node.keywords)


def _is_own(call: _Call, kind: str) -> bool:
    """Tell whether a framework has a configuration, or a trainer, of this name."""
    return any(one.python_class(call.name) == kind for one in by_precedence())


def _name(call: ast.Call) -> str:
    return text_of(call.func).rpartition(".")[2]


def _owner(call: ast.Call) -> str:
    return text_of(call.func).rpartition(".")[0]


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        yield (node.module or "").partition(".")[0]
        return
    for item in node.names:
        yield item.name.partition(".")[0]
