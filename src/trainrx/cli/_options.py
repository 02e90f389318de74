"""The options that several commands take, each declared once, and the request they make."""

# No postponed annotations: typer reads them.
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature, get_annotations, signature
from pathlib import Path
from typing import Annotated, Literal, cast

import msgspec
import typer

from trainrx.cli._output import read_stdin
from trainrx.launch.request import Inputs, PathLike, Paths, Request, request_of
from trainrx.linter.files import SCRIPTS
from trainrx.model.errors import UsageError
from trainrx.model.text import Lang, language
from trainrx.sanitizer import Level

Command = Callable[..., int]
Files = list[Path] | None
VERSIONS_HELP = "Output of pip freeze, ds_report, ..., or ms-swift==3.2.1,torch==2.5.1 itself."


class LaunchOptions(msgspec.Struct):
    """What starts the job."""

    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", show_default=False, hidden=True)
    ] = None
    cmd: Annotated[
        list[str] | None,
        typer.Option(
            "--cmd",
            metavar="FILE|COMMAND",
            help="Launch script, or the command itself in quotes; may be repeated.",
        ),
    ] = None
    config: Annotated[
        Files,
        typer.Option(
            "--config", metavar="FILE", help="YAML or JSON config of the launch; may be repeated."
        ),
    ] = None


class Installed(msgspec.Struct):
    """What it runs in."""

    env: Annotated[
        Path | None, typer.Option("--env", metavar="FILE", help="Output of `env` where it ran.")
    ] = None
    versions: Annotated[
        str | None, typer.Option("--versions", metavar="FILE|NAME==VERSION", help=VERSIONS_HELP)
    ] = None
    framework: Annotated[
        str | None,
        typer.Option(
            "--framework",
            metavar="NAME[==VERSION]",
            help="What trains, e.g. ms-swift; of use where no launch tells.",
        ),
    ] = None


class Machine(msgspec.Struct):
    """What it runs on."""

    gpu: Annotated[
        list[str] | None,
        typer.Option(
            "--gpu", metavar="NAME|24GiB", help="The card; estimate and plan compare several."
        ),
    ] = None
    gpus: Annotated[
        int | None, typer.Option("--gpus", metavar="N", min=1, help="GPUs of the whole job.")
    ] = None
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", min=1, help="Machines of the job.")
    ] = None
    model_config: Annotated[
        Path | None,
        typer.Option("--model-config", metavar="FILE", help="The model's config.json."),
    ] = None


class Seen(msgspec.Struct):
    """What it printed, and what somebody saw."""

    log: Annotated[
        Files, typer.Option("--log", metavar="FILE", help="What the job printed; may be repeated.")
    ] = None
    note: Annotated[
        list[str] | None,
        typer.Option(
            "--note", metavar="TEXT", help="What you saw, in your words; may be repeated."
        ),
    ] = None


class Good(msgspec.Struct):
    """What to compare with."""

    good: Annotated[
        Path | None,
        typer.Option("--good", metavar="FILE", help="A launch that worked, to compare with."),
    ] = None


class Answered(msgspec.Struct):
    """What is replied to the questions of an answer."""

    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="ID=VALUE|ID=@FILE",
            help="Answer a question: yes, no, unknown, a value, or what its command printed.",
        ),
    ] = None


class Data(msgspec.Struct):
    """What it learns from."""

    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="[FILE]",
            help="Read a sample of the training data: this file, or what the launch names.",
        ),
    ] = None


DATA = "--data"
OF_THE_LAUNCH = "launch"
"""What stands for the data the launch names itself."""


def with_data(words: list[str]) -> list[str]:
    """Write out `--data` without a file: an option's value may not be left out in typer.

    What follows it is a file of data, unless it is an option or holds a launch.
    """
    out: list[str] = []
    for at, word in enumerate(words):
        alone = word == DATA and not _is_data(words[at + 1 : at + 2])
        out.append(f"{DATA}={OF_THE_LAUNCH}" if alone else word)
    return out


def _is_data(following: list[str]) -> bool:
    name = next(iter(following), "-")
    holds_launch = name.lower().endswith((*SCRIPTS, ".yaml", ".yml", ".py", ".log"))
    return not name.startswith("-") and not holds_launch and not Path(name).is_dir()


class Folders(msgspec.Struct):
    """What is known beside what is shipped."""

    kb: Annotated[
        Files,
        typer.Option(
            "--kb", metavar="DIR", help="More knowledge, laid out like kb/; may be repeated."
        ),
    ] = None
    rules: Annotated[
        Files, typer.Option("--rules", metavar="DIR", help="More rules; may be repeated.")
    ] = None


LangOption = Annotated[
    Lang | None,
    typer.Option("--lang", help="Language of the answer; default from LC_ALL, LC_MESSAGES, LANG."),
]
WidthOption = Annotated[
    int | None,
    typer.Option("--width", min=20, max=1000, hidden=True, help="Columns of the text."),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="NAME,...", help="Parameters that must stay as they are."),
]


