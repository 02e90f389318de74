"""The answer to paste into an issue or a chat: verdict and first fix first, secrets masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainrx.model.facts import Origin
from trainrx.model.result import CauseOut, Diagnosis, FixOut, Reason, SymptomSeen
from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.cause import is_supported, percent
from trainrx.render.fixes import FixLine, first_fix, fix_lines, memory, names, one_line
from trainrx.render.head import checked, job_text, question
from trainrx.render.layout import clean
from trainrx.render.redact import redacted

MAX_TITLE = 110
MAX_FIRST_FIX = 110
MAX_QUOTE = 240
_BREAKER = "\u200b"
"""A zero-width space: splits a mention or a link without changing how it looks."""
_LIVE = re.compile(r"(?<=@)(?=\w)|(?<=<)(?=[!@#])|(?<=://)|(?<=\bwww)(?=\.)|(?<=#)(?=\d)")
_MARKS = re.compile(r"([\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z]))")
_LEADING = re.compile(r"^(\d{0,9})([#=+.)-])(?=[#=+-]*(?:\s|$))")


def to_markdown(diagnosis: Diagnosis, lang: Lang, *, addresses: bool = False) -> str:
    """Give the answer as Markdown without tables; secrets are masked always."""
    safe = redacted(diagnosis, addresses=addresses)
    titles = names(safe)
    lines = list(_head(safe, lang))
    for number, cause in enumerate(safe.causes, start=1):
        lines += _cause(cause, number, titles, lang)
    lines += _findings(safe, lang)
    lines += _symptoms(safe.symptoms, titles, lang)
    lines += _unread(safe, lang)
    lines += _asks(safe, lang)
    tool = f"{safe.tool.name} {safe.tool.version}"
    lines += ["", f"_{words.WRITTEN_BY.in_(lang).format(tool=tool)}_"]
    return "\n".join(lines) + "\n"


def guard(text: str) -> str:
    """Neutralise mentions, links and issue numbers of quoted text; it looks the same."""
    return _LIVE.sub(_BREAKER, clean(text))


def prose(text: str) -> str:
    """Make text stand for itself: marks escaped, `code` kept, mentions and links neutralised."""
    parts = clean(text).split("`")
    if len(parts) % 2 == 0:
        return _escape("`".join(parts))
    shown = (
        _escape(part) if index % 2 == 0 else code(guard(part))
        for index, part in enumerate(parts)
        if part
    )
    return _LEADING.sub(r"\1\\\2", "".join(shown))


def code(text: str) -> str:
    """Quote text as inline code, whatever backticks it holds."""
    ticks = "`" * (_longest_run(text) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def fence(lines: Iterable[str], language: str = "", indent: str = "") -> Iterator[str]:
    """Quote lines as a block, whatever backticks they hold."""
    lines = list(lines)
    ticks = "`" * max([3, *(_longest_run(line) + 1 for line in lines)])
    yield f"{indent}{ticks}{language}"
    yield from (indent + line for line in lines)
    yield indent + ticks


def _escape(text: str) -> str:
    text = _MARKS.sub(r"\\\1", text)
    return _LIVE.sub(_BREAKER, text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _short(text: str, limit: int) -> str:
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def _head(diagnosis: Diagnosis, lang: Lang) -> Iterator[str]:
    title, colon = words.MD_TITLE[diagnosis.verdict].in_(lang), words.COLON.in_(lang)
    best = diagnosis.causes[0] if diagnosis.causes else None
    if diagnosis.verdict == "unknown":
        yield f"**{title}**{colon}{words.UNKNOWN_CLAIM.in_(lang)}"
        ask = diagnosis.asks[0] if diagnosis.asks else None
        step = question(ask, lang) if ask else words.COLLECT.in_(lang)
        yield from ("", f"**{words.NEXT.in_(lang)}**{colon}{prose(step)}")
        if ask is None:
            yield from fence([words.COLLECT_COMMAND], "bash")
    elif diagnosis.verdict == "healthy":
        yield f"**{title}**{colon}{words.HEALTHY_CLAIM.in_(lang)}"
        for text in checked(diagnosis, lang):
            yield f"- {prose(text)}"
    elif best is None:
        yield f"**{title}**"
    else:
        yield f"**{title}**{words.PAREN.in_(lang).format(_sure(best, lang))}{colon}" + prose(
            _short(best.title, MAX_TITLE)
        )
        first = first_fix(diagnosis)
        if first is not None:
            text = _short(one_line(first[1], lang), MAX_FIRST_FIX)
            shown = code(text) if fix_lines(first[1], lang) else prose(text)
            yield from ("", f"**{words.FIRST_FIX.in_(lang)}**{colon}{shown}")
    job = job_text(diagnosis.job, lang)
    if job:
        yield from ("", f"{words.JOB.in_(lang)}{colon}{prose(job)}")


def _sure(cause: CauseOut, lang: Lang) -> str:
    return f"{words.LIKELY[cause.verdict].in_(lang)} {percent(cause.probability)}"


def _cause(cause: CauseOut, number: int, titles: dict[str, str], lang: Lang) -> Iterator[str]:
    yield from ("", f"### {number}. {prose(cause.title)}", "")
    yield from (f"{_sure(cause, lang)} · {code(cause.id)}", "")
    if not is_supported(cause):
        yield prose(words.COMMON.in_(lang))
        for index, fix in enumerate(cause.fixes[:1], start=1):
            yield from _fix(fix, index, lang)
        return
    yield prose(cause.summary)
    held = [reason for reason in cause.reasons if reason.holds is True]
    groups = (
        (words.WHY, [reason for reason in held if reason.weight >= 0]),
        (words.WHY_NOT, [reason for reason in held if reason.weight < 0]),
        (words.NOT_KNOWN, [reason for reason in cause.reasons if reason.holds is None]),
    )
    for title, reasons in groups:
        yield from _reasons(title.in_(lang), reasons, lang)
    if cause.fixes:
        yield from ("", f"**{words.CHANGE.in_(lang)}**")
    for index, fix in enumerate(cause.fixes, start=1):
        yield from _fix(fix, index, lang)
    if cause.already_right:
        yield from ("", f"**{words.ALREADY.in_(lang)}**", "")
    for item in cause.already_right:
        shown = code(item.spelled) if item.spelled else prose(item.title)
        yield f"- ✓ {shown}{_place(item.evidence[:1], lang)}"
    effects = [titles[name] for name in cause.effects if name in titles]
    if effects:
        named = words.LISTED.in_(lang).join(effects)
        yield from ("", f"{words.EFFECTS.in_(lang)}{words.COLON.in_(lang)}{prose(named)}")
    if cause.references:
        yield from ("", f"**{words.SOURCES.in_(lang)}**", "")
    for reference in cause.references:
        yield f"- <{reference.url}> {prose(reference.says)}"


def _reasons(title: str, reasons: list[Reason], lang: Lang) -> Iterator[str]:
    if reasons:
        yield from ("", f"**{title}**", "")
    for reason in reasons:
        sign = "" if reason.holds else ("(+) " if reason.weight > 0 else "(-) ")
        yield f"- {sign}{prose(reason.text)}{_place(reason.evidence, lang)}"
        quoted = [origin for origin in reason.evidence if origin.text.strip()]
        if quoted:
            yield from fence((_quote(origin) for origin in quoted[:2]), "text", "  ")


def _place(origins: Iterable[Origin], lang: Lang) -> str:
    named = [code(guard(str(origin))) for origin in origins]
    return words.PAREN.in_(lang).format(", ".join(named[:2])) if named else ""


def _quote(origin: Origin) -> str:
    return guard(_short(origin.text.strip(), MAX_QUOTE))


def _fix(fix: FixOut, number: int, lang: Lang) -> Iterator[str]:
    safety = words.SAFETY[fix.safety].in_(lang)
    yield from ("", f"{number}. {prose(fix.title)} · {safety}")
    lines = [_with_remark(line) for line in fix_lines(fix, lang)]
    if lines:
        yield from ("", *fence(lines, "bash", "   "))
    details = [prose(step) for step in fix.steps.splitlines() if step.strip()]
    if fix.predicted is not None:
        details.append(memory(fix.predicted, lang))
    if fix.cost:
        details.append(words.PRICE.in_(lang) + words.COLON.in_(lang) + prose(fix.cost))
    for text in (*details, *(prose(note) for note in fix.notes)):
        yield f"   - {text}"


def _with_remark(line: FixLine) -> str:
    return f"{line.text}  # {guard(line.remark)}" if line.remark else line.text


def _findings(diagnosis: Diagnosis, lang: Lang) -> Iterator[str]:
    if diagnosis.findings:
        yield from ("", f"### {words.FINDINGS.in_(lang)}", "")
    for finding in diagnosis.findings:
        place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        severity = words.SEVERITY[finding.severity].in_(lang)
        yield f"- {code(guard(place))} {severity}{words.COLON.in_(lang)}{prose(finding.message)}"
        edits = finding.fix.edits if finding.fix else ()
        texts = [clean(line) for edit in edits for line in edit.text.splitlines()]
        if texts:
            yield from fence(texts, "bash", "  ")


def _symptoms(
    symptoms: tuple[SymptomSeen, ...], titles: dict[str, str], lang: Lang
) -> Iterator[str]:
    if symptoms:
        yield from ("", f"### {words.SYMPTOMS.in_(lang)}", "")
    for item in symptoms:
        note = ""
        if item.echo_of:
            root = titles.get(item.echo_of, item.echo_of)
            note = words.PAREN.in_(lang).format(words.FOLLOWS.in_(lang).format(what=prose(root)))
        yield f"- {prose(item.title)}{note}{_place(item.evidence[:1], lang)}"
        if item.evidence and item.evidence[0].text.strip():
            yield from fence([_quote(item.evidence[0])], "text", "  ")


def _unread(diagnosis: Diagnosis, lang: Lang) -> Iterator[str]:
    if diagnosis.unread:
        yield from ("", f"### {words.UNREAD.in_(lang)}", "")
    for item in diagnosis.unread[:10]:
        place = item.source if item.line is None else f"{item.source}:{item.line}"
        yield f"- {code(guard(place))} {prose(item.reason)}"
    if len(diagnosis.unread) > 10:
        yield f"- {words.MORE_PLAIN.in_(lang).format(n=len(diagnosis.unread) - 10)}"
    if diagnosis.warnings:
        yield from ("", f"### {words.WARNINGS.in_(lang)}", "")
    for text in diagnosis.warnings:
        yield f"- {prose(text)}"


def _asks(diagnosis: Diagnosis, lang: Lang) -> Iterator[str]:
    if diagnosis.asks:
        unknown = diagnosis.verdict == "unknown"
        title = words.ASKS_UNKNOWN if unknown else words.ASKS
        yield from ("", f"### {title.in_(lang)}", "")
    for ask in diagnosis.asks:
        yield f"- {prose(question(ask, lang))}"
