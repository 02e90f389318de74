"""What came of the jobs of a run, in a few lines."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.fleet.record import JobAnswer, JobOutcome
from trainrx.model.text import Lang, Text
from trainrx.render.chinese import said
from trainrx.render.layout import cells, pad

MOST_CAUSES = 15
MOST_TOLD = 10
MOST_PARAMS = 2
NOTHING = Text(en="cause not known", zh="原因未知")
ANSWERED = Text(en="{count} jobs answered", zh="已分析 {count} 个任务")
PASSED_OVER = Text(en=", {count} were answered before", zh="，另有 {count} 个此前已分析")
SPENT = Text(
    en="{cpu:.0f} s of processors, {each:.0f} ms a job",
    zh="CPU 时间 {cpu:.0f} 秒，每个 {each:.0f} 毫秒",
)
NEXT = Text(en="Next", zh="下一步")
ONE_JOB = Text(
    en="why one of them failed, with the lines it rests on and the fix",
    zh="其中一个任务的失败原因、依据的日志行和修复方法",
)
ALL_JOBS = Text(
    en="suspected nodes, versions and images, GPU hours lost per cause",
    zh="可疑的节点、版本和镜像，以及各原因损失的 GPU 时",
)
VERDICTS = Text(en="Verdicts", zh="结论")
CAUSES = Text(en="Causes, and what to change", zh="原因与需修改的参数")
LEFT_OUT = Text(en="... and {count} others", zh="……以及另外 {count} 个")
OUTCOMES: Mapping[JobOutcome, Text] = {
    "unread": Text(en="Nothing to read", zh="没有可读的内容"),
    "killed": Text(en="Ended the process that answered", zh="使分析进程终止"),
    "timed-out": Text(en="Took too long", zh="超时"),
    "error": Text(en="Could not be answered", zh="无法分析"),
}


class Overview:
    """Counts answers as they come; of those that failed the first are kept."""

    def __init__(self) -> None:
        self.count = self.passed_over = 0
        self.cpu = 0.0
        self.verdicts: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.outcomes: Counter[JobOutcome] = Counter()
        self.told: dict[JobOutcome, list[tuple[str, str]]] = {}
        self.examples: dict[str, JobAnswer] = {}

    def add(self, answer: JobAnswer) -> None:
        """Count an answer."""
        self.count += 1
        self.cpu += answer.cpu_seconds
        self._sort(answer)

    def remember(self, answers: Iterable[JobAnswer]) -> None:
        """Count what was answered before: of the same jobs, at no cost."""
        for answer in answers:
            self.passed_over += 1
            self._sort(answer)

    def _sort(self, answer: JobAnswer) -> None:
        self.outcomes[answer.outcome] += 1
        if answer.verdict:
            self.verdicts[answer.verdict] += 1
        if answer.verdict in ("diagnosed", "suspected", "will_fail", "unknown"):
            cause = answer.causes[0][0] if answer.causes else ""
            self.causes[cause] += 1
            self.examples.setdefault(cause, answer)
        if answer.outcome in OUTCOMES:
            told = self.told.setdefault(answer.outcome, [])
            if len(told) < MOST_TOLD:
                told.append((answer.key, answer.said))


def lines(found: Overview, lang: Lang) -> Iterator[str]:
    """Write what was counted: the most frequent first, then what could not be answered."""
    more = PASSED_OVER.in_(lang).format(count=found.passed_over) if found.passed_over else ""
    yield ANSWERED.in_(lang).format(count=found.count) + more
    if found.count:
        each = 1000 * found.cpu / found.count
        yield SPENT.in_(lang).format(cpu=found.cpu, each=each)
    yield from _table(VERDICTS.in_(lang), found.verdicts.most_common())
    most = found.causes.most_common(MOST_CAUSES)
    shown = [(name or NOTHING.in_(lang), count) for name, count in most]
    yield from _table(CAUSES.in_(lang), shown, [_advice(found.examples[name]) for name, _ in most])
    if len(found.causes) > MOST_CAUSES:
        yield "  " + LEFT_OUT.in_(lang).format(count=len(found.causes) - MOST_CAUSES)
    for outcome, told in found.told.items():
        yield ""
        yield f"{OUTCOMES[outcome].in_(lang)}: {found.outcomes[outcome]}"
        yield from (f"  {key}: {said(why, lang)}" for key, why in told)
        if found.outcomes[outcome] > len(told):
            yield "  " + LEFT_OUT.in_(lang).format(count=found.outcomes[outcome] - len(told))


def following(found: Overview, history: str, lang: Lang) -> Iterator[str]:
    """Say what to run next: on one job of the most frequent cause, and on all of them."""
    folders = (found.examples[cause].folder for cause, _ in found.causes.most_common())
    folder = next(filter(None, folders), "")
    if not (folder or history):
        return
    commands = [(f"diagnose {shlex.quote(folder)}", ONE_JOB)] if folder else []
    if history:
        report = f"diagnose fleet report --history {shlex.quote(history)}"
        commands.append((report, ALL_JOBS))
    yield ""
    yield NEXT.in_(lang)
    for command, why in commands:
        yield f"  {command}"
        yield f"      {why.in_(lang)}"


def _advice(answer: JobAnswer) -> str:
    """Give what its answer says to change."""
    return ", ".join(dict.fromkeys(param for param, _ in answer.changes[:MOST_PARAMS]))


def _table(title: str, rows: Sequence[tuple[str, int]], notes: Sequence[str] = ()) -> Iterator[str]:
    if not rows:
        return
    width = max(cells(name) for name, _ in rows)
    yield ""
    yield title
    for at, (name, count) in enumerate(rows):
        note = notes[at] if notes else ""
        yield f"  {pad(name, width)}  {count:>7}  {note}".rstrip()
