"""What keeps a change that passed its checks from being proved, in words.

A change is proved when all of it is known from the job, it answers a cause that is sure, nothing
has to be there that nobody saw, and memory, where that is short, is inside the card with its whole
interval. What lies beyond the launch, such as a card, rows and checkpoints, is judged in `ground`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from trainrx.catalog.catalog import plain
from trainrx.catalog.tables import Taker
from trainrx.fix.patch.configs import keys
from trainrx.fix.plan import MEMORY
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.model.fixing import Needed, Proposal
from trainrx.model.knowledge import Amount, Fix
from trainrx.model.result import CauseOut, Change, FixOut
from trainrx.model.safety import BY_HAND
from trainrx.model.text import Lang, Text
from trainrx.prove.attempt import Attempt, TrialLaunch
from trainrx.prove.ground import of_device, of_growth, of_kinds, of_login, of_next
from trainrx.versions.ranges import is_exact

SURE = 0.8
"""A cause less probable than this may be another one: its remedy is no proof."""

UNSURE = Text(en="the cause: it is {share} % likely, no more", zh="原因本身：可能性只有 {share}%")
GUESSED = Text(
    en="{name} {value}: a usual value, nothing in this job tells it",
    zh="{name} {value}：这是常用值，此任务中没有依据",
)
NAMED = Text(
    en="{name} {value}: a name as others have it; put your own",
    zh="{name} {value}：这是示例名称，请换成自己的",
)
NOT_THERE = Text(
    en="{package}: no list of versions shows it, so it has to be installed and to fit",
    zh="{package}：版本列表中没有它，须先装上且版本合适",
)
NEXT_RELEASE = Text(
    en="{package}: no release is known in which this is mended",
    zh="{package}：不知道哪个版本已修复此问题",
)
WHICH_RELEASE = Text(
    en="{package} {version}: not a whole version, so the release is not known",
    zh="{package} {version}：版本号不完整，无法确定具体版本",
)
BUILT_AGAINST = Text(
    en="{names}: built against the torch that goes; a build for the new one has to be found",
    zh="{names}：是针对原 torch 编译的，须换成与新 torch 匹配的版本",
)
BESIDE = Text(
    en="{names}: moved along so that all fit; that the job runs with them is not known",
    zh="{names}：为了相互兼容一并改动，任务能否在其上运行尚不清楚",
)
OTHER_MAJOR = Text(
    en="{package} {version} -> {to}: another major release, which may refuse the rest of the job",
    zh="{package} {version} -> {to}：跨了大版本，任务的其余部分未必能用",
)
GOES_BACK = Text(
    en="{package}: the job is written for the release that is there, and this is an older one",
    zh="{package}：任务是按现有版本写的，而这是更旧的版本",
)
NO_FIGURE = Text(en="whether it frees enough memory", zh="能否腾出足够的显存")
MAY_EXCEED = Text(
    en="memory: up to {high} GiB are possible, the card has {limit}",
    zh="显存：最多可能到 {high} GiB，而卡上只有 {limit} GiB",
)
FITTED = Text(
    en="memory: by the estimate the job fitted as it was ({before} of {limit} GiB), and ran out",
    zh="显存：按估算原本就放得下（{before}，上限 {limit} GiB），实际却不够",
)
TOO_LARGE = Text(
    en="memory: {after} GiB are estimated with it, the card has {limit}",
    zh="显存：按估算改后需要 {after} GiB，而卡上只有 {limit} GiB",
)
A_PERSON = Text(
    en="that it is what you want: this is for you to decide", zh="是否要这样改，需由你决定"
)
UNPLACED = Text(
    en="{name}: no release is known to read it where it was put",
    zh="{name}：不确定写在这个位置是否会被读取",
)

_PLAIN = frozenset({"0", "1", "-1", "true", "false", "none", "null", ""})
"""Values that say how many or whether, and are no matter of measure."""
_DIGITS = re.compile(r"(?<![A-Za-z_\d])\d+(?:\.\d+)?")
_WORD = re.compile(r"[\w./+-]+")
_PLACE = re.compile(
    r"ifname|interface|hca|host|addr|endpoint|path|dir|file|url|column|field|mapping|_name$",
    re.IGNORECASE,
)
"""Words in names of parameters that hold a name of something outside of the framework."""
_ON_TORCH = (
    "apex",
    "bitsandbytes",
    "causal-conv1d",
    "flash-attn",
    "mamba-ssm",
    "torchaudio",
    "torchvision",
    "transformer-engine",
    "xformers",
)


def of_cause(cause: CauseOut, lang: Lang) -> Iterator[str]:
    """Say that a cause may be another one."""
    if cause.verdict != "likely" or cause.probability < SURE:
        yield UNSURE.in_(lang).format(share=int(100 * cause.probability))


def of_values(
    changes: Iterable[Change],
    remedies: Sequence[Fix],
    said: frozenset[str],
    lang: Lang,
) -> Iterator[str]:
    """Name values that stand in a remedy and not in the job.

    Args:
        changes: what is changed.
        remedies: what the knowledge has of it.
        said: the words of the lines a cause rests on, and of the launch.
        lang: the language of the answer.
    """
    for change in changes:
        if change.action == "remove" or change.to is None or change.kind == "package":
            continue
        value = change.to
        if value in said or not _stands_in(change, remedies):
            continue
        if any(word not in _PLAIN for word in _DIGITS.findall(value)):
            yield GUESSED.in_(lang).format(name=change.param, value=value)
        elif value.lower() not in _PLAIN and not change.canonical and _PLACE.search(change.param):
            yield NAMED.in_(lang).format(name=change.param, value=value)


def _stands_in(change: Change, remedies: Sequence[Fix]) -> bool:
    """Tell whether the value of a change is a constant of a remedy, or relative to the present."""
    name = change.canonical or f"{ARGUMENT}{change.param}"
    for remedy in remedies:
        wanted = remedy.set.get(name)
        if isinstance(wanted, Amount):
            return wanted.fact is None
        if isinstance(wanted, str):
            return wanted[:1] in "{["
        if wanted is not None:
            return not isinstance(wanted, bool)
        if any(one.param.lstrip("-+") == change.param.lstrip("-+") for one in remedy.measures):
            return True
    return False


def words_of(cause: CauseOut, trial: TrialLaunch) -> frozenset[str]:
    """Give the words of the lines a cause rests on, and the values the launch has."""
    lines = (at.text for reason in cause.reasons for at in reason.evidence)
    held = () if trial.launch is None else trial.launch.args
    values = (value for arg in held for value in arg.values or ())
    return frozenset(word.strip(".") for line in lines for word in _WORD.findall(line)) | {*values}


def of_packages(
    changes: Sequence[Change], asked: Collection[str], trial: TrialLaunch
) -> Iterator[str]:
    """Say what is not known of releases that are to be installed.

    Args:
        changes: all that is to be installed.
        asked: the packages that a remedy names; what goes beside them had to fit.
        trial: the launch.
    """
    lang, installed = trial.around.lang, trial.around.versions
    framework = trial.around.known.text("launch.framework")
    for change in changes:
        present, to = installed.get(change.param, ""), (change.to or "").removeprefix("==")
        named = {"package": change.param, "version": present, "to": to}
        if present and not (is_exact(present) and present.count(".") > 1):
            yield WHICH_RELEASE.in_(lang).format(**named)
        elif change.param == framework and change.action == "downgrade":
            yield GOES_BACK.in_(lang).format(**named)
        elif present and to.partition(".")[0] != present.partition(".")[0]:
            yield OTHER_MAJOR.in_(lang).format(**named)
    names = {change.param for change in changes}
    if beside := names - set(asked):
        yield BESIDE.in_(lang).format(names=", ".join(sorted(beside)))
    built = [name for name in _ON_TORCH if name in installed and name not in names]
    if "torch" in names and built:
        yield BUILT_AGAINST.in_(lang).format(names=", ".join(built))


def of_memory(item: Proposal, trial: TrialLaunch, *, about_memory: bool) -> Iterator[str]:
    """Say what is open of memory; of a job that does not run short of it, only that it would."""
    lang, found = trial.around.lang, item.predicted
    if not about_memory:
        if found is not None and found.after_gib > found.limit_gib:
            after, limit = f"{found.after_gib:.1f}", f"{found.limit_gib:.1f}"
            yield TOO_LARGE.in_(lang).format(after=after, limit=limit)
        return
    if found is None or not any(check.name == "memory" for check in item.checks):
        yield NO_FIGURE.in_(lang)
        return
    limit = f"{found.limit_gib:.1f}"
    if found.before_gib <= found.limit_gib and _ran_out(trial):
        yield FITTED.in_(lang).format(before=f"{found.before_gib:.1f}", limit=limit)
    elif found.high_gib > found.limit_gib:
        yield MAY_EXCEED.in_(lang).format(high=f"{found.high_gib:.1f}", limit=limit)


def _ran_out(trial: TrialLaunch) -> bool:
    return trial.ran_out


def of_needs(needs: Iterable[Needed], lang: Lang) -> Iterator[str]:
    """Name packages that have to be there and that nobody saw."""
    for need in needs:
        yield NOT_THERE.in_(lang).format(package=need.package)


def placed(
    changes: Iterable[Change], remedies: Sequence[Fix], attempt: Attempt, trial: TrialLaunch
) -> Iterator[str]:
    """Name keys that were put into a file, though nothing is known to read them there."""
    measures = {plain(one.param) for remedy in remedies for one in remedy.measures}
    launch = trial.launch
    if launch is None:
        return
    takes = Taker(launch, trial.around.known.text("launch.framework_version"))
    held = {plain(arg.name) for arg in launch.args}
    for change in changes:
        own = change.kind == "config_file" and not change.canonical and change.action != "remove"
        own = own and plain(change.param) in measures - held
        if not own or _is_inside(change.param, attempt):
            continue
        if takes.answer(change.param, change.to or "", from_file=True) != "taken":
            yield UNPLACED.in_(trial.around.lang).format(name=change.param)


def _is_inside(name: str, attempt: Attempt) -> bool:
    """Tell whether a key stood in a file before, or stands in a section it belongs into."""
    leaf = name.rpartition(".")[2]
    for file in attempt.patched.files:
        was, now = ({arg.name for arg in keys(text)} for text in (file.before or "", file.after))
        if any(one.rpartition(".")[2] == leaf for one in was):
            return True
        if any(one.endswith(f".{leaf}") for one in now - was):
            return True
    return False


def lacking(
    item: Proposal,
    attempt: Attempt,
    trial: TrialLaunch,
    *,
    cause: CauseOut | None = None,
    remedy: Fix | None = None,
    certain: bool = False,
) -> tuple[str, ...]:
    """Say what keeps a change that was made in the files from being proved; () where nothing does.

    Args:
        item: the change.
        attempt: what came of making it.
        trial: the launch.
        cause: what it is to answer; None: memory, as it is foreseen or ran out.
        remedy: what the knowledge has of it.
        certain: the launch would be refused without it, whatever the cause.
    """
    lang = trial.around.lang
    about_memory = cause is None or cause.family in MEMORY
    remedies = [one.fix for one in attempt.joined] + ([remedy] if remedy is not None else [])
    said = frozenset[str]() if cause is None else words_of(cause, trial)
    found = (
        *(of_cause(cause, lang) if cause is not None and not certain else ()),
        *(() if about_memory else of_values(item.changes, remedies, said, lang)),
        *placed(item.changes, remedies, attempt, trial),
        *of_needs(item.needs, lang),
        *of_device(item.changes, attempt, trial),
        *of_login(item.changes, lang),
        *of_kinds(item.changes, attempt, trial),
        *of_memory(item, trial, about_memory=about_memory),
        *(() if about_memory else of_growth(attempt, trial)),
        *([A_PERSON.in_(lang)] if item.safety in BY_HAND else []),
    )
    # files are opened only where nothing else is missing
    return tuple(
        dict.fromkeys(found or of_next(attempt, trial, cause.id if cause is not None else ""))
    )


def lacking_of_releases(
    item: Proposal, fix: FixOut, trial: TrialLaunch, cause: CauseOut
) -> tuple[str, ...]:
    """Say what keeps releases to be installed from being proved; () where nothing does.

    Args:
        item: all that is to be installed.
        fix: the remedy that asks for it.
        trial: the launch.
        cause: what it is to answer.
    """
    lang, asked = trial.around.lang, {change.param: change.to for change in fix.changes}
    present = trial.around.versions
    hoped = [name for name, to in asked.items() if to in (f">{present[name]}", f"<{present[name]}")]
    own = [A_PERSON.in_(lang)] if item.safety in BY_HAND else []
    return (
        *of_cause(cause, lang),
        *(NEXT_RELEASE.in_(lang).format(package=name) for name in hoped),
        *of_packages(item.changes, asked, trial),
        *own,
    )
