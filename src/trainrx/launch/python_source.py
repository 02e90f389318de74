"""A training program that sets its arguments in Python (`SFTConfig(max_length=2048)`).

Nothing is executed: keyword arguments of the known classes are read from the syntax tree, and what
they are as far as the text tells; all else is set but not known.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from trainrx.frameworks import frameworks
from trainrx.frameworks.common.recognise import by_precedence
from trainrx.frameworks.common.view import UNKNOWN
from trainrx.inputs.recognise import IMPORT, PROGRAM
from trainrx.launch.python_model import (
    LORA,
    MODEL_TAKEN,
    Call,
    Program,
    adapter_arguments,
    data_arguments,
    is_own,
    model_arguments,
    variables,
)
from trainrx.launch.python_modules import ReadModule, take_in
from trainrx.launch.python_names import text_of
from trainrx.launch.python_values import DATACLASS_PARSERS
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.pattern import late

LARGEST = 1 << 20
"""Characters; nobody writes a longer training program, and parsing takes memory."""
MOST_LAUNCHES = 8
MOST_BASES = 8
"""Classes between one of the program and the library's it is derived from."""
_LIBRARIES = frozenset({"sentence_transformers", "peft"})
"""What the classes of trainers are imported from as well, beside frameworks."""
MAGIC = late(r"(?m)^([ \t]*)[!%][^\n]*$")
"""Lines of a notebook that are for its shell."""
FORMATTED = late(r"(?i)\b(?:f|rf|fr)['\"]")
MOST_MENDED = 8
"""Lines of a program that may be no Python."""

ARGUMENTS = frozenset({"TrainingArguments", "Seq2SeqTrainingArguments", "UnslothTrainingArguments"})
TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "UnslothTrainer", "SentenceTransformerTrainer"})
_TRAINER_OWN = frozenset(
    {"model", "ref_model", "args", "train_dataset", "eval_dataset", "tokenizer", "data_collator"}
    | {"processing_class", "peft_config", "callbacks", "optimizers", "reward_funcs", "compute_loss"}
    | {"compute_metrics", "preprocess_logits_for_metrics", "formatting_func", "model_init"}
    | {"reward_processing_classes", "reward_model", "value_model", "judge", "rollout_func", "tools"}
    | {"environment_factory", "quantization_config", "loss", "evaluator"}
)
"""Objects a trainer is handed: no arguments of a launch."""


def read_program(
    text: str,
    source: str,
    options: Mapping[str, object] | None = None,
    modules: ReadModule | None = None,
) -> tuple[RawLaunch, ...]:
    """Give the launches a Python program holds, one for each configuration of a trainer.

    `framework` is trl, transformers or unsloth; `args` are keyword arguments with the line each
    stands on. Empty when the text is no Python, or calls none of the known classes.

    Args:
        text: the program.
        source: what it is called, for origins.
        options: what the command that runs it sets, by name without dashes.
        modules: reads modules of its own repository.
    """
    tree = parsed(text)
    if tree is None:
        return ()
    files = {} if modules is None else take_in(tree, modules, parsed)
    reader = _SourceReader(Program(text, source, tree, options, files), source)
    return tuple(reader.launches())[:MOST_LAUNCHES]


def is_program(text: str) -> bool:
    """Tell whether a text is Python that calls a class of a training library."""
    return PROGRAM.search(text[:LARGEST]) is not None and parsed(text) is not None


def parsed(text: str) -> ast.Module | None:
    """Parse a program or the cells of a notebook; None when it is no Python.

    A statement of a newer Python than this one, and what a post cut off, is passed over.
    """
    if len(text) > LARGEST or "\0" in text:
        return None
    tree, line = _parsed(text)
    if tree is None:
        text = MAGIC.sub(r"\1pass", text)
        tree, line = _parsed(text)
    for _ in range(MOST_MENDED if IMPORT.search(text) else 0):
        lines = text.split("\n")
        if tree is not None or line is None or not 0 < line <= len(lines):
            break
        # an empty text may stand for a statement and for a part of a longer text
        lines[line - 1] = re.sub(r"\S.*", '""', lines[line - 1])
        text = "\n".join(lines)
        tree, line = _parsed(text)
    return tree


