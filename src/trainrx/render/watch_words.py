"""The words of `diagnose watch`, English beside Chinese, and how it writes times."""

from __future__ import annotations

from trainrx.collect.state import AlertKind, Outcome
from trainrx.model.text import Lang, Text

OUTCOME: dict[Outcome, Text] = {
    "waiting": Text(en="WAITING", zh="等待中"),
    "starting": Text(en="STARTING", zh="启动中"),
    "training": Text(en="TRAINING", zh="训练中"),
    "stalled": Text(en="STALLED", zh="停滞"),
    "failed": Text(en="FAILED", zh="已失败"),
    "finished": Text(en="FINISHED", zh="已完成"),
}
STYLE_OF: dict[Outcome, str] = {
    "waiting": "dim",
    "starting": "strong",
    "training": "good",
    "stalled": "bad",
    "failed": "bad",
    "finished": "good",
}
NO_FILE = Text(en="no log has been written yet", zh="还没有写出任何日志")
NO_STEP = Text(en="no step yet", zh="还没有走完一步")
STEP_OF = Text(en="step {step} of {total}", zh="第 {step}/{total} 步")
STEP_ONLY = Text(en="step {step}", zh="第 {step} 步")
PACE = Text(en="{time} a step", zh="每步 {time}")
LEFT = Text(en="{time} left", zh="预计还需 {time}")
QUIET = Text(en="last line {time} ago", zh="最后输出在 {time}前")

MEMORY = Text(en="Memory", zh="显存")
FORECAST = Text(en="Forecast", zh="预测")
STALL = Text(en="Stall", zh="停滞")
RANKS = Text(en="Ranks", zh="各 rank")
SLOW = Text(en="Slow", zh="落后")
SEEN = Text(en="Seen", zh="现象")
CAUSE = Text(en="Cause", zh="原因")
CHANGE = Text(en="Change", zh="修改")
FILES = Text(en="Files", zh="文件")
LABELS = (MEMORY, FORECAST, STALL, RANKS, SLOW, SEEN, CAUSE, CHANGE, FILES)

GIB_OF = Text(en="{gib} of {capacity} GiB", zh="{gib}/{capacity} GiB")
GIB_ONLY = Text(en="{gib} GiB", zh="{gib} GiB")
RUNS_OUT = Text(
    en="the card is full near step {step} ({low} to {high})",
    zh="显存将在第 {step} 步左右（{low}～{high}）用完",
)
SILENT = Text(
    en="no progress for {time}; {allowed} would have been no stall",
    zh="已有 {time} 没有进展（{allowed} 以内不算停滞）",
)
SILENT_RANKS = Text(en="; silent the longest: rank {ranks}", zh="；最久没有输出的是 rank {ranks}")
BEHIND = Text(en="rank {ranks} stays behind", zh="rank {ranks} 持续落后")
LOSS_NAN = Text(en="the loss or the gradient is NaN", zh="loss 或梯度为 NaN")
HEADS = (
    Text(en="rank", zh="rank"),
    Text(en="step", zh="步"),
    Text(en="behind", zh="落后"),
    Text(en="GiB", zh="GiB"),
    Text(en="last line", zh="最后输出"),
)
AGO = Text(en="{time} ago", zh="{time}前")
MORE_RANKS = Text(
    en="{n} more, none of them further behind", zh="另有 {n} 个，落后程度都不超过以上各行"
)
TIMES = Text(en="{title} ({n} times)", zh="{title}（{n} 次）")
SURE = Text(en="{title} ({n} %)", zh="{title}（{n} %）")
MANY = Text(en="{first} and {n} more", zh="{first} 等 {n} 个")
ALERT: dict[AlertKind, Text] = {
    "failed": Text(en="ALERT: the job failed", zh="告警：任务失败"),
    "stalled": Text(en="ALERT: the job stands still", zh="告警：任务停滞"),
    "oom-forecast": Text(en="ALERT: the card will be full", zh="告警：显存即将用完"),
    "nan-loss": Text(en="ALERT: the loss or the gradient is NaN", zh="告警：loss 或梯度为 NaN"),
}
STOPPED = Text(en="no longer followed; the job was left as it is", zh="不再跟踪；任务本身未受影响")

_SECOND = Text(en="{n} s", zh="{n} 秒")
_MINUTE = Text(en="{n} min", zh="{n} 分钟")
_HOUR = Text(en="{h} h {m} min", zh="{h} 小时 {m} 分钟")
_DAY = Text(en="{d} d {h} h", zh="{d} 天 {h} 小时")


def duration(seconds: float, lang: Lang) -> str:
    """Write a time in at most two units."""
    if seconds < 10:
        return _SECOND.in_(lang).format(n=f"{seconds:.2g}")
    if seconds < 120:
        return _SECOND.in_(lang).format(n=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 120:
        return _MINUTE.in_(lang).format(n=minutes)
    hours = minutes // 60
    if hours < 48:
        return _HOUR.in_(lang).format(h=hours, m=minutes % 60)
    return _DAY.in_(lang).format(d=hours // 24, h=hours % 24)
