"""Sessions of a real client with `diagnose lsp` over its standard input and output."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

RUN = "import sys; from trainrx.cli import main; sys.exit(main())"
VERSIONS = {"ms-swift": "3.2.1"}
BAD = "swift sft --model Qwen/Qwen2.5-7B-Instruct \\\n    --dataset a.jsonl \\\n    --lora_rnak 8\n"
LONGEST = 60


class Editor:
    """What an editor keeps of a session: its texts and what is said of them."""

    def __init__(self, folder: Path) -> None:
        self.client = LanguageClient("test", "1")
        self.folder = folder
        self.said: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.texts: dict[str, str] = {}
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._published))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda p: self.messages.append(p.message))
        self.client.feature(types.WINDOW_LOG_MESSAGE)(lambda p: self.messages.append(p.message))

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        self.said[params.uri] = params
        self._news.set()

    async def start(self, options=None, markdown=True, encodings=None, words=(), **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
        await self.client.start_io(
            sys.executable,
            *("-c", RUN, "lsp", *words),
            env={**clean, "LC_ALL": "C.UTF-8", **env},
            cwd=self.folder,
        )
        return await self.begin(options, markdown, encodings)

    async def begin(self, options=None, markdown=True, encodings=None):
        formats = [types.MarkupKind.Markdown] if markdown else [types.MarkupKind.PlainText]
        return await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(
                    general=types.GeneralClientCapabilities(position_encodings=encodings),
                    text_document=types.TextDocumentClientCapabilities(
                        hover=types.HoverClientCapabilities(content_format=formats)
                    ),
                ),
                root_uri=self.folder.as_uri(),
                initialization_options={"versions": VERSIONS, "delay": 0.02, **(options or {})},
            )
        )

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "shellscript") -> str:
        uri = self.uri(name)
        self.texts[uri] = text
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return uri

    def change(self, uri: str, text: str, version: int) -> None:
        self.texts[uri] = text
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                content_changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )

    def save(self, uri: str) -> None:
        item = types.TextDocumentIdentifier(uri=uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=item))

    def close(self, uri: str) -> None:
        item = types.TextDocumentIdentifier(uri=uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=item))

    async def heard(self, uri: str, version: int | None = 1, rules=None) -> list[types.Diagnostic]:
        """Wait until a version of a text is judged, and found to hold what is expected."""

        async def wait() -> list[types.Diagnostic]:
            while True:
                self._news.clear()
                held = self.said.get(uri)
                if held is not None and held.version == version:
                    found = [item.code for item in held.diagnostics]
                    if rules is None or found == rules:
                        return list(held.diagnostics)
                await self._news.wait()

        return await asyncio.wait_for(wait(), LONGEST)

    async def actions(self, uri: str, where: types.Range, only=None) -> list[types.CodeAction]:
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=types.TextDocumentIdentifier(uri=uri),
                range=where,
                context=types.CodeActionContext(diagnostics=[], only=only),
            )
        )
        return list(found or [])

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        return await self.client.text_document_hover_async(
            types.HoverParams(
                text_document=types.TextDocumentIdentifier(uri=uri),
                position=types.Position(line=line, character=character),
            )
        )

    def applied(self, uri: str, action: types.CodeAction) -> str:
        """Carry out an action as an editor does that counts in UTF-16."""
        text = self.texts[uri]
        edits = action.edit.changes[uri]
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[
            ::-1
        ]:
            start, stop = (offset(text, at) for at in (edit.range.start, edit.range.end))
            text = text[:start] + edit.new_text + text[stop:]
        return text


def offset(text: str, at: types.Position) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: at.line])
    if at.line >= len(lines):
        return len(text)
    units = lines[at.line].encode("utf-16-le")[: 2 * at.character]
    return before + len(units.decode("utf-16-le"))


def cut(text: str, where: types.Range) -> str:
    return text[offset(text, where.start) : offset(text, where.end)]


def listens(port: int) -> bool:
    """Tell whether a port is listened on, without a connection the server would take for ours."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def session(folder: Path, play, **start) -> None:
    async def run() -> None:
        editor = Editor(folder)
        await editor.start(**start)
        try:
            await asyncio.wait_for(play(editor), 2 * LONGEST)
        finally:
            await editor.stop()

    asyncio.run(run())


def test_a_quick_fix_makes_the_text_clean(tmp_path):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        (found,) = await editor.heard(uri)
        actions = await editor.actions(uri, found.range)
        editor.change(uri, editor.applied(uri, actions[0]), 2)

        assert await editor.heard(uri, 2) == []
        assert editor.texts[uri] == BAD.replace("rnak", "rank")
        assert (found.code, found.severity) == ("misspelt-argument", types.DiagnosticSeverity.Error)
        assert cut(BAD, found.range) == "--lora_rnak"
        assert "did you mean --lora_rank?" in found.message
        assert actions[0].title == "Replace --lora_rnak with --lora_rank"
        assert (actions[0].is_preferred, actions[0].kind) == (True, "quickfix")

    session(tmp_path, play)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-32"])
