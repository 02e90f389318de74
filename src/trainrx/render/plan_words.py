"""The words of `diagnose plan`, English beside Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from trainrx.model.text import Text

VERDICT: Mapping[str, Text] = {
    "fits": Text(en="fits as it is", zh="无需修改即可运行"),
    "plans": Text(en="with changes", zh="修改后可运行"),
    "none": Text(en="no configuration", zh="没有可行配置"),
    "unknown": Text(en="unknown", zh="无法判断"),
}
TIGHT = Text(en="rather tight", zh="余量偏紧")
STYLE_OF: Mapping[str, str] = {
    "fits": "good",
    "plans": "doubt",
    "none": "bad",
    "unknown": "doubt",
}
TITLE = Text(en="A working configuration per hardware", zh="各种硬件上的可行配置")
WAS = Text(en="was {value}", zh="原为 {value}")
LEAST = Text(en="least hardware: {least}", zh="最低硬件：{least}")
OR = Text(en=" or ", zh=" 或 ")
NO_LEAST = Text(
    en="no number or size of cards that was tried is enough", zh="试过的卡数和显存都不够"
)
RANGE = Text(en="between {low} and {high}", zh="区间 {low}～{high}")
SLOWER = Text(en="{low} to {high} x the time of a step", zh="每步耗时 {low}～{high} 倍")
BATCH = Text(en="effective batch {n}", zh="有效批大小 {n}")
BATCH_OTHER = Text(en="effective batch {before} -> {after}", zh="有效批大小 {before} -> {after}")
NEXT = Text(
    en="`diagnose fix FILE --gpu NAME --gpus N` writes the changes for the machine the job has.",
    zh="`diagnose fix FILE --gpu NAME --gpus N` 会针对任务现有的机器生成修改。",
)
