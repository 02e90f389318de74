"""The words of `diagnose fix`, English beside Chinese, and the sentences made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainrx.model.fixing import Dropped, FixVerdict, Proposal
from trainrx.model.memory import Refusal
from trainrx.model.planning import ProofCheck, Standing
from trainrx.model.text import Text
from trainrx.prove.price import BATCH_OTHER, speed
from trainrx.render.document import View
from trainrx.render.words import LISTED, PROBABLY_NOT

VERDICT: Mapping[FixVerdict, Text] = {
    "proved": Text(en="PROVED", zh="已验证"),
    "checked": Text(en="CHECKED", zh="已检查"),
    "not-enough": Text(en="NOT ENOUGH", zh="还不够"),
    "manual": Text(en="BY HAND", zh="需手动处理"),
    "nothing-proved": Text(en="NOTHING PROVED", zh="没有通过验证的改法"),
    "nothing-to-fix": Text(en="NOTHING TO FIX", zh="无需修改"),
    "unknown": Text(en="UNKNOWN", zh="无法判断"),
}
STYLE_OF: Mapping[FixVerdict, str] = {
    "proved": "good",
    "checked": "doubt",
    "not-enough": "bad",
    "manual": "doubt",
    "nothing-proved": "bad",
    "nothing-to-fix": "good",
    "unknown": "doubt",
}
CLAIM: Mapping[FixVerdict, Text] = {
    "proved": Text(
        en="the edit below was made on a copy and passed every check",
        zh="下面的修改已在副本上执行并通过全部检查",
    ),
    "checked": Text(
        en="the edit below reads back as it is meant; what is not proved is named under Open",
        zh="下面的修改写法正确；尚未验证的部分见“待确认”",
    ),
    "not-enough": Text(
        en="the edit below passed its own checks, but the launch will still stop",
        zh="下面的修改本身通过了检查，但启动后仍会中止",
    ),
    "manual": Text(
        en="what is to be done does not stand in the files at hand",
        zh="需要处理的内容不在给出的文件里",
    ),
    "nothing-proved": Text(
        en="every change that was tried failed a check",
        zh="尝试过的改法都没有通过检查",
    ),
    "nothing-to-fix": Text(
        en="no cause was found, and nothing is foreseen to fail",
        zh="没有发现原因，预计也不会失败",
    ),
    "unknown": Text(
        en="no cause was found; whether the job fits its cards cannot be told",
        zh="没有发现原因；显存是否够用无法判断",
    ),
}
DOUBTED = 0.2
"""A cause less probable than this is not believed: what answers it is something to try."""
A_TRY = Text(
    en="the cause is improbable ({share} %): the edit below is a check of it, not the fix",
    zh="这个原因可能性低（{share}%）：下面的修改用来检验它，不能当作修复",
)
UNTOLD = Text(
    en="no cause was found for what failed; this does not mean that the job is healthy",
    zh="没有找到失败的原因；这不表示任务正常",
)
NO_CHANGE = Text(
    en="no change that could be tried is known for this cause", zh="这个原因没有可供尝试的改法"
)
INSTALL = Text(
    en="the versions below fit together by what their releases say they need",
    zh="按各版本自身声明的依赖，下面这组版本相互兼容",
)
# labels of the head
CHANGE = Text(en="Change", zh="修改")
MEMORY = Text(en="Memory", zh="显存")
BATCH = Text(en="Batch", zh="batch")
SPEED = Text(en="Speed", zh="速度")
RESULT = Text(en="Result", zh="效果")
COST = Text(en="Price", zh="代价")
WHY = Text(en="Why", zh="理由")
CHECKED = Text(en="Checked", zh="检查")
STILL = Text(en="Still", zh="仍有问题")
OPEN = Text(en="Open", zh="待确认")
NOTE = Text(en="Mind", zh="注意")
OTHERS = Text(en="Others", zh="其他")
TRIED = Text(en="Tried", zh="试过")
BY_HAND = Text(en="By hand", zh="手动")
RUN = Text(en="Run", zh="执行")
NEEDS = Text(en="Needs", zh="依赖")
IF_MISSING = Text(en="if it is not installed", zh="若未安装")
BESIDE = Text(en="First", zh="先启动")
BESIDE_SAYS = Text(
    en="start this in a shell of its own, on the cards the training leaves, and wait until it "
    "answers; it must stay up as long as the training runs",
    zh="在另一个终端、训练未占用的卡上先启动它，等它就绪后再开始训练；训练期间须一直运行",
)
NO_PLAN = Text(en="No plan", zh="无方案")
WRITTEN = Text(en="Written", zh="已写入")
PLAN = Text(en="Plan {n}", zh="方案 {n}")
OF = Text(en="{n} of {count}", zh="共 {count} 个，第 {n} 个")

MEMORY_SAYS = Text(
    en="{before} -> {after} GiB of {limit} per GPU (between {low} and {high}), {verdict}",
    zh="每卡 {before} -> {after} GiB，显存 {limit}（区间 {low}～{high}），{verdict}",
)
FITS = Text(en="fits", zh="放得下")
MORE_LIKELY = Text(en="probably fits", zh="多半放得下")
BATCH_SAME = Text(en="effective batch {n}, unchanged", zh="等效 batch {n}，不变")
CHECK: Mapping[str, Text] = {
    "written": Text(en="written into the files", zh="已写入文件"),
    "parsed": Text(en="parsed again", zh="重新解析"),
    "spelled": Text(en="values read back", zh="参数值回读一致"),
    "guards": Text(en="the framework's own checks", zh="框架自身的检查"),
    "batch": Text(en="batch arithmetic", zh="batch 计算"),
    "memory": Text(en="memory estimated", zh="显存估算"),
    "lint": Text(en="linted", zh="lint 检查"),
    "packages": Text(en="versions fit together", zh="版本相互兼容"),
    "engine": Text(en="room for the engine", zh="推理引擎所需的显存"),
    "layout": Text(en="parallel layout", zh="并行布局"),
    "read-again": Text(en="values read back", zh="参数值回读一致"),
    "generations": Text(en="generations divide the batch", zh="num_generations 整除 batch size"),
    "hardware": Text(en="the hardware can do it", zh="硬件支持"),
    "host": Text(en="host memory", zh="主机内存"),
}
STILL_SAYS = Text(en="refused: {title} - {todo}", zh="会被拒绝：{title}——{todo}")
FAILED = Text(en="{spelled}: {check} failed ({detail})", zh="{spelled}：{check}未通过（{detail}）")
TOO_MUCH = Text(en="{spelled}: still {detail}", zh="{spelled}：仍需 {detail}")
OTHER = Text(en="--plan {n}", zh="--plan {n}")
SOURCE = Text(en="[{url}]", zh="[{url}]")
OWN_REMEDY = Text(en="remedy of the cause", zh="针对原因的改法")
WROTE = Text(en="{file} (before: {backup})", zh="{file}（原文件：{backup}）")
WROTE_NEW = Text(en="{file} (new)", zh="{file}（新文件）")
MANUAL_FIRST = Text(en="{title}: {steps}", zh="{title}：{steps}")
MOST_CLAIMS = 6
PLAIN = ("guards", "lint")
"""Checks that find nothing when they hold, and so have nothing to tell."""


def memory_text(item: Proposal, view: View) -> str:
    """Say the peak before and after against the card; "" where it is not known."""
    found = item.predicted
    if found is None:
        return ""
    if found.after_gib > found.limit_gib:
        verdict = PROBABLY_NOT
    else:
        verdict = FITS if found.high_gib <= found.limit_gib else MORE_LIKELY
    return view.say(
        MEMORY_SAYS,
        before=f"{found.before_gib:.1f}",
        after=f"{found.after_gib:.1f}",
        limit=f"{found.limit_gib:.1f}",
        low=f"{found.low_gib:.1f}",
        high=f"{found.high_gib:.1f}",
        verdict=view.say(verdict),
    )


def batch_text(item: Proposal, view: View) -> str:
    """Say what becomes of the effective batch; "" where it is not known."""
    before, after = item.batch.before, item.batch.after
    if after is None:
        return ""
    if before is None or before == after:
        return view.say(BATCH_SAME, n=after)
    return view.say(BATCH_OTHER, before=before, after=after)


def speed_text(item: Proposal, view: View) -> str:
    """Say how much longer a step takes; "" where nothing tells."""
    return "" if item.slowdown is None else speed(item.slowdown, view.lang)


def still_lines(refused: Sequence[Standing], view: View) -> Iterator[str]:
    """Say what still stops the launch, and what to do about it."""
    for item in refused:
        said = view.say(STILL_SAYS, title=item.title, todo=item.todo)
        yield said if item.todo else item.title


def why_lines(item: Proposal, view: View) -> Iterator[str]:
    """Give the claims with the source each rests on."""
    for claim in item.claims[:MOST_CLAIMS]:
        source = view.say(SOURCE, url=claim.source) if claim.source else ""
        if claim.text or source:
            yield " ".join(part for part in (claim.text, source) if part)


def checked_text(checks: Sequence[ProofCheck], view: View) -> str:
    """Name the checks that hold, each once, but for such as had nothing to look at."""
    told = (check for check in checks if check.holds and (check.detail or check.name in PLAIN))
    said = (check_name(check.name, view) for check in told)
    return view.say(LISTED).join(dict.fromkeys(said))


def check_name(name: str, view: View) -> str:
    """Name a check; one without words keeps its id."""
    known = CHECK.get(name)
    return name if known is None else view.say(known)


def failed_text(item: Dropped, view: View) -> str:
    """Say what was tried and which check it failed."""
    first = item.failed[0] if item.failed else ProofCheck(name="", holds=False)
    said = TOO_MUCH if first.name == "memory" else FAILED
    spelled, check = item.spelled or item.title, check_name(first.name, view)
    return view.say(said, spelled=spelled, check=check, detail=first.detail)


def refusal_text(refusal: Refusal, view: View) -> str:
    """Say why nothing was searched on the memory model."""
    # most reasons name the option that is missing
    asks = "" if "--" in refusal.reason else view.say(LISTED).join(refusal.asks)
    return refusal.reason + view.paren(asks)
