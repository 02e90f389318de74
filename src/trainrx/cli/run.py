"""`diagnose run`: a job started as it is, looked at while it runs, and answered for."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, Display, Installed, Machine, takes
from trainrx.cli._output import complain, fitted, guarded, view
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.text import Text

if TYPE_CHECKING:
    from trainrx.collect.observe import JobObserver
    from trainrx.collect.stall import Stall, StallRule
    from trainrx.render.document import View

HELP = """\
Start a job and say why it failed, or why it stands still; the job itself runs as without us.

Its exit status, its signals and its terminal are its own, and it runs on when this program is
killed. When no rank gets any further for many times its usual step, the stacks of its processes are
taken into a bundle and an answer is printed on standard error; so they are on SIGUSR1. When it
fails, the answer follows. Needs trainrx[collect] for stacks.

\b
  diagnose run -- torchrun --nproc_per_node 8 train.py --config sft.yaml
  diagnose run --stall 3600 -- bash launch.sh > train.log 2>&1
  kill -USR1 PID
"""
Words = Annotated[list[str], typer.Argument(metavar="COMMAND...", show_default=False)]
StallOption = Annotated[
    float,
    typer.Option(
        "--stall",
        metavar="SECONDS",
        min=1,
        help="A silence before the first step may last so long; later ten usual steps.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where bundles go; the current folder."),
]
NoRecorder = Annotated[
    bool, typer.Option("--no-recorder", help="Leave the variables of torch's recorder alone.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing when the job fails.")]

NO_PROGRESS = Text(
    en="no progress for {silent}; the stacks of the job are taken",
    zh="已有 {silent} 没有进展；正在采集任务的调用栈",
)
ASKED = Text(
    en="asked by SIGUSR1: the stacks of the job are taken", zh="收到 SIGUSR1：正在采集任务的调用栈"
)
BUNDLE = Text(en="evidence: {path}", zh="证据：{path}")
MINUTES, SECONDS = Text(en="{} min", zh="{} 分钟"), Text(en="{} s", zh="{} 秒")
SHORT = 180.0
"""Seconds below which a time is said in seconds."""
RECORDER = Text(
    en="set for the recorder of torch: {names} (--no-recorder leaves them alone)",
    zh="为 torch 的记录器设置了 {names}（--no-recorder 则不设置）",
)

app = make_app()
PASSING = {"allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}
"""What follows the command is the command's own."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for besides the job."""

    request: Request
    seen: View
    folder: Path
    out: Path
    rule: StallRule
    quiet: bool
    env: Mapping[str, str]


@app.command(help=HELP, context_settings=PASSING)
@takes(Installed, Machine, *KNOWN)
def run(
    request: Request,
    display: Display,
    words: Words,
    *,
    stall: StallOption = 1800.0,
    out: Out = None,
    no_recorder: NoRecorder = False,
    quiet: Quiet = False,
) -> int:
    """Run a job; end as it ends."""
    from trainrx.collect import supervise
    from trainrx.collect.stall import StallRule

    seen = view(request.lang, display.width, display.level)._replace(colour=False, terminal=True)
    env = started_environment()
    folder = Path(tempfile.mkdtemp(prefix="trainrx-run-"))
    request, more = _prepared(request, words, env)
    if not no_recorder and more:
        complain(RECORDER.in_(request.lang).format(names=_assigned(more)), level=display.level)
    options = RunOptions(
        request=request,
        seen=seen,
        folder=folder,
        out=out or Path.cwd(),
        rule=StallRule(starting=stall, least=min(StallRule().least, stall)),
        quiet=quiet,
        env=env,
    )
    supervisor = supervise.Supervisor(folder, lambda told: _observe(told, options))
    try:
        ended = supervisor.run(words, env if no_recorder else {**env, **more})
    except supervise.CommandError as error:
        complain(str(error), request.lang, display.level)
        return error.status
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return supervise.end_as(ended.status)