def _parsed(text: str) -> tuple[ast.Module | None, int | None]:
    """Parse a program, or give the line that is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a string is not ours to tell
            return ast.parse(text), None
    except SyntaxError as error:
        return None, _formatted_above(text, error) or error.lineno
    # deep nesting ends in any of these, by the version of Python
    except (ValueError, RecursionError, MemoryError):
        return None, None


def _formatted_above(text: str, error: SyntaxError) -> int | None:
    """Find the f-string an error is in: up to Python 3.11 the line behind it may be cited."""
    if not error.msg.startswith("f-string") or error.lineno is None:
        return None
    lines = enumerate(text.split("\n")[: error.lineno], start=1)
    return max((number for number, line in lines if FORMATTED.search(line)), default=None)


class _SourceReader:
    """Reads the launches of one program."""

    def __init__(self, program: Program, source: str) -> None:
        self._in = program
        name = source.replace("\\", "/").rpartition("/")[2]
        self._program = name if name.endswith(".py") else ""
        self._imports = {
            name
            for node in program.names.nodes
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in _imported(node)
        }
        self._foreign = frozenset(_foreign(program.names.nodes))
        self._env = tuple(variables(program))

    def launches(self) -> Iterator[RawLaunch]:
        """Give a launch for each configuration, or one of all that is called without any."""
        configs = [*islice(self._configured(), MOST_LAUNCHES)]
        calls = self._in.calls
        trainers = [
            call
            for call in calls
            if call.name not in self._foreign
            and (call.name in TRAINERS or is_own(call.name, "Trainer"))
        ]
        tuned = [call for call in calls if call.name in LORA]
        shared = (
            *self._trainer(trainers),
            *model_arguments(self._in),
            *adapter_arguments(self._in, tuned),
            *data_arguments(self._in, trainers),
        )
        for call, own, whole in configs:
            yield self._launch(call, trainers, (*own, *shared), whole=whole)
        if not configs and (trainers or tuned):
            yield self._launch((*trainers, *tuned)[0], trainers, shared, whole=False)

    def _trainer(self, trainers: Sequence[Call]) -> Iterator[RawArg]:
        for call in trainers:
            yield from (a for a in self._in.arguments(call) if a.name not in _TRAINER_OWN)

    def _configured(self) -> Iterator[tuple[Call, list[RawArg], bool]]:
        """Give each configuration of a trainer with its arguments, and whether these are all."""
        for call in self._in.calls:
            known = self._library_class(call.name)
            if known is not None:
                given = [*self._in.values.keywords(call.node)]
                own = [*self._assigned(call.node, None)]
                own += (self._in.as_arg(name, at, value) for name, at, value in given if name)
                own += self._loaded(given)
                whole = all(name for name, _, _ in given)
                yield call._replace(name=known), [*own, *self._declared(call.name)], whole
            for number, name in enumerate(self._parsed(call)):
                known = self._library_class(name)
                if known is not None:
                    own = [*self._assigned(call.node, number), *self._declared(name)]
                    yield call._replace(name=known), own, False

    def _loaded(self, given: Sequence[tuple[str, ast.expr, object]]) -> Iterator[RawArg]:
        """Give what a configuration hands on to where the model is loaded."""
        for name, at, value in given:
            if name == "model_init_kwargs" and isinstance(value, dict):
                for key in MODEL_TAKEN & value.keys():
                    yield self._in.as_arg(key, at, value[key])

    def _parsed(self, call: Call) -> Sequence[str]:
        """Give the classes whose objects a parser makes of the command line."""
        return self._in.values.parsed_classes(call.node) if call.name in DATACLASS_PARSERS else ()

    def _library_class(self, name: str, depth: int = 0) -> str | None:
        """Give the configuration of a library a class is, or is derived from."""
        node = self._in.names.classes.get(name)
        if node is None and name in self._foreign:
            return None
        if node is None or depth >= MOST_BASES:
            return name if name in ARGUMENTS or is_own(name, "Config") else None
        bases = [text_of(base).rpartition(".")[2] for base in node.bases]
        found = (self._library_class(b, MOST_BASES if b == name else depth + 1) for b in bases)
        return next((known for known in found if known is not None), None)

    def _declared(self, name: str) -> Iterator[RawArg]:
        """Give what a class of the program sets otherwise than the library's it is derived from."""
        node = self._in.names.classes.get(name)
        if node is None:
            return
        values = self._in.values.fields(name)
        for statement in node.body:
            target = statement.target if isinstance(statement, ast.AnnAssign) else None
            if isinstance(target, ast.Name) and target.id in values:
                yield self._in.as_arg(target.id, statement, values[target.id])

    def _assigned(self, made: ast.Call, item: int | None) -> Iterator[RawArg]:
        """Give what is set on a configuration later (`training_args.bf16 = True`)."""
        if item is None:
            objects = {name for name, _ in self._in.names.targets(made)}
        else:
            parses = (c.node for c in self._in.calls if c.name.startswith("parse_"))
            bound = (found for node in parses for found in self._in.names.targets(node))
            objects = {name for name, number in bound if number in (item, None)}
        for text, bindings in self._in.names.attributes.items():
            owner, _, name = text.rpartition(".")
            last = bindings[-1]
            if owner in objects and last.value is not None:
                runs = self._in.values.holds(last.conditions) is True
                value = self._in.values.value(last.value) if runs else UNKNOWN
                yield self._in.as_arg(name, last.value, value)

    def _launch(
        self, call: Call, trainers: Sequence[Call], args: Sequence[RawArg], *, whole: bool
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
            origin=self._in.origin(call.node),
            args_complete=whole,
            # what the shell around the program sets is not at hand
            env_complete=False,
            program=self._program,
            started_unseen=True,
            program_read=True,
        )


def _foreign(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Give what a program calls by names of a library, but imports from somewhere else."""
    own = {folder for one in frameworks() for folder in (*one.folders, one.name)} | _LIBRARIES
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level and _root(node) not in own:
            yield from (item.asname or item.name for item in node.names)


def _root(node: ast.ImportFrom) -> str:
    return (node.module or "").partition(".")[0]


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        yield (node.module or "").partition(".")[0]
        return
    for item in node.names:
        yield item.name.partition(".")[0]
