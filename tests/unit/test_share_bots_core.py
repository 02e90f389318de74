"""What a bot answers, without any chat: threads, replies, retries, what is cut."""

from __future__ import annotations

import asyncio
import json

import pytest

from trainrx.render.markup import load
from trainrx.share.bots.core import HELP, Core, Incoming, Outgoing
from trainrx.share.bots.questions import Button
from trainrx.share.task import Task, TaskFile, TaskOutcome, perform
from trainrx.share.workers import BusyError

LOG = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
YES_NO = {"id": "oom.growing", "what": "Does it grow?", "how": "", "answer": "yes_no"}
CARD = {"id": "hardware.gpu", "what": "Which card?", "how": "", "answer": "value"}
LAUNCH = {"id": "launch", "what": "How was the job started?", "how": "", "answer": "output"}


class Answers:
    """Takes questions down; puts those of `asks` that nothing was replied to."""

    def __init__(self, *asks, refused=(), message="*Diagnosed*"):
        self.asks, self.refused, self.message = asks, refused, message
        self.tasks: list[Task] = []

    async def __call__(self, task: Task) -> TaskOutcome:
        self.tasks.append(task)
        await asyncio.sleep(0)
        if set(task.answers.values()) & set(self.refused):
            return TaskOutcome(error="expected a card @here")
        open_ = [ask for ask in self.asks if ask["id"] not in task.answers]
        said = json.dumps({"asks": open_}).encode()
        asked = open_[0]["id"] if open_ else ""
        message = "\n".join([*(ask["what"] for ask in open_[:1]), self.message])
        return TaskOutcome(json=said, message=message, whole="# all of it", asked=asked)


class Chat:
    """One thread of a chat; each message that is sent has a number."""

    def __init__(self, core, thread="C1/1"):
        self.core, self.thread = core, thread
        self.shown: dict[str, Outgoing] = {}
        self.sent = 0

    async def send(self, outgoing):
        self.sent += 1
        shown = outgoing.replaces or f"m{len(self.shown)}"
        self.shown[shown] = outgoing
        return shown

    async def says(self, text="", message="", **more):
        message = message or f"{self.thread}-{self.sent}-{text[:20]}"
        incoming = Incoming(thread=self.thread, message=message, text=text, **more)
        await self.core.reply(incoming, self.send)
        return list(self.shown.values())[-1]


def run(coroutine):
    return asyncio.run(coroutine)


def test_a_message_is_read_as_a_post_and_files_as_what_they_are():
    answers = Answers()
    log = TaskFile(name="train.log", data=LOG)

    run(Chat(Core(answers, "slack")).says("died on 8 A100", files=(log,)))

    task = answers.tasks[0]
    assert (task.kind, task.platform, task.lang) == ("diagnose", "slack", "en")
    assert task.files == (log, TaskFile(name="message.md", data=b"died on 8 A100", role="post"))


def test_the_answer_is_that_of_the_command_with_what_is_asked_next():
    async def answer(task):
        return perform(task)

    sent = run(
        Chat(Core(answer, "slack")).says(
            f"my llamafactory job on A100 80G died\n```\n{LOG.decode()}```"
        )
    )

    assert sent.text.startswith("*Suspected*")
    assert "A100-SXM4-80GB" in sent.text
    assert "How was the job started?" in sent.text
    assert sent.text.endswith("Send it here, as a file best; or reply: unknown.")
    assert [button.value for button in sent.buttons] == ["unknown"]
    assert sent.whole is not None
    assert sent.replaces == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_chat_is_asked_for_things_to_send_and_never_for_options(lang):
    text = {"en": "hello", "zh": "你好"}[lang]

    async def answer(task):
        return perform(task)

    sent = run(Chat(Core(answer, "wecom")).says(text)).text

    assert {"en": "Send the launch script here.", "zh": "请把启动脚本发到这里。"}[lang] in sent
    assert "--" not in sent
    assert "diagnose" not in sent


def test_a_picture_is_refused_in_the_language_of_the_thread():
    async def answer(task):
        return perform(task)

    async def talk():
        chat = Chat(Core(answer, "wecom"))
        await chat.says("你好，任务挂了")
        await chat.says("重新开始")
        picture = TaskFile(name="a.png", data=b"\x89PNG\r\n\x1a\n" + bytes(300))
        return await chat.says(files=(picture,), message="p")

    assert "是图片，无法读取" in run(talk()).text


@pytest.mark.parametrize(
    ("text", "lang"), [("它崩了", "zh"), ("it died", "en"), ("trainer: 显存 OOM", "zh")]
)
def test_the_language_is_that_of_the_message(text, lang):
    answers = Answers()

    run(Chat(Core(answers, "feishu")).says(text))

    assert answers.tasks[0].lang == lang


def test_a_thread_that_began_in_chinese_stays_so_for_a_log():
    async def talk():
        answers = Answers()
        chat = Chat(Core(answers, "feishu"))
        await chat.says("它崩了")
        await chat.says("RuntimeError: CUDA error")
        return answers.tasks[1].lang

    assert run(talk()) == "zh"


@pytest.mark.parametrize("reply", ["yes", "是", "No", "unknown", "不知道"])
def test_a_word_in_the_thread_replies_to_the_open_question_and_edits_the_answer(reply):
    async def talk():
        answers = Answers(YES_NO, CARD)
        chat = Chat(Core(answers, "slack"))
        first = await chat.says("it died")
        second = await chat.says(reply)
        return answers.tasks[1], first, second, chat.shown

    task, first, second, shown = run(talk())
    assert dict(task.answers) == {"oom.growing": reply}
    assert [file.name for file in task.files] == ["message.md"]
    assert [button.value for button in first.buttons] == ["yes", "no", "unknown"]
    assert "Which card?" in second.text
    assert second.replaces == "m0"
    assert list(shown) == ["m0"]