def started_environment() -> dict[str, str]:
    """Give the environment we were started with: Python sets LC_CTYPE where the locale is C."""
    env = dict(os.environ)
    try:
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return env
    if not any(one.startswith(b"LC_CTYPE=") for one in given):
        env.pop("LC_CTYPE", None)
    return env


def _prepared(
    request: Request, words: list[str], env: Mapping[str, str]
) -> tuple[Request, dict[str, str]]:
    """Add to a request what is known of a job before its start; give what its recorder needs."""
    from trainrx.collect.recorder import installed_packages, recorder_variables, version_of

    packages = installed_packages(words, env)
    if request.versions is None and request.versions_file is None and packages:
        request = msgspec.structs.replace(request, versions=packages)
    request = msgspec.structs.replace(request, cmd=(shlex.join(words),))
    return request, recorder_variables(version_of(packages.get("torch")), env)


def _assigned(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())


def _observe(told: int, options: RunOptions) -> None:
    """Look at the job until it has ended, and answer where that is wanted."""
    from trainrx.collect.observe import JobObserver
    from trainrx.collect.stall import Stall
    from trainrx.collect.supervise import JobEnded

    observer = JobObserver(told, options.rule, options.folder)
    speaker = _Speaker(options, observer)
    lang, level = options.request.lang, options.seen.redaction
    for event in observer.events():
        if not isinstance(event, JobEnded):
            why = speaker.stands_still(event) if isinstance(event, Stall) else speaker.was_asked()
            guarded(partial(speaker.collect, why), lang, level)
        elif event.failed and not options.quiet:
            guarded(speaker.answer_failure, lang, level)
    observer.close()


class _Speaker:
    """What is said of a job on standard error."""

    def __init__(self, options: RunOptions, observer: JobObserver) -> None:
        self._options = options
        self._observer = observer
        self._bundles: list[Path] = []

    def stands_still(self, stall: Stall) -> str:
        """Say how long the job has stood still."""
        lang = self._options.request.lang
        minutes = stall.silent >= SHORT
        number = round(stall.silent / 60 if minutes else stall.silent)
        silent = (MINUTES if minutes else SECONDS).in_(lang).format(number)
        return NO_PROGRESS.in_(lang).format(silent=silent)

    def was_asked(self) -> str:
        """Say that somebody asked."""
        return ASKED.in_(self._options.request.lang)

    def collect(self, why: str) -> int:
        """Say why, take the evidence of the job as it is, and answer."""
        from trainrx.collect.processes import WantedJob, find_job
        from trainrx.collect.take import TakeOptions, take

        self._say(f"diagnose: {why}\n")
        job = find_job(WantedJob(pid=self._observer.pid))
        options = TakeOptions(out=self._options.out, level=self._options.seen.redaction)
        found = take(job, options)
        if found.path is not None:
            self._bundles = [found.path]
            named = BUNDLE.in_(self._options.request.lang).format(path=found.path)
            self._say(f"diagnose: {named}\n")
        return self._answer()

    def answer_failure(self) -> int:
        """Answer for a job that has failed."""
        from trainrx.collect.recorder import recorder_dumps

        self._bundles += recorder_dumps(self._options.env, self._observer.started)
        return self._answer()

    def _answer(self) -> int:
        from trainrx.render import render
        from trainrx.verdict import run as verdict

        request = msgspec.structs.replace(
            self._options.request,
            paths=tuple(str(path) for path in self._bundles),
            logs=tuple(str(path) for path in self._observer.outputs()),
        )
        found = verdict.diagnose(request, LoadedKnowledge(request.kb, request.rules), top=5)
        self._say(f"\n{render(found, 'text', self._options.seen)}")
        return 0

    def _say(self, text: str) -> None:
        """Write to standard error in one piece, so that it can be told from what the job prints."""
        data = fitted(text, sys.stderr.encoding or "utf-8").encode()
        self._observer.disown(data)
        os.write(2, data)
