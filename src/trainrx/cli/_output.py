"""Read standard input; write the answer, or one clear message, whatever is connected."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

from trainrx.model.errors import KnowledgeError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    import msgspec

    from trainrx.model.text import Lang
    from trainrx.render.document import Document, View
    from trainrx.sanitizer import Level

INTERRUPTED = 130
MAX_BYTES = 512 * 1024 * 1024
NARROWEST = 40


def write(text: str, level: Level = "secrets") -> int:
    """Write lines of text, masked and safe to show; give the exit status."""
    from trainrx.sanitizer import media
    from trainrx.sanitizer.redactor import Redactor

    return write_answer(media.terminal(Redactor(level, (text,)).text(text)))


def write_patch(diff: str, seen: View) -> int:
    """Write a diff: byte for byte for `patch`, safe to show on a terminal; give the status."""
    from trainrx.render.redact import notes
    from trainrx.sanitizer import media
    from trainrx.sanitizer.patches import redacted
    from trainrx.sanitizer.redactor import Redactor

    patch = redacted(diff, Redactor(seen.redaction, (diff,)), applies=not seen.terminal)
    for note in notes(patch, seen.lang):
        complain(note, seen.lang, seen.redaction)
    if seen.terminal:
        return write_answer(media.terminal(patch.text))
    return write_answer(patch.text, utf8=True)


def write_file(text: str, seen: View) -> int:
    """Write what is to be a file: byte for byte, or safe to show on a terminal."""
    return write(text, seen.redaction) if seen.terminal else write_answer(text, utf8=True)


def write_answer(text: str, *, utf8: bool = False, paged: bool = False) -> int:
    """Write what `render` gave and flush it, or show it `paged`; give the exit status.

    `utf8`: a program reads it, whatever the locale; bytes that were no UTF-8 are what they were. A
    reader that has gone away (`| head`) is no error; an output that takes nothing (a full disk) is,
    status 2.
    """
    out = sys.stdout
    if out is None:
        return complain("standard output is closed, so there is no place for the answer")
    if paged and _has_pager(os.environ):
        return _page(text)
    encoding = "utf-8" if utf8 else (out.encoding or "utf-8")
    try:
        _send(text if utf8 else fitted(text, encoding), encoding)
    except BrokenPipeError:
        _abandon()
    except OSError as error:
        _abandon()
        reason = error.strerror or str(error)
        return complain(f"the answer could not be written to standard output: {reason}")
    return 0


def complain(message: str, lang: Lang = "en", level: Level = "secrets") -> int:
    """Say on standard error what is wrong, masked and safe to show; give exit status 2."""
    if lang == "zh":
        from trainrx.render.chinese import chinese

        message = chinese(message)
    return _say(f"diagnose: {message}\n", level)


def note(message: str, lang: Lang = "en", level: Level = "secrets") -> int:
    """Say something beside the answer on standard error; give exit status 0."""
    complain(message, lang, level)
    return 0


def _say(text: str, level: Level) -> int:
    """Write to standard error, masked and safe to show; give exit status 2."""
    from trainrx.sanitizer import media
    from trainrx.sanitizer.redactor import Redactor

    if sys.stderr is not None:
        encoding = sys.stderr.encoding or "utf-8"
        text = media.terminal(Redactor(level).text(text))
        try:
            sys.stderr.write(fitted(text, encoding))
            sys.stderr.flush()
        except OSError:
            return 2
    return 2


def fitted(text: str, encoding: str) -> str:
    """Replace what an encoding cannot hold: a check mark in GBK, a lone surrogate in UTF-8."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        return plain.encode(encoding, "replace").decode(encoding)
    return text


_PLAIN = str.maketrans("✓·█▓▒░–▁▂▃▄▅▆▇", "v-#%+.-_.-=+*%")


