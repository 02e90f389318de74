"""What a bot answers, whatever the chat: one answer a thread, worked out from what stands in it."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar

import msgspec

from trainrx.model.result import Ask
from trainrx.model.text import Lang, Text
from trainrx.render.markup import load
from trainrx.share.bots.questions import Button, buttons, replies, reply_words
from trainrx.share.sessions import TaskSessions
from trainrx.share.task import Task, TaskFile, TaskOutcome
from trainrx.share.workers import BusyError, Workers

MOST_THREADS, MOST_MESSAGES = 4096, 512
LARGEST_FILE = 64 << 20
"""Bytes of a file that is fetched from a chat; adapters look before they fetch."""
WHOLE_NAME = "diagnosis.md"
AGAIN = frozenset(("new", "reset", "start over", "重新开始", "新问题"))
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CUT = re.compile(r"(?:\.\.\.|…|\[|\()\s*(?:truncated|已截断|内容过长)\W*\s*\Z", re.IGNORECASE)
HELP = Text(
    en="Send what the job printed, how it was started and the versions, as text or as files; "
    "I say why it failed and what to change. Name the card and the number of GPUs. "
    "`new` begins with another job.",
    zh="请发送训练日志、启动命令和版本信息（文本或文件均可），我会说明失败原因以及该改什么。"
    "请注明显卡型号和 GPU 数量。发送“重新开始”可换一个任务。",
)
BEGUN = Text(en="Forgotten: send the next job.", zh="已清空：请发送下一个任务。")
FORGOTTEN = Text(
    en="This job is not known any more: send it again.", zh="这个任务已过期：请重新发送。"
)
CUT = Text(
    en="The chat cut this text: send the log as a file for a full answer.",
    zh="文本被聊天软件截断：请以文件发送日志，才能得到完整结论。",
)
UNREAD = Text(
    en="Not read, too large or out of reach: {names}", zh="未读取（过大或无法获取）：{names}"
)
REFUSED = Text(en="This cannot be answered: {error}", zh="无法回答：{error}")
BUSY = Text(
    en="Too many questions wait: send it again in a minute.", zh="排队过多：请一分钟后重发。"
)
DEFECT = Text(
    en="This is a defect of trainrx, not of your job: {error}",
    zh="这是 trainrx 的缺陷，与你的任务无关：{error}",
)
Answerer = Callable[[Task], Awaitable[TaskOutcome]]
Held = TypeVar("Held")


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody sent.

    Attributes:
        thread: what is about one job, with the chat it is in; unique on the platform.
        message: its id; the same again is a retry.
        pressed: the button, where one was.
        is_cut: the text is as long as the platform takes, so more may have been pasted.
        unread: names of files that were not fetched.
    """

    thread: str
    message: str
    text: str = ""
    files: tuple[TaskFile, ...] = ()
    pressed: Button | None = None
    is_cut: bool = False
    unread: tuple[str, ...] = ()


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered, within the limit of the platform and in its markup.

    Attributes:
        buttons: replies to the open question, which stands at the end of the text.
        whole: all there is to say as a file; None: the text is all.
        replaces: the id of the message that is edited; "" for a new one.
    """

    thread: str
    text: str
    buttons: tuple[Button, ...] = ()
    whole: TaskFile | None = None
    replaces: str = ""


Sender = Callable[[Outgoing], Awaitable[str]]
"""Sends or edits a message; gives its id."""


class Latest(Generic[Held]):
    """A few things by their names; the one that was used least lately makes room."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, Held] = OrderedDict()

    def get(self, name: str) -> Held | None:
        """Give what is held by this name."""
        if name not in self._held:
            return None
        self._held.move_to_end(name)
        return self._held[name]

    def put(self, name: str, held: Held) -> Held:
        """Hold something."""
        self._held[name] = held
        self._held.move_to_end(name)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return held


class _Thread:
    """One job in a chat: its question by token, what is open, and the message that answers it."""

    def __init__(self, lang: Lang) -> None:
        self.lock = asyncio.Lock()
        self.lang = lang
        self.token = ""
        self.shown = ""
        self.asks: tuple[Ask, ...] = ()


class _Asked(msgspec.Struct):
    asks: tuple[Ask, ...] = ()


def answering(workers: Workers) -> Answerer:
    """Give what answers a question in a process of its own."""

    async def answer(task: Task) -> TaskOutcome:
        return await asyncio.wrap_future(workers.submit(task))

    return answer


