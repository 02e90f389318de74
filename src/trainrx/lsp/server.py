"""Start the language server."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from trainrx.model import __version__
from trainrx.model.errors import UsageError
from trainrx.model.text import Lang

HOST = "127.0.0.1"


def serve(
    lang: Lang, *, kb: Sequence[Path] = (), rules: Sequence[Path] = (), port: int | None = None
) -> None:
    """Speak to one editor until it says goodbye.

    Args:
        lang: language of the messages where neither editor nor project asks for one.
        kb: folders of further knowledge.
        rules: folders of further rules.
        port: listen on this port of this machine instead of standard input.

    Raises:
        UsageError: pygls is not installed, or the port is taken.
        KnowledgeError: a folder of further knowledge is malformed.
    """
    if find_spec("pygls") is None:
        raise UsageError(
            "diagnose lsp needs pygls, which is not installed: pip install 'trainrx[lsp]'"
        )
    from lsprotocol.types import TextDocumentSyncKind
    from pygls.lsp.server import LanguageServer

    from trainrx.lsp.session import Session
    from trainrx.lsp.workspace import Workspace

    # the whole text comes with each change: a script is short, and both sides then count alike
    server = LanguageServer(
        "trainrx", __version__, text_document_sync_kind=TextDocumentSyncKind.Full
    )
    Session(server, Workspace(lang, kb, rules)).register()
    if port is None:
        server.start_io()
        return
    try:
        server.start_tcp(HOST, port)
    except OSError as error:
        raise UsageError(f"port {port} cannot be listened on: {error.strerror}") from error