def test_columns_are_counted_as_the_editor_counts(tmp_path, encoding):
    line = 'swift sft --model "模型/🚀x" --dataset 数据😀.jsonl --lora_rnak 8'
    text = f"# 说明 🚀\n{line}\n"

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", text)
        (found,) = await editor.heard(uri)

        before = line[: line.index("--lora_rnak")]
        code = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
        size = {"utf-16": 2, "utf-32": 4}.get(encoding, 1)
        start = len(before.encode(code)) // size
        assert (found.range.start.line, found.range.start.character) == (1, start)
        assert found.range.end.character == start + len("--lora_rnak")
        shown = await editor.hover(uri, 1, start + 1)
        assert shown is not None
        assert "misspelt-argument" in shown.contents.value

    session(tmp_path, play, encodings=[encoding])


ONE_LINE = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset 数据😀.jsonl --lora_rnak 8\n"
CONFIG = """\
stage: sft
finetuning_type: lora
model_name_or_path: Qwen/Qwen2.5-7B
template: qwen
dataset: a
cutof_len: 2048
"""


def test_an_ignored_finding_is_gone(tmp_path):
    options = {"versions": {**VERSIONS, "llamafactory": "0.9.3"}}

    async def play(editor: Editor) -> None:
        for name, text, language in (
            ("launch.sh", BAD, "shellscript"),
            ("one-line.sh", ONE_LINE, "sh"),
            ("train.yaml", CONFIG, "yaml"),
        ):
            uri = editor.open(name, text, language)
            (found,) = await editor.heard(uri)
            actions = await editor.actions(uri, found.range)
            (ignore,) = [item for item in actions if item.title.startswith("Ignore")]
            editor.change(uri, editor.applied(uri, ignore), 2)

            assert await editor.heard(uri, 2) == []
            assert "# diagnose: ignore=misspelt-argument" in editor.texts[uri]
            assert ignore.is_preferred is None

    session(tmp_path, play, options=options)


def test_fix_all_mends_what_is_safe(tmp_path):
    text = BAD.replace("--dataset", "--learnin_rate 1e-4 --dataset").replace("\n", "\r\n")

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", text)
        await editor.heard(uri)
        everything = types.Range(types.Position(0, 0), types.Position(3, 0))
        (action,) = await editor.actions(uri, everything, ["source.fixAll"])

        assert action.kind == "source.fixAll.trainrx"
        right = text.replace("rnak", "rank").replace("learnin_", "learning_")
        assert editor.applied(uri, action) == right

    session(tmp_path, play)


def test_hover_says_what_explain_says(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN, "explain", "misspelt-argument", "--width", "100"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"},
    )

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri)
        shown = await editor.hover(uri, 2, 8)

        assert shown is not None
        assert shown.contents.value == done.stdout
        assert cut(BAD, shown.range) == "--lora_rnak"

    session(tmp_path, play, markdown=False)


def test_hover_tells_what_an_argument_is_at_this_release(tmp_path):
    text = "NPROC_PER_NODE=2 swift sft --model m --dataset d --lora_rank 16 --learning_rate 1e-4\n"

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", text)
        await editor.heard(uri)
        rank = await editor.hover(uri, 0, text.index("lora_rank"))
        variable = await editor.hover(uri, 0, 3)
        value = await editor.hover(uri, 0, text.index("1e-4") + 1)

        assert rank is not None
        assert "ms-swift 3.2.1 sft" in rank.contents.value
        assert "takes int, default 8, here 16" in rank.contents.value
        assert "tuner.rank" in rank.contents.value
        assert variable is not None
        assert "parallel.processes_per_node" in variable.contents.value
        assert value is None

    session(tmp_path, play, markdown=False)


def test_markdown_is_sent_to_whom_takes_it(tmp_path):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri)
        shown = await editor.hover(uri, 2, 8)

        assert shown is not None
        assert shown.contents.kind == types.MarkupKind.Markdown
        assert shown.contents.value.startswith("`misspelt-argument`")

    session(tmp_path, play)


@pytest.mark.parametrize(
    ("start", "word"),
    [
        ({"options": {"lang": "zh"}}, "是否想写"),
        ({"LC_ALL": "zh_CN.UTF-8"}, "是否想写"),
        ({"words": ("--lang", "zh")}, "是否想写"),
        ({"words": ("--lang", "zh"), "options": {"lang": "en"}}, "did you mean"),
    ],
)
def test_the_language_is_the_editors_then_the_command_lines(tmp_path, start, word):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        (found,) = await editor.heard(uri)
        shown = await editor.hover(uri, 2, 8)

        assert word in found.message
        assert shown is not None
        assert ("错误" in shown.contents.value or "规则" in shown.contents.value) == (
            word == "是否想写"
        )

    session(tmp_path, play, **start)


def test_only_the_last_of_quick_changes_is_told(tmp_path):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri)
        for version in range(2, 12):
            editor.change(uri, BAD.replace("rnak", "rank" if version == 11 else "x"), version)

        assert await editor.heard(uri, 11) == []

    session(tmp_path, play)


