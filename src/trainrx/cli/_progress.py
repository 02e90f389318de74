"""What a command is doing, on standard error, once it takes longer than somebody likes to wait."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from trainrx.cli._output import note
from trainrx.model.progress import Activity, observed
from trainrx.model.text import Lang, Text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0
"""Seconds in which nothing is shown."""
PAUSE = 5.0
"""Seconds between lines where no terminal is."""
REDRAWN = 0.1
FOR_PEOPLE = ("text", "markdown")
SWITCH = "TRAINRX_PROGRESS"
MB = 1_000_000
BLOCKING: tuple[Activity, ...] = ("counting", "collecting", "starting")
"""What says nothing for long once it has begun, so it is shown at once."""
WORDS: Mapping[Activity, Text] = {
    "reading": Text(en="reading logs", zh="正在读取日志"),
    "searching": Text(en="looking for dumps in logs", zh="正在日志中查找转储"),
    "weighing": Text(en="weighing causes", zh="正在比较各个原因"),
    "predicting": Text(en="predicting memory", zh="正在估算显存"),
    "proving": Text(en="proving plans", zh="正在验证方案"),
    "checking": Text(en="checking files", zh="正在检查文件"),
    "counting": Text(en="running the model class without weights", zh="正在运行不带权重的模型类"),
    "collecting": Text(en="collecting evidence, round", zh="正在收集证据，轮次"),
    "starting": Text(en="running the job on the CPU", zh="正在 CPU 上试运行任务"),
    "answering": Text(en="answering jobs", zh="正在分析任务"),
}
IN_BYTES: tuple[Activity, ...] = ("reading", "searching")
RATE = Text(en=", {rate:.1f}/s, {left} left", zh="，{rate:.1f} 个/秒，还需 {left}")
AMOUNT = Text(en="{done} of {total}{unit}", zh="{done} / {total}{unit}")


@contextmanager
def progress(lang: Lang, form: str = "text") -> Iterator[None]:
    """Show what is done within: a bar on a terminal, else a line now and then.

    Nothing is shown of what is quick or answered for a program, or where TRAINRX_PROGRESS is 0.
    """
    if form not in FOR_PEOPLE or sys.stderr is None or os.environ.get(SWITCH) == "0":
        yield
        return
    bar = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    shown: PlainProgress = ProgressLine(lang) if bar else PlainProgress(lang)
    with observed(shown):
        try:
            yield
        finally:
            shown.close()


class PlainProgress:
    """What is being done, in lines: the first after some seconds, then one every few.

    Args:
        lang: what they are written in.
        now: a clock that only goes forward.
    """

    pause = PAUSE

    def __init__(self, lang: Lang, now: Callable[[], float] = time.monotonic) -> None:
        self._lang, self._now = lang, now
        self._due = now() + PATIENCE
        self._activity: Activity = "reading"
        self._began = now()
        self.done = self.total = 0

    def begin(self, activity: Activity, total: int) -> None:
        """Take note of what is done now."""
        self._activity, self.done, self.total = activity, 0, total
        self._began = self._now()
        self._show(at_once=activity in BLOCKING)

    def advance(self, by: int) -> None:
        """Take note of how far it is."""
        self.done += by
        self._show()

    def close(self) -> None:
        """End; what is said next begins a line of its own."""

    @property
    def words(self) -> str:
        """Say what is done, and how far it is where that is known."""
        said = WORDS[self._activity].in_(self._lang)
        amount = self.amount
        if not amount or self._activity == "collecting":
            return f"{said} {amount}".rstrip()
        return f"{said}{'：' if self._lang == 'zh' else ', '}{amount}{self.rate}"

    @property
    def rate(self) -> str:
        """Say of many jobs how fast they are answered, and how long the rest will take."""
        took = self._now() - self._began
        if self._activity != "answering" or not self.is_known or took < PATIENCE:
            return ""
        rate = self.done / took
        left = timedelta(seconds=round((self.total - self.done) / rate))
        return RATE.in_(self._lang).format(rate=rate, left=left)

    @property
    def is_known(self) -> bool:
        """Tell whether it is known how much there is: what is packed may hold more than that."""
        return 0 < self.done <= self.total

    @property
    def amount(self) -> str:
        """Say how much is done, and of how much where that is known."""
        of, unit = (MB, " MB") if self._activity in IN_BYTES else (1, "")
        done, total = self.done // of, -(-self.total // of)
        if not self.is_known:
            return f"{done}{unit}" if done else ""
        return AMOUNT.in_(self._lang).format(done=done, total=total, unit=unit)

    def _show(self, *, at_once: bool = False) -> None:
        now = self._now()
        if at_once or now >= self._due:
            self._due = now + self.pause
            self.show()

    def show(self) -> None:
        """Write a line."""
        note(self.words, self._lang)


class ProgressLine(PlainProgress):
    """A bar that is gone when the work is done."""

    pause = REDRAWN

    def __init__(self, lang: Lang, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(lang, now)
        self._drawn: tuple[Progress, TaskID] | None = None

    def show(self) -> None:
        """Draw it."""
        if self._drawn is None:
            self._drawn = _drawn()
        progress, task = self._drawn
        total = self.total if self.is_known else None
        progress.update(task, description=self.words, completed=self.done, total=total)

    def close(self) -> None:
        """Take it away."""
        if self._drawn is not None:
            self._drawn[0].stop()


def _drawn() -> tuple[Progress, TaskID]:
    # loaded only by who waits
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
    )
    drawn = Progress(*columns, console=Console(stderr=True), transient=True)
    drawn.start()
    return drawn, drawn.add_task("", total=None)
