"""Words of the translation page, in both languages."""

from __future__ import annotations

from trainrx.model.text import Text
from trainrx.model.translation import Outcome

CHANGED = Text(en="Written otherwise", zh="写法变了")
LOST = Text(en="Left for you to decide", zh="需要人来决定")
DROPPED = Text(en="Needs no word any more", zh="不必再写")
KEPT = Text(en="Unchanged: {n}", zh="不变：{n} 个")
DEFAULTS = Text(
    en="Defaults this launch relies on that are others there (the line keeps the old one)",
    zh="此启动依赖、而目标版本已改变的默认值（右侧写法可保持原样）",
)
NO_KEEP = Text(en="cannot be written", zh="无法写出")
NO_DEFAULTS = Text(
    en="No default that is known and that this launch relies on changed.",
    zh="此启动所依赖的已知默认值没有变化。",
)
MORE_DEFAULTS = Text(en="{n} more with --all", zh="另有 {n} 项，加 --all 显示")
REFUSED = Text(en="The target would not take", zh="目标版本不会接受")
COMMAND = Text(en="The command", zh="新的命令")
COMPLETE = Text(
    en="Every argument has a counterpart in {target}.", zh="每个参数在 {target} 中都有对应写法。"
)
OPEN = Text(
    en="{n} to decide before it runs on {target}.", zh="有 {n} 处要先决定，才能在 {target} 上运行。"
)
WRITTEN_FOR = Text(en="written for {version}", zh="按 {version} 写的")
DERIVED = Text(
    en="{version}, the versions that take these names (--from says it exactly)",
    zh="{version}，即认得这些参数名的版本（可用 --from 指明）",
)
NOTHING_KNOWN = Text(
    en="taken to be {version}: the names tell no version (--from says it)",
    zh="当作 {version}：从参数名看不出版本（可用 --from 指明）",
)
BY_HAND = Text(en="Change by hand", zh="需手工修改")
WROTE = Text(en="wrote {file}, the old one is {backup}", zh="已写入 {file}，原文件为 {backup}")
NEW_FILE = Text(en="wrote {file}", zh="已写入 {file}")
NO_EDIT = Text(en="nothing to change in the files", zh="文件无需改动")
STRANGER = Text(en="not an argument of the old version", zh="旧版本不认")

OUTCOMES: dict[Outcome, Text] = {
    "missing": Text(en="no counterpart", zh="没有对应"),
    "stranger": STRANGER,
}