def _send(text: str, encoding: str) -> None:
    try:
        data = text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    except UnicodeEncodeError:
        data = text.encode(encoding, "replace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _abandon() -> None:
    """Point standard output at nothing, so that the interpreter's last flush is silent."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return


def read_stdin(names: Iterable[str | None]) -> bytes | None:
    """Give what stands on standard input when one of the names is `-`, else None.

    Raises:
        UsageError: `-` stands twice, nothing is connected, or it holds more than 512 MiB.
    """
    asked = sum(name == "-" for name in names)
    if not asked:
        return None
    if asked > 1:
        raise UsageError("`-` stands twice, but standard input can be read only once")
    if sys.stdin is None:
        raise UsageError("`-` asks for standard input, but it is closed")
    if sys.stdin.isatty():
        complain("reading from the terminal: paste, then press Enter and Ctrl-D")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(
            "standard input holds more than 512 MiB; write it to a file and give its name, "
            "files are read in pieces"
        )
    return data


def view(
    lang: Lang, width: int | None = None, level: Level = "secrets", *, everything: bool = False
) -> View:
    """Say how this terminal is to be written to; `width` goes before what it says."""
    from trainrx.render.document import View

    columns, rows = _size()
    return View(
        lang,
        width or columns,
        everything,
        colour=wants_colour(os.environ, terminal=is_terminal()),
        rows=rows,
        terminal=is_terminal(),
        redaction=level,
    )


def show(answer: msgspec.Struct, form: str, seen: View, *, paged: bool = False) -> int:
    """Print an answer in the form that was asked for, text `paged`; give the exit status."""
    from trainrx.render import is_for_programs, render

    paged = paged and form == "text" and seen.terminal
    utf8 = is_for_programs(answer, form, seen)
    return write_answer(render(answer, form, seen), utf8=utf8, paged=paged)


def _has_pager(environment: Mapping[str, str]) -> bool:
    """Tell whether there is a pager to use; that of Windows is asked for."""
    return os.name == "posix" or "PAGER" in environment


def _page(text: str) -> int:
    """Show what `render` gave in PAGER, else less; what fits the screen stays on it."""
    from pydoc import pager

    os.environ.setdefault("LESS", "FRX")
    pager(fitted(text, sys.stdout.encoding or "utf-8"))
    return 0


def show_page(document: Document, seen: View) -> int:
    """Print a page of the knowledge."""
    from trainrx.render.formats.text import write as written

    return write_answer(written(document, seen))


def format_option(kind: str) -> object:
    """Give the option that chooses among the formats there are for a kind of answer."""
    import typer

    from trainrx.render.formats import names

    known = names(kind)

    def check(name: str) -> str:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {str(known)[1:-1]}.")
        return name

    metavar = f"[{'|'.join(known)}]"
    return typer.Option("--format", metavar=metavar, callback=check, help="Form of the answer.")


def platform_option() -> object:
    """Give the option that chooses the chat or forge an answer is written for."""
    import typer

    from trainrx.render.markup import names

    known = names()

    def check(name: str) -> str:
        if name and name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {str(known)[1:-1]}.")
        return name

    return typer.Option(
        "--for",
        metavar=f"[{'|'.join(known)}]",
        callback=check,
        help="Write a short message in the markup of a chat or a forge, within what it takes.",
    )


def save(path: Path, text: str) -> None:
    """Write what `render` gave to a file.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Decide on colour: only for a terminal, never with NO_COLOR (https://no-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb")


def is_terminal() -> bool:
    """Tell whether somebody looks at standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def _size() -> tuple[int, int | None]:
    """Give columns and, for a terminal, rows; COLUMNS overrides."""
    columns, rows = 80, None
    try:
        if is_terminal():
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        columns, rows = 80, None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and len(given) < 5:
        columns = int(given)
    return max(columns or 80, NARROWEST), rows


def guarded(work: Callable[[], int], lang: Lang = "en", level: Level = "secrets") -> int:
    """Run a command; give its status, or 2 after a message when it could not do its work."""
    try:
        return work()
    except (UsageError, KnowledgeError) as error:
        return complain(str(error), lang, level)
    except KeyboardInterrupt:
        complain("interrupted", lang)
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except Exception as error:  # noqa: BLE001 - the last place where a defect can be told
        return _unexpected(error, lang, level)


def _unexpected(error: Exception, lang: Lang, level: Level) -> int:
    """Tell a wrong command line from a defect of this program.

    Typer brings its own copy of click's errors in some releases, so they are known by their shape.
    """
    show = getattr(error, "show", None)
    if callable(show) and hasattr(error, "exit_code"):
        return _say(_wrong_use(error, show, lang), level)
    if type(error).__name__ == "Abort":
        complain("interrupted", lang)
        return INTERRUPTED
    if os.environ.get("TRAINRX_DEBUG"):
        import traceback  # no answer takes it

        _say("".join(traceback.format_exception(error)), level)
    return complain(
        f"this is a defect of trainrx, not of your job: {type(error).__name__}: {error}\n"
        "Set TRAINRX_DEBUG=1 and run again to see where, then report it with the command line "
        "and that output (mask secrets first).",
        lang,
        level,
    )


def _wrong_use(error: Exception, show: Callable[..., object], lang: Lang) -> str:
    if lang == "zh":
        from trainrx.cli._chinese import WrongUse, wrong_use

        return wrong_use(cast("WrongUse", error))
    said = io.StringIO()
    show(file=said)
    return said.getvalue()