def test_a_button_replies_to_the_question_it_was_put_with():
    async def talk():
        answers = Answers(YES_NO, CARD)
        chat = Chat(Core(answers, "slack"))
        await chat.says("it died")
        await chat.says(message="p1", pressed=Button(question="hardware.gpu", value="unknown"))
        return answers.tasks[1]

    assert dict(run(talk()).answers) == {"hardware.gpu": "unknown"}


def test_files_and_longer_texts_in_the_thread_are_more_of_the_job():
    async def talk():
        answers = Answers(LAUNCH)
        chat = Chat(Core(answers, "slack"))
        await chat.says("it died")
        await chat.says("launch below\nswift sft --model Qwen/Qwen3-8B")
        await chat.says(message="f", files=(TaskFile(name="train.log", data=LOG),))
        return answers.tasks[-1]

    task = run(talk())
    assert dict(task.answers) == {}
    assert [file.name for file in task.files] == ["message.md", "message-2.md", "train.log"]


def test_what_is_no_reply_to_the_question_is_read_as_more_of_the_job():
    async def talk():
        answers = Answers(CARD, refused=("8 cards of ours",))
        chat = Chat(Core(answers, "slack"))
        await chat.says("it died")
        await chat.says("8 cards of ours")
        await chat.says("A100-80G")
        return answers.tasks

    tasks = run(talk())
    assert tasks[2].files[1].data == b"8 cards of ours"
    assert dict(tasks[2].answers) == {}
    assert dict(tasks[3].answers) == {"hardware.gpu": "A100-80G"}


def test_a_retry_is_answered_once_and_worked_out_once():
    async def talk():
        answers = Answers()
        chat = Chat(Core(answers, "slack"))
        await asyncio.gather(*(chat.says("it died", message="E1") for _ in range(3)))
        return len(answers.tasks), chat.sent

    assert run(talk()) == (1, 1)


def test_where_sending_failed_a_retry_sends_what_was_worked_out():
    async def talk():
        answers = Answers()
        core = Core(answers, "slack")
        chat = Chat(core)

        async def broken(_outgoing):
            raise ConnectionError

        with pytest.raises(ConnectionError):
            await core.reply(Incoming(thread="C1/1", message="E1", text="it died"), broken)
        await chat.says("it died", message="E1")
        return len(answers.tasks), chat.sent

    assert run(talk()) == (1, 1)


def test_threads_know_nothing_of_each_other():
    async def talk():
        answers = Answers(YES_NO)
        core = Core(answers, "slack")
        await Chat(core, "C1/1").says("it died")
        await Chat(core, "C2/1").says("yes")
        return answers.tasks[1]

    task = run(talk())
    assert dict(task.answers) == {}
    assert [file.data for file in task.files] == [b"yes"]


def test_new_begins_another_job_in_a_new_message():
    async def talk():
        answers = Answers(YES_NO)
        chat = Chat(Core(answers, "discord"))
        await chat.says("it died")
        await chat.says("重新开始")
        await chat.says("another one died")
        return answers.tasks[-1].files, list(chat.shown)

    files, shown = run(talk())
    assert [file.data for file in files] == [b"another one died"]
    assert shown == ["m0", "m1"]


@pytest.mark.parametrize(
    ("text", "is_cut"), [("x" * 50, True), ("Traceback\n... truncated", False), ("[truncated]", 0)]
)
def test_a_log_that_was_cut_is_answered_and_asked_for_as_a_file(text, is_cut):
    sent = run(Chat(Core(Answers(), "slack")).says(text, is_cut=bool(is_cut)))

    assert sent.text.startswith("*Diagnosed*")
    assert "send the log as a file" in sent.text


def test_files_that_were_not_fetched_are_named_without_a_mention():
    sent = run(Chat(Core(Answers(), "slack")).says("it died", unread=("<!here>.bin",)))

    assert "Not read" in sent.text
    assert "<!here>" not in sent.text


def test_what_is_left_to_say_stays_within_the_limit():
    markup = load("discord")
    answers = Answers(YES_NO, message="x" * (markup.limit - 19))

    sent = run(Chat(Core(answers, "discord")).says("it died"))

    assert markup.size(sent.text) <= markup.limit
    assert sent.buttons


def test_nothing_said_is_answered_with_what_to_send_and_without_work():
    answers = Answers()

    sent = run(Chat(Core(answers, "plain")).says(" "))

    assert "how it was started" in sent.text
    assert sent.text == HELP.en
    assert answers.tasks == []


def test_a_button_of_a_forgotten_job_says_so():
    pressed = Button(question="a", value="yes")

    sent = run(Chat(Core(Answers(), "plain", "zh")).says(message="p", pressed=pressed))

    assert "重新发送" in sent.text


def test_what_cannot_be_answered_is_said_without_a_mention():
    async def talk():
        chat = Chat(Core(Answers(CARD, refused=("unknown",)), "discord"))
        await chat.says("it died")
        pressed = Button(question="hardware.gpu", value="unknown")
        return await chat.says(message="p", pressed=pressed)

    sent = run(talk())
    assert "expected a card" in sent.text
    assert "@here" not in sent.text


@pytest.mark.parametrize(
    ("error", "said"), [(BusyError(), "Too many questions"), (OSError(), "defect of trainrx")]
)
def test_a_service_in_trouble_says_so(error, said):
    async def fails(_task):
        raise error

    assert said in run(Chat(Core(fails, "slack")).says("it died")).text