class Core:
    """Answers what is sent to a bot of one platform.

    Args:
        answer: answers a question, e.g. `answering(workers)`.
        platform: one of `render.markup.names()`.
        lang: of the answer, where nothing Chinese is said.
        known: a question with the further knowledge and rules that all are answered with.
    """

    def __init__(
        self, answer: Answerer, platform: str, lang: Lang = "en", known: Task | None = None
    ) -> None:
        self._answer, self._lang = answer, lang
        self._markup = load(platform)
        base = known or Task(kind="diagnose")
        self._empty = msgspec.structs.replace(base, platform=platform, attached=True)
        self._sessions = TaskSessions()
        self._threads = Latest[_Thread](MOST_THREADS)
        self._answered = Latest[Outgoing](MOST_MESSAGES)
        self._sent = Latest[str](MOST_MESSAGES)
        self._thread_of = Latest[str](MOST_THREADS)

    def thread_of(self, shown: str) -> str:
        """Give the thread that a message of the bot answers; "" where it is not known."""
        return self._thread_of.get(shown) or ""

    async def handle(self, incoming: Incoming) -> Outgoing:
        """Answer; a retry is answered as before, without work."""
        thread = self._thread(incoming.thread)
        async with thread.lock:
            return await self._once(incoming, thread)

    async def reply(self, incoming: Incoming, send: Sender) -> None:
        """Answer and send it, in the place of the thread's earlier answer; a retry sends nothing.

        Where sending fails, a retry sends what was worked out.
        """
        thread = self._thread(incoming.thread)
        async with thread.lock:
            if self._sent.get(incoming.message) is not None:
                return
            thread.shown = await send(await self._once(incoming, thread))
            self._sent.put(incoming.message, thread.shown)
            self._thread_of.put(thread.shown, incoming.thread)

    def _thread(self, name: str) -> _Thread:
        return self._threads.get(name) or self._threads.put(name, _Thread(self._lang))

    async def _once(self, incoming: Incoming, thread: _Thread) -> Outgoing:
        found = self._answered.get(incoming.message)
        if found is None:
            found = self._answered.put(incoming.message, await self._outgoing(incoming, thread))
        return msgspec.structs.replace(found, replaces=thread.shown)

    async def _outgoing(self, incoming: Incoming, thread: _Thread) -> Outgoing:
        thread.lang = "zh" if _CHINESE.search(incoming.text) else thread.lang
        if incoming.text.strip().lower() in AGAIN and not incoming.files:
            thread.token, thread.shown, thread.asks = "", "", ()
            return self._says(incoming, BEGUN.in_(thread.lang))
        before = self._sessions.answered(thread.token, {})
        if before is None:
            thread.token, thread.asks = "", ()
            if incoming.pressed is not None:
                return self._says(incoming, FORGOTTEN.in_(thread.lang))
        if not (incoming.text.strip() or incoming.files or incoming.pressed):
            return self._says(incoming, HELP.in_(thread.lang))
        start = msgspec.structs.replace(before or self._empty, lang=thread.lang)
        return await self._diagnosed(incoming, thread, start)

    async def _diagnosed(self, incoming: Incoming, thread: _Thread, start: Task) -> Outgoing:
        refusal = ""
        for task in _tasks(incoming, thread.asks, start):
            # whatever goes wrong with one question, the bot goes on
            (found,) = await asyncio.gather(self._answer(task), return_exceptions=True)
            if isinstance(found, BaseException):
                said = BUSY if isinstance(found, BusyError) else DEFECT
                text = said.in_(thread.lang).format(error=type(found).__name__)
                return self._says(incoming, text)
            if not found.error:
                thread.token = self._sessions.keep(task, thread.token)
                asks = msgspec.json.decode(found.json, type=_Asked).asks
                thread.asks = tuple(ask for ask in asks if ask.id == found.asked)
                return self._says(incoming, found.message, found.whole, thread.asks)
            refusal = " ".join(found.error.split())
        error = self._markup.prose(refusal)
        return self._says(incoming, REFUSED.in_(thread.lang).format(error=error))

    def _says(
        self, incoming: Incoming, text: str, whole: str = "", asks: tuple[Ask, ...] = ()
    ) -> Outgoing:
        """Write a message, with what is left to say as far as the platform takes it."""
        lang = self._thread(incoming.thread).lang
        for more in _remarks(incoming, asks, lang):
            longer = f"{text.rstrip()}\n\n{self._markup.prose(more)}"
            limit = self._markup.limit
            text = longer if limit is None or self._markup.size(longer) <= limit else text
        return Outgoing(
            thread=incoming.thread,
            text=text,
            buttons=tuple(one for ask in asks for one in buttons(ask, lang)),
            whole=TaskFile(name=WHOLE_NAME, data=whole.encode("utf-8", "replace"))
            if whole
            else None,
        )


def _remarks(incoming: Incoming, asks: tuple[Ask, ...], lang: Lang) -> Iterator[str]:
    if incoming.is_cut or _CUT.search(incoming.text):
        yield CUT.in_(lang)
    if incoming.unread:
        yield UNREAD.in_(lang).format(names=", ".join(incoming.unread))
    yield from (reply_words(ask, lang) for ask in asks)


def _tasks(incoming: Incoming, asks: tuple[Ask, ...], start: Task) -> Iterator[Task]:
    """Give what may be meant, the likeliest first: a reply to what is open, or more of the job."""
    replace = msgspec.structs.replace
    if incoming.pressed is not None:
        pressed = {incoming.pressed.question: incoming.pressed.value}
        yield replace(start, answers={**start.answers, **pressed})
        return
    if asks and not incoming.files:
        for said in replies(asks[0], incoming.text):
            yield replace(start, answers={**start.answers, asks[0].id: said})
    text = incoming.text.strip().encode("utf-8", "replace")
    name = f"message-{len(start.files) + 1}.md" if start.files else "message.md"
    posts = (TaskFile(name=name, data=text, role="post"),) if text else ()
    yield replace(start, files=(*start.files, *incoming.files, *posts))