def test_texts_without_a_launch_are_left_alone(tmp_path):
    async def play(editor: Editor) -> None:
        other = editor.open("other.sh", "echo --lora_rnak 8 \\ \nls\n")
        notes = editor.open("README.md", BAD, "markdown")
        data = editor.open("data.json", '{"a": 1}', "json")

        assert [await editor.heard(uri) for uri in (other, notes, data)] == [[], [], []]

    session(tmp_path, play)


def test_saving_a_file_that_a_script_names_judges_the_script_again(tmp_path):
    config = tmp_path / "train.yaml"
    config.write_text("model: m\ndataset: d\nlora_rnak: 8\n")
    script = "swift sft train.yaml --lora_alpha 16\n"

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", script)
        (found,) = await editor.heard(uri)
        config.write_text("model: m\ndataset: d\nlora_rank: 8\n")
        editor.save(uri)

        assert await editor.heard(uri, rules=[]) == []
        assert cut(script, found.range) == "train.yaml"
        (there,) = found.related_information
        assert there.location.uri == config.as_uri()
        assert there.location.range.start == types.Position(2, 0)

    session(tmp_path, play, options={"versions": {"ms-swift": "4.0.0"}})


def test_settings_of_the_project_count(tmp_path):
    (tmp_path / "trainrx.toml").write_text(
        'exclude = ["old/*"]\nper-file-ignores = {"kept.sh" = ["misspelt-argument"]}\n'
    )

    async def play(editor: Editor) -> None:
        names = ("launch.sh", "kept.sh", "old/launch.sh")
        counts = [len(await editor.heard(editor.open(name, BAD))) for name in names]

        assert counts == [1, 0, 0]

    session(tmp_path, play)


def test_settings_that_are_no_good_are_told_once(tmp_path):
    (tmp_path / "trainrx.toml").write_text("no such = setting\n")

    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri)
        editor.change(uri, BAD + "\n", 2)
        await editor.heard(uri, 2)

        assert len(editor.messages) == 1
        assert "trainrx.toml" in editor.messages[0]

    session(tmp_path, play)


def test_options_can_change_while_it_runs(tmp_path):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri, rules=["misspelt-argument"])
        settings = {"trainrx": {"ignore": ["misspelt-argument"], "versions": "ms-swift==3.2.1"}}
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings=settings)
        )

        assert await editor.heard(uri, rules=[]) == []

    session(tmp_path, play)


def test_a_closed_text_has_no_findings(tmp_path):
    async def play(editor: Editor) -> None:
        uri = editor.open("launch.sh", BAD)
        await editor.heard(uri)
        editor.close(uri)

        assert await editor.heard(uri, None) == []

    session(tmp_path, play)


TRAPS = (
    "",
    "\x00\x01\x02",
    "#!/bin/bash\nswift sft \ud800 --lora_rnak\r8 \x0c \u2028 --x\n",
    "swift sft '" + "(" * 5000,
    "#!/bin/sh\n" + "swift sft --a \\\n" * 200,
    "model: [" * 3000,
    "# diagnose: ignore=\n# diagnose: ignore=x\nswift sft --lora_rnak 8",
)


def test_no_text_ends_the_session(tmp_path):
    async def play(editor: Editor) -> None:
        start = types.Position(0, 0)
        for number, text in enumerate(TRAPS):
            uri = editor.open(f"launch{number}.sh", text)
            await editor.heard(uri)
            for line, character in ((0, 0), (0, 10**6), (10**6, 0), (1, 20)):
                await editor.hover(uri, line, character)
            await editor.actions(uri, types.Range(start, types.Position(10**6, 0)))
        nowhere = editor.uri("not-open.sh")
        assert await editor.hover(nowhere, 0, 0) is None
        assert await editor.actions(nowhere, types.Range(start, start)) == []
        other = editor.open("other.sh", BAD)

        assert [item.code for item in await editor.heard(other)] == ["misspelt-argument"]
        assert editor.messages == []

    session(tmp_path, play)


def test_it_listens_on_a_port(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def play(editor: Editor) -> None:
        await editor.client.start_tcp("127.0.0.1", port)
        await editor.begin()
        uri = editor.open("launch.sh", BAD)

        assert [item.code for item in await editor.heard(uri)] == ["misspelt-argument"]
        await editor.stop()

    server = subprocess.Popen([sys.executable, "-c", RUN, "lsp", "--tcp", str(port)])
    deadline = time.monotonic() + LONGEST
    try:
        while not listens(port) and time.monotonic() < deadline:
            time.sleep(0.02)
        asyncio.run(asyncio.wait_for(play(Editor(tmp_path)), 2 * LONGEST))
        assert server.wait(LONGEST) == 0
    finally:
        server.kill()
        server.wait()


def test_a_taken_port_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-c", RUN, "lsp", "--tcp", port],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )

    assert done.returncode == 2
    assert f"port {port} cannot be listened on" in done.stderr


def test_without_the_library_it_says_what_to_install(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pygls'] = None\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))

    done = subprocess.run(
        [sys.executable, "-c", RUN, "lsp"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )

    assert done.returncode == 2
    assert "pip install 'trainrx[lsp]'" in done.stderr
    assert done.stdout == ""
