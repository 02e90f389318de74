"""The open question of an answer in a chat: its buttons, and what is a reply to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from trainrx.launch.replies import WHOLE
from trainrx.launch.reply_values import is_not_known, yes_or_no
from trainrx.model.text import Lang, Text

if TYPE_CHECKING:
    from trainrx.model.result import Ask

MOST_VALUES = 8
"""Buttons of values; where there are more, they are typed."""
LONGEST_VALUE = 80
WORDS = {
    "yes": Text(en="Yes", zh="是"),
    "no": Text(en="No", zh="否"),
    "unknown": Text(en="Not known", zh="不知道"),
}
YES_NO = Text(en="Reply here: yes, no or unknown.", zh="请在此回复：是、否或不知道。")
VALUE = Text(en="Reply here: {values}, or unknown.", zh="请在此回复：{values}，或不知道。")
A_VALUE = Text(en="the value", zh="数值或名称")
INPUT = Text(
    en="Send it here, as a file best; or reply: unknown.",
    zh="请发到这里，最好以文件发送；没有则回复：不知道。",
)
OUTPUT = Text(
    en="Reply here: yes, no or unknown, or send what the command prints.",
    zh="请在此回复：是、否或不知道，或发送命令的输出。",
)


class Button(msgspec.Struct, frozen=True, kw_only=True):
    """A reply that can be pressed: the id of its question, and what is replied."""

    question: str
    value: str
    label: str = ""


def buttons(ask: Ask, lang: Lang) -> tuple[Button, ...]:
    """Give the replies to a question that can be pressed."""

    def button(value: str) -> Button:
        label = WORDS[value].in_(lang) if value in WORDS else value
        return Button(question=ask.id, value=value, label=label)

    return tuple(button(value) for value in (*_choices(ask), "unknown"))


def _choices(ask: Ask) -> tuple[str, ...]:
    if ask.values:
        return ask.values if len(ask.values) <= MOST_VALUES else ()
    is_yes_no = ask.answer == "yes_no" or (ask.answer == "output" and ask.id not in WHOLE)
    return ("yes", "no") if is_yes_no else ()


def reply_words(ask: Ask, lang: Lang) -> str:
    """Say how a question is replied to."""
    listed = ("、" if lang == "zh" else ", ").join(ask.values[:MOST_VALUES])
    if ask.values or ask.answer == "value":
        return VALUE.in_(lang).format(values=listed or A_VALUE.in_(lang))
    if ask.answer == "yes_no":
        return YES_NO.in_(lang)
    return (INPUT if ask.id in WHOLE else OUTPUT).in_(lang)


def replies(ask: Ask, text: str) -> Iterator[str]:
    """Give the text where it is a reply to a question; it may still be none that is understood."""
    said = text.strip()
    if "\n" in said or len(said) > LONGEST_VALUE:
        is_reply = ask.answer == "output" and ask.id not in WHOLE
    else:
        is_word = is_not_known(said) or yes_or_no(said) is not None
        is_value = said in ask.values or said.isdigit() or not ask.values
        is_reply = bool(said) and (is_word or (ask.answer == "value" and is_value))
    if is_reply:
        yield said