class Language(msgspec.Struct):
    """What the answer is written in."""

    lang: LangOption = None


class Display(msgspec.Struct):
    """How an answer is shown, and what of the inputs it does not show."""

    redact: Annotated[
        Literal["secrets", "strict"],
        typer.Option(
            "--redact", help="Mask keys and tokens, or also hosts, addresses, users and folders."
        ),
    ] = "secrets"
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Mask nothing.")] = False
    width: WidthOption = None

    @property
    def level(self) -> Level:
        """Give what is masked."""
        return "none" if self.no_redact else self.redact


JOB = (LaunchOptions, Installed, Machine, Seen)
"""What a job is described by."""
KNOWN = (Folders, Language)


def takes(*groups: type[msgspec.Struct]) -> Callable[[Command], Command]:
    """Give a command the options of some groups: it gets them as one `Request`, its first argument.

    A further argument whose type is a record stands for the options that are the record's fields.
    """
    shared = [parameter for group in groups for parameter in _options(group)]

    def decorate(command: Command) -> Command:
        own = list(signature(command, eval_str=True).parameters.values())[1:]
        records = {p.name: p.annotation for p in own if _is_record(p.annotation)}

        @wraps(command, assigned=("__module__", "__name__", "__doc__"))
        def run(**options: object) -> int:
            request = request_from({p.name: options.pop(p.name) for p in shared})
            for name, kind in records.items():
                fields = (p.name for p in _options(kind))
                options[name] = kind(**{field: options.pop(field) for field in fields})
            return command(request, **options)

        flat = [q for p in own for q in (_options(records[p.name]) if p.name in records else [p])]
        named = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*shared, *flat)]
        vars(run)["__signature__"] = Signature(named)
        return run

    return decorate


def _options(record: type[msgspec.Struct]) -> list[Parameter]:
    """Give the fields of a record as parameters; all have a default."""
    # `signature` of a record walks through all that each annotation is made of
    named = zip(record.__struct_fields__, record.__struct_defaults__, strict=True)
    kinds = get_annotations(record, eval_str=True)
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kinds[name])
        for name, default in named
    ]


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def request_from(given: Mapping[str, object]) -> Request:
    """Make a request of what the options of some groups say, standard input read."""
    named = {name: value for name, value in given.items() if value is not None}
    paths, good = named.pop("paths", ()), named.pop("good", None)
    answers = answers_of(cast("list[str]", named.pop("answer", [])))
    if "log" in named:
        named["logs"] = named.pop("log")
    if "versions" in named:
        named["versions"] = versions_of(str(named["versions"]), "--versions")
    if named.get("data") == OF_THE_LAUNCH:
        named["data"] = ""
    named.setdefault("lang", language(os.environ))
    request = request_of(
        cast("Paths", paths), cast("Inputs", named), cast("PathLike | None", good), answers
    )
    single = (request.env, request.versions_file, request.good, request.model_config)
    outputs = (reply.path for reply in request.answers)
    return msgspec.structs.replace(request, stdin=read_stdin((*request.files, *single, *outputs)))


def answers_of(given: Iterable[str]) -> dict[str, PathLike]:
    """Read `ID=VALUE`, `ID=@FILE` and `ID=-`; of two answers to one question the last counts.

    Raises:
        UsageError: one has no `=`.
    """
    out: dict[str, PathLike] = {}
    for text in given:
        ident, equals, value = text.partition("=")
        if not equals or not ident.strip() or not value.strip():
            raise UsageError(
                f"--answer {text}: expected ID=VALUE, ID=@FILE or ID=- (standard input); the ids "
                "of the open questions stand in `asks` of --format json"
            )
        value = value.strip()
        is_file = value == "-" or (value.startswith("@") and len(value) > 1)
        out[ident.strip()] = Path(value.removeprefix("@")) if is_file else value
    return out


def versions_of(given: str | None, option: str) -> Path | dict[str, str] | None:
    """Give the file, or the versions written out; a file of that name goes first.

    Raises:
        UsageError: it is neither.
    """
    if given is None or given == "-" or Path(given).exists():
        return None if given is None else Path(given)
    if "=" not in given:
        return Path(given)
    from trainrx.versions.listing import read_versions

    listed = read_versions(given.replace(",", "\n").replace(" ", "\n"), option)
    found = listed.texts()
    if not found or listed.unread:
        why = f" ({listed.unread[0].reason})" if listed.unread else ""
        raise UsageError(
            f"{option} {given}: expected a file, or versions like ms-swift==3.2.1{why}"
        )
    return found


def names_of(given: list[str] | None) -> tuple[str, ...]:
    """Take `a,b` and what is given again apart."""
    return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())
