"""A diagnosis as a document: the first screen, or with `--explain` all there is to say."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.result import Ask, Diagnosis, SymptomSeen
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import candidates, ranks_text, titles
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.inputs import inputs_section, unread_at, unread_section
from trainrx.render.ranks import ranks_section
from trainrx.render.screen import page
from trainrx.sanitizer.controls import clean


def document(answer: Diagnosis, view: View) -> Document:
    """Lay the answer out."""
    return _page(answer, view) if view.everything else page.document(answer, view)


def _page(answer: Diagnosis, view: View) -> Document:
    """Lay out what the screen begins with, then each cause with its terms, then the inputs."""
    head = page.head(answer, view)
    warnings = tuple(doc.Bullet(text) for text in answer.warnings)
    return Document(
        children(
            head,
            candidates(answer, view),
            doc.Section(view.say(words.DIFFERENTIAL), tuple(_differential(answer, view))),
            doc.Section(view.say(words.FINDINGS), tuple(_findings(answer, view))),
            _symptoms(answer, view),
            ranks_section(answer, view),
            doc.Section(view.say(words.NEIGHBOURS), tuple(_neighbours(answer, view))),
            inputs_section(answer.inputs, view),
            unread_section(answer.unread, view, quoted=not view.post),
            doc.Section(view.say(words.WARNINGS), warnings),
            _asks(answer, view),
        ),
        page.labels(head),
        f"{answer.tool.name} {answer.tool.version}",
    )


def _differential(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    for item in answer.differential:
        said = (
            view.labelled(label, text)
            for label, text in ((words.CONFIRMS, item.confirm), (words.RULES_OUT, item.rule_out))
            if text
        )
        title = item.title + view.paren(item.id)
        yield doc.Bullet(title, children=tuple(doc.Paragraph(text) for text in said))


def _neighbours(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    for item in answer.neighbours:
        named = item.id if view.chat else f"diagnose explain {item.id}"
        yield doc.Bullet(item.title + view.paren(named))


def _findings(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    for finding in answer.findings:
        said = view.labelled(words.SEVERITY[finding.severity], finding.message)
        edits = finding.fix.edits if finding.fix else ()
        lines = tuple(CopyLine(clean(line)) for edit in edits for line in edit.text.splitlines())
        code = (doc.Code(lines),) if lines else ()
        at = unread_at(finding.file, finding.line)
        yield doc.Bullet(said, at=at, joint="  ", children=code)


def _symptoms(answer: Diagnosis, view: View) -> doc.Section:
    names = {item.id: item.title for item in answer.symptoms}
    items = (
        doc.Bullet(item.title + _details(item, names, view), evidence=item.evidence)
        for item in answer.symptoms
    )
    return doc.Section(view.say(words.SYMPTOMS), tuple(items))


def _details(item: SymptomSeen, names: dict[str, str], view: View) -> str:
    """Say how often, on which ranks, in which stage, and whether it only follows."""
    parts: list[str] = []
    if not view.post:
        parts += [view.say(words.TIMES, n=item.count)] if item.count > 1 else []
        parts += [ranks_text(item.ranks, view)] if item.ranks else []
        parts += [words.phase(item.phase, view.lang)] if item.phase else []
    if item.echo_of:
        root = names.get(item.echo_of, item.echo_of)
        parts.append(view.say(words.FOLLOWS, what=root))
    return view.paren(view.say(words.COMMA).join(parts))


def _asks(answer: Diagnosis, view: View) -> doc.Section:
    title = words.ASKS_UNKNOWN if answer.verdict == "unknown" else words.ASKS
    names = titles(answer)
    items = (
        doc.Bullet(ask.what, "?", children=_answering(ask, names, view)) for ask in answer.asks
    )
    return doc.Section(view.say(title), tuple(items))


def _answering(ask: Ask, names: dict[str, str], view: View) -> tuple[doc.Node, ...]:
    """Say what an answer would tell apart, how to find it out and what it means."""
    causes = view.say(words.OR_ELSE).join(names.get(one, one) for one in ask.splits)
    return children(
        doc.Paragraph(view.say(words.SPLITS, causes=causes)) if ask.splits else None,
        doc.Paragraph(ask.how) if ask.how else None,
        doc.Code((CopyLine(clean(ask.command)),)) if ask.command else None,
        [doc.Paragraph(text) for text in ask.reading],
    )
