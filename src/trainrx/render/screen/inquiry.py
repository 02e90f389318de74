"""What else can be behind a failure, and what to find out."""

from __future__ import annotations

from trainrx.model.pattern import late
from trainrx.model.result import Ask, CauseOut, Diagnosis, DifferentialItem
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import is_supported
from trainrx.render.document import CopyLine, Elastic, View, children, elastic
from trainrx.render.screen.verdict import FORESEEN, named_cause
from trainrx.sanitizer.controls import clean

LEAST_SHOWN = 0.1
"""A runner-up less probable than this is for `--explain`."""
MOST_RUNNERS_UP = 3
MOST_DIFFERENTIAL, MOST_IN_CHAT = 5, 3
MOST_ASKED = 3
LAUNCH = "launch"
"""The question for the launch."""
LOGS = ("log", "rank-log")
"""The questions for what a job printed."""
WHOLE_LOG = "whole-log"
"""The question for a log that says more, void where a cause was found without one."""
WRITTEN = ("arg", "env", "config_file")
"""Kinds of change that are written into a launch."""
OURS = "diagnose "
"""What commands of our own begin with."""
OF_A_RUN = ("log", "oom", "failure", "series", "symptom", "collective", "rank", "stack")
"""What the questions begin with that a launch which has not run cannot answer."""
_OPTION = late(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
SEND = Text(en="Send {what} here.", zh="请把{what}发到这里。")
INPUTS: dict[str, Text] = {
    "cmd": Text(en="the launch script", zh="启动脚本"),
    "log": Text(en="the whole log", zh="完整日志"),
    "versions": Text(en="the output of `pip list`", zh="`pip list` 的输出"),
    "config": Text(en="the configuration", zh="配置文件"),
    "model-config": Text(en="the config.json of the model", zh="模型的 config.json"),
    "env": Text(en="the output of `printenv`", zh="`printenv` 的输出"),
    "gpu": Text(en="the name of the card", zh="显卡型号"),
    "gpus": Text(en="the number of GPUs", zh="GPU 数量"),
    "nodes": Text(en="the number of machines", zh="机器数量"),
    "framework": Text(en="the name of the framework", zh="框架名称"),
}
"""What is sent in the place of an option, by its name."""


def others(answer: Diagnosis, view: View) -> doc.Node | None:
    """Name the other causes that may be behind it, a line each."""
    if answer.differential and named_cause(answer) is None:
        return _differential(answer.differential, view)
    others = runners_up(answer)
    shorter = (_alternatives(others[:count], view) for count in range(len(others), 0, -1))
    forms = (*((25 * at, form) for at, form in enumerate(shorter)), (92, ()))
    return elastic(*forms) if others else None


def _alternatives(causes: tuple[CauseOut, ...], view: View) -> tuple[doc.Node, ...]:
    """Name causes under the word that says how sure they are."""
    groups = (
        (label, tuple(doc.Bullet(one.title, most=1) for one in causes if one.verdict == verdict))
        for verdict, label in words.ALSO.items()
    )
    return tuple(doc.Labelled(view.say(label), children=items) for label, items in groups if items)


def runners_up(answer: Diagnosis) -> tuple[CauseOut, ...]:
    """Give the other causes something speaks for."""
    best = named_cause(answer)
    found = (
        cause
        for cause in answer.causes
        if cause is not best and cause.probability >= LEAST_SHOWN and is_supported(cause)
    )
    return tuple(found)[:MOST_RUNNERS_UP]


def _differential(items: tuple[DifferentialItem, ...], view: View) -> Elastic:
    """Say what can be behind it, each with what would confirm it."""

    def item(one: DifferentialItem, *, signed: bool) -> doc.Bullet:
        sign = view.say(words.SIGN, what=one.confirm) if one.confirm and signed else ""
        below = (doc.Paragraph(sign, style="dim", most=1),) if sign else ()
        return doc.Bullet(one.title, most=1, children=below)

    def form(count: int, *, signed: bool) -> tuple[doc.Node, ...]:
        shown = tuple(item(one, signed=signed) for one in items[:count])
        return (doc.Labelled(view.say(words.COULD_BE), children=shown),)

    most = MOST_IN_CHAT if view.chat else MOST_DIFFERENTIAL
    return elastic(
        (0, form(most, signed=True)),
        (22, form(min(most, 4), signed=True)),
        (35, form(3, signed=True)),
        (60, form(3, signed=False)),
    )


def open_questions(answer: Diagnosis) -> tuple[Ask, ...]:
    """Give the questions worth an answer, the most useful first."""
    if answer.verdict in ("healthy", "no_problem_foreseen"):
        return ()
    ran = answer.verdict not in FORESEEN
    known = answer.verdict != "unknown"
    asks = (ask for ask in answer.asks if not known or ask.id != WHOLE_LOG)
    return tuple(ask for ask in asks if ran or ask.id.partition(".")[0] not in OF_A_RUN)


def questions(answer: Diagnosis, view: View) -> doc.Node | None:
    """Ask the most useful question, of a failure nobody can name up to three.

    In a chat one is put after the other.
    """
    open_ = open_questions(answer)
    if not open_:
        return _collect(view) if answer.verdict == "unknown" else None
    if answer.verdict in ("diagnosed", "suspected"):
        # where a cause is named only what may still overturn it, or is wanted to spell its remedy
        open_ = tuple(ask for ask in open_ if _is_worth(ask, answer))
    if not open_:
        return None
    asked = open_[: MOST_ASKED if answer.verdict == "unknown" and not view.chat else 1]
    label = view.say(words.QUESTION)

    def form(count: int, readings: int) -> tuple[doc.Node, ...]:
        items = (_question(ask, readings, view) for ask in asked[:count])
        return (doc.Labelled(label, children=tuple(items)),)

    return elastic(
        (0, form(3, 2)), (18, form(3, 1)), (50, form(2, 1)), (75, form(1, 1)), (85, form(1, 0))
    )


def _is_worth(ask: Ask, answer: Diagnosis) -> bool:
    """Tell whether an answer can still speak for a cause, or says how to write the remedy."""
    if ask.id == LAUNCH:
        plan = answer.plan
        return plan is not None and any(one.kind in WRITTEN for one in plan.changes)
    return bool(ask.reading or ask.splits or ask.values) or ask.id in LOGS


def is_to_collect(answer: Diagnosis) -> bool:
    """Tell whether there is first of all to run a command of our own, before the job ends."""
    first = next(iter(answer.asks), None)
    return answer.verdict == "unknown" and first is not None and first.command.startswith(OURS)


def _question(ask: Ask, readings: int, view: View) -> doc.Bullet:
    told = _how_to_tell(ask, view)
    ours = ask.command.startswith(OURS)
    command = doc.Code((CopyLine(clean(ask.command)),)) if ask.command else None
    # on the machine of the job there may be no trainrx: what else does is said as well
    says_more = command is None or ours or told != ask.how
    return doc.Bullet(
        ask.what,
        most=2,
        children=children(
            None if ours and view.chat else command,
            doc.Paragraph(told, most=2) if told and says_more else None,
            [doc.Paragraph(reading, most=1) for reading in ask.reading[:readings]],
        ),
    )


def _collect(view: View) -> doc.Node:
    label = view.say(words.NEXT)
    if view.chat:
        return doc.Labelled(label, (view.say(words.COLLECT_HERE),))
    return doc.Labelled(label, (view.say(words.COLLECT),), (CopyLine(words.COLLECT_COMMAND),))


def _how_to_tell(ask: Ask, view: View) -> str:
    """Say how to answer; in a chat what an option would bring is sent."""
    if not view.chat:
        return ask.how
    named = dict.fromkeys(_OPTION.findall(ask.how))
    wanted = [view.say(INPUTS[name]) for name in named if name in INPUTS]
    return view.say(SEND, what=view.say(words.LISTED).join(wanted)) if wanted else ask.how
