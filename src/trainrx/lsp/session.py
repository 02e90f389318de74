"""One editor's session: answers its messages with what lint and the knowledge base say."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types
from pygls.uris import to_fs_path

from trainrx.lsp.actions import all_fixes, quick_fixes
from trainrx.lsp.edited_text import EditedText, EditorPosition, readable
from trainrx.lsp.hover import as_markdown, hover
from trainrx.lsp.wire import FIX_ALL, as_json, diagnostic, offered, shown, stretch, wants
from trainrx.lsp.workspace import LintedDocument, OpenDocument, Workspace, options_from
from trainrx.model.errors import UsageError
from trainrx.render.formats.text import plain

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer
    from pygls.workspace import TextDocument

T = TypeVar("T")
M = TypeVar("M")
R = TypeVar("R")
SECTION = "trainrx"
"""The key of an editor's settings that are ours."""


class Session:
    """What is open in an editor, and what was said of it last.

    Args:
        server: what the messages come and go through.
        workspace: judges texts.
    """

    def __init__(self, server: LanguageServer, workspace: Workspace) -> None:
        self._server = server
        self._workspace = workspace
        self._turns: dict[str, int] = {}
        self._shown_once: set[str] = set()
        self._one = asyncio.Lock()

    def register(self) -> None:
        """Say which messages are answered."""
        kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
        options = types.CodeActionOptions(code_action_kinds=kinds)
        add = self._server.feature
        add(types.INITIALIZE)(partial(self.begin))
        add(types.TEXT_DOCUMENT_DID_OPEN)(_function(self.opened))
        add(types.TEXT_DOCUMENT_DID_CHANGE)(_function(self.changed))
        add(types.TEXT_DOCUMENT_DID_SAVE)(_function(self.saved))
        add(types.TEXT_DOCUMENT_DID_CLOSE)(partial(self.closed))
        add(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_function(self.configured))
        add(types.TEXT_DOCUMENT_HOVER)(_function(self.hovered))
        add(types.TEXT_DOCUMENT_CODE_ACTION, options)(_function(self.asked))

    def begin(self, params: types.InitializeParams) -> None:
        """Take the options and the folder of the editor."""
        root = self._server.workspace.root_path
        self._workspace.root = Path(root) if root else None
        self._take(params.initialization_options)

    async def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Judge a text at once."""
        await self._judge(params.text_document.uri, 0)

    async def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Judge a text when its writer pauses."""
        await self._judge(params.text_document.uri, self._workspace.options.delay)

    async def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """Judge all that is open: what was saved may be a file the others name."""
        del params
        self._workspace.forget()
        for uri in list(self._turns):
            await self._judge(uri, 0)

    async def configured(self, params: types.DidChangeConfigurationParams) -> None:
        """Take other options, and judge all that is open."""
        settings = as_json(params.settings)
        if isinstance(settings, Mapping) and SECTION in settings:
            self._take(settings[SECTION])
        for uri in list(self._turns):
            await self._judge(uri, 0)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Take back what was said of a text."""
        uri = params.text_document.uri
        self._turns.pop(uri, None)
        self._publish(uri, [], None)

    async def hovered(self, params: types.HoverParams) -> types.Hover | None:
        """Explain the word under the pointer."""
        document = self._document(params.text_document.uri)
        edited = self._edited(document)
        at = edited.found(EditorPosition(params.position.line, params.position.character))

        def work() -> types.Hover | None:
            shown = hover(self._look(document), edited, at, self._workspace.folders)
            if shown is None:
                return None
            if self._takes_markdown():
                kind, text = types.MarkupKind.Markdown, as_markdown(shown.lines)
            else:
                kind, text = types.MarkupKind.PlainText, plain(shown.lines)
            return types.Hover(
                contents=types.MarkupContent(kind=kind, value=text),
                range=stretch(edited, shown.start, shown.stop),
            )

        return await self._aside(work, None)

    async def asked(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Give what can be done about the findings in a stretch of a text."""
        uri = params.text_document.uri
        document = self._document(uri)
        edited = self._edited(document)
        ends = (params.range.start, params.range.end)
        lines = [edited.counted(edited.found(EditorPosition(e.line, e.character)))[0] for e in ends]
        only = params.context.only

        def work() -> list[types.CodeAction]:
            linted = self._look(document)
            found: list[types.CodeAction] = []
            if wants(types.CodeActionKind.QuickFix, only):
                fixes = quick_fixes(linted, min(lines), max(lines), self._workspace.knowledge)
                found += [offered(action, uri, edited) for action in fixes]
            # making every fix is a command of its own: no lamp is lit for it
            if only and wants(FIX_ALL, only):
                every = all_fixes(linted)
                found += [] if every is None else [offered(every, uri, edited)]
            return found

        return await self._aside(work, [])

    async def _judge(self, uri: str, delay: float) -> None:
        """Judge a text and tell what is found, unless it has changed again by then."""
        turn = self._turns[uri] = self._turns.get(uri, 0) + 1
        await asyncio.sleep(max(delay, 0))
        if self._turns.get(uri) != turn:
            return
        document = self._document(uri)
        version = self._server.workspace.get_text_document(uri).version
        none: list[types.Diagnostic] = []
        found = await self._aside(lambda: self._diagnostics(document, uri), none)
        if self._turns.get(uri) == turn:
            self._publish(uri, found, version)

    def _diagnostics(self, document: OpenDocument, uri: str) -> list[types.Diagnostic]:
        edited = self._edited(document)
        linted = self._look(document)
        return [diagnostic(item, linted, edited, uri) for item in linted.findings]

    def _look(self, document: OpenDocument) -> LintedDocument:
        try:
            return self._workspace.look(document)
        except UsageError as error:
            self._complain(str(error))
            return self._workspace.plain(document)

    async def _aside(self, work: Callable[[], T], otherwise: T) -> T:
        """Work while messages keep coming; one at a time.

        A defect of this program costs an answer, never the session.
        """
        async with self._one:
            try:
                return await asyncio.to_thread(work)
            except Exception:  # noqa: BLE001 - the last place where a defect can be told
                self._log(traceback.format_exc())
                return otherwise

    def _take(self, options: object) -> None:
        try:
            self._workspace.options = options_from(as_json(options))
        except UsageError as error:
            self._complain(str(error))
        self._workspace.forget()

    def _document(self, uri: str) -> OpenDocument:
        held: TextDocument = self._server.workspace.get_text_document(uri)
        path = to_fs_path(uri) if uri.startswith("file:") else None
        name = uri.rpartition("/")[2] or uri
        # what is not open has no text here; nothing is read behind the editor's back
        text = held.source if uri in self._turns else ""
        return OpenDocument(text, Path(path) if path else None, held.language_id or "", name)

    def _edited(self, document: OpenDocument) -> EditedText:
        encoding = self._server.workspace.position_encoding
        return EditedText(readable(document.text), getattr(encoding, "value", encoding) or "utf-16")

    def _takes_markdown(self) -> bool:
        text = self._server.client_capabilities.text_document
        formats = text.hover.content_format if text and text.hover else None
        return bool(formats) and types.MarkupKind.Markdown in (formats or ())

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )

    def _complain(self, message: str) -> None:
        """Show a message once: the same settings are read with every key stroke."""
        if message not in self._shown_once:
            self._shown_once.add(message)
            self._server.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Warning, message=shown(message))
            )

    def _log(self, message: str) -> None:
        self._server.window_log_message(
            types.LogMessageParams(
                type=types.MessageType.Error, message="\n".join(map(shown, message.splitlines()))
            )
        )


def _function(method: Callable[[M], Awaitable[R]]) -> Callable[[M], Awaitable[R]]:
    """Give a method as a function: the library marks what it registers, no method takes marks."""

    async def answer(params: M) -> R:
        return await method(params)

    return answer
