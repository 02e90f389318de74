"""What a question asks for in a chat: things to send, where a terminal would take options."""

from __future__ import annotations

from trainrx.model.pattern import late
from trainrx.model.result import Ask
from trainrx.model.text import Text
from trainrx.render import words
from trainrx.render.document import View

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


def how_to_tell(ask: Ask, view: View) -> str:
    """Say how to answer; in a chat what an option would bring is sent."""
    if not view.chat:
        return ask.how
    named = dict.fromkeys(_OPTION.findall(ask.how))
    wanted = [view.say(INPUTS[name]) for name in named if name in INPUTS]
    return view.say(SEND, what=view.say(words.LISTED).join(wanted)) if wanted else ask.how
