"""What is said of a proposal beside its changes: what joined them, is lost, new, or needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packaging.version import InvalidVersion, Version

from trainrx.estimation.phrasing import worded
from trainrx.knowledge.packages import needed_package, read_requirements
from trainrx.model.facts import Facts
from trainrx.model.fixing import Claim, Needed
from trainrx.model.memory import Assumption, Prediction
from trainrx.model.packages import Need
from trainrx.model.parts import Param, Safety
from trainrx.model.result import Change, FixOut
from trainrx.model.safety import graver
from trainrx.model.text import Lang, Text, price_text
from trainrx.prove.attempt import Attempt, TrialLaunch
from trainrx.prove.candidates import subject_of
from trainrx.prove.mending import move_of
from trainrx.prove.reread import LaunchContext

BUILT = {"flash-attn": " --no-build-isolation"}
"""Options pip wants for packages that are built against the torch that is there."""


def needed(
    changes: Sequence[Change],
    before: Facts,
    after: Facts,
    params: Mapping[str, Param],
    versions: Mapping[str, str],
) -> tuple[Needed, ...]:
    """Name the packages that changes need and that are not known to be there.

    What a launch had a use for before, and what its framework brings along, is taken to be there.

    Args:
        changes: what is changed.
        before: what was read of the launch.
        after: what is read of it with the changes made.
        params: the parameters.
        versions: packages that are known to be there.
    """
    own = [change.canonical for change in changes if change.canonical in params]
    # a value that was put right is one of a parameter, though its change is of an argument
    names = (*own, *(name for name in params if before.value(name) != after.value(name)))
    had = set(_of(params, before))
    wanted = dict.fromkeys(
        package
        for name in names
        if (package := needed_package(params[name], after.value(name))) and package not in had
    )
    known = {name.lower().replace("_", "-") for name in versions}
    framework = after.text("launch.framework") or ""
    found = []
    for package in wanted:
        need = _asked(framework, versions.get(framework), package)
        if package in known or (need is not None and need.kind == "requires"):
            continue
        found.append(Needed(package=package, command=_line(package, need)))
    return tuple(found)


def _of(params: Mapping[str, Param], facts: Facts) -> Iterator[str]:
    for name, param in params.items():
        package = needed_package(param, facts.value(name)) if param.needs else ""
        if package:
            yield package


def _asked(framework: str, version: str | None, package: str) -> Need | None:
    """Give what a release of a framework says of a package; None where it says nothing."""
    try:
        at = Version(version or "")
    except InvalidVersion:
        return None
    needs = read_requirements().needs.get(framework, ())
    told = [
        need
        for need in needs
        if need.needs == package
        and at >= Version(need.since)
        and (not need.until or at < Version(need.until))
    ]
    return min(told, key=lambda need: need.kind != "requires", default=None)


def _line(package: str, need: Need | None) -> str:
    named = f'"{package}{need.spec}"' if need is not None and need.spec else package
    return f"pip install {named}{BUILT.get(package, '')}"


RENAMED = Text(en="This version does not take {names}.", zh="该版本不接受 {names} 这样的写法。")
LEFT_OUT = Text(
    en="This version has nothing for {names}: what it asks for is not done.",
    zh="该版本没有与 {names} 对应的参数：去掉后该功能不会生效。",
)
NEW_FILE = Text(
    en="{name} is new; its path counts from where the job is started.",
    zh="{name} 是新文件，启动时的路径相对于当前工作目录。",
)
HOST = Text(
    en="Keeps {more} GiB more in host memory, about {gib} GiB per machine at the peak: free -g "
    "tells what there is.",
    zh="会多占用 {more} GiB 主机内存，每台机器峰值约 {gib} GiB：先用 free -g 确认够不够。",
)
NOTED_GIB = 16.0
"""Host memory an edit takes for good beyond what the launch took, from which on it is told."""
IF_SO = Text(en="{text} ({param} would tell)", zh="{text}（给出 {param} 即可确定）")
IF_SO_LONG = Text(
    en="if samples have about {usual} tokens: up to {tokens} are possible ({param} would tell)",
    zh="前提是样本约 {usual} 个 token：最长可能达到 {tokens}（给出 {param} 即可确定）",
)
AND = Text(en=", ", zh="、")
SPACE = Text(en=" ", zh="")


def joined_claims(attempt: Attempt, lang: Lang) -> Iterator[Claim]:
    """Say what each remedy is for that a check of the framework asks for besides."""
    for one in attempt.joined:
        move = move_of(one)
        yield Claim(text=move.why.in_(lang), source=move.source)
    told = [change.from_ or change.param for change in attempt.renamed if not is_lost(change)]
    if told:
        yield Claim(text=RENAMED.in_(lang).format(names=AND.in_(lang).join(told)))


def new_files(attempt: Attempt, lang: Lang) -> Iterator[str]:
    """Name the files that were not there, and how the launch finds them."""
    for file in attempt.patched.files:
        if file.before is None:
            yield NEW_FILE.in_(lang).format(name=file.name)


def host_memory(attempt: Attempt, trial: TrialLaunch, lang: Lang) -> Iterator[str]:
    """Say what an edit moves into host memory, where nobody told how much there is."""
    before, after = trial.before.memory, attempt.reading and attempt.reading.memory
    if not isinstance(before, Prediction) or not isinstance(after, Prediction):
        return
    more = after.host.resident - before.host.resident
    if more >= NOTED_GIB and "hardware.host_ram_gib" not in trial.around.known:
        yield HOST.in_(lang).format(gib=f"{after.host.peak:.0f}", more=f"{more:.0f}")


MENDED = Text(
    en="The patch also mends what lint calls an error: see `diagnose lint --fix`.",
    zh="补丁同时修正了 lint 报告的错误，参见 `diagnose lint --fix`。",
)


def mended_first(attempt: Attempt, trial: TrialLaunch) -> Iterator[str]:
    """Say that the files were mended before the edit."""
    if attempt.diff and trial.around.unmended:
        yield MENDED.in_(trial.around.lang)


OVERRULED = Text(
    en="Left as it was, since the job was seen to be taken with it: {rules}.",
    zh="以下问题保持原样，因为日志表明任务带着它们也能启动：{rules}。",
)
RULE = Text(en="{id} ({text})", zh="{id}（{text}）")


def left_standing(attempt: Attempt, trial: TrialLaunch) -> Iterator[str]:
    """Name what lint calls an error, that the log shows to be none, and that the edit leaves."""
    if attempt.reading is None:
        return
    lang = trial.around.lang
    said = [
        RULE.in_(lang).format(id=one.id, text=one.title.rstrip(".。"))
        for one in trial.overruled(attempt.reading)
    ]
    if said:
        yield OVERRULED.in_(lang).format(rules=AND.in_(lang).join(said))


def assumed(items: Sequence[Assumption], around: LaunchContext) -> tuple[str, ...]:
    """Say what a figure takes for granted that nobody knows, and what would tell it."""
    subject = subject_of(around) if items else None
    if subject is None:
        return ()
    lang, knowledge = around.lang, around.knowledge
    said = [worded(item, subject.launch, knowledge, lang) for item in items]
    return tuple(_if_so(item, lang) for item in said)


def _if_so(item: Assumption, lang: Lang) -> str:
    values = dict(item.values)
    form = IF_SO_LONG if "usual" in values else IF_SO
    return form.in_(lang).format(text=item.text, param=item.param, **values)


def lost(changes: Sequence[Change], lang: Lang) -> Iterator[str]:
    """Say what the job will not do any more."""
    # what a remedy takes out by itself this release does take
    names = [change.spelled for change in changes if is_lost(change) and change.now == "set"]
    if names:
        yield LEFT_OUT.in_(lang).format(names=AND.in_(lang).join(names))


def is_lost(change: Change) -> bool:
    """Tell whether an argument goes for which nothing stands."""
    return change.action == "remove" and not change.canonical


def weaker(safety: Safety, attempt: Attempt) -> Safety:
    """Give the safety of an edit with all that had to join it."""
    for one in attempt.joined:
        safety = graver(safety, one.fix.safety)
    lost = any(map(is_lost, attempt.changes))
    return graver(safety, "changes-results") if lost else safety


def cost_of(fix: FixOut, attempt: Attempt, lang: Lang) -> str:
    """Give the price of a remedy with all that had to join it."""
    costs = (one.fix.cost for one in attempt.joined)
    further = [price_text(cost, lang) for cost in costs if cost is not None]
    own = [fix.cost] if not further or fix.safety != "safe" else []
    return SPACE.in_(lang).join(dict.fromkeys(text for text in (*own, *further) if text))


def needs(attempt: Attempt, trial: TrialLaunch) -> tuple[Needed, ...]:
    """Name the packages an edit needs and that no list of versions shows."""
    if attempt.reading is None:
        return ()
    around = trial.around
    before, after = trial.before.facts, attempt.reading.facts
    return needed(attempt.changes, before, after, around.knowledge.params, around.versions)
