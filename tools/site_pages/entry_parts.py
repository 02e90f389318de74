"""The parts entries have in common: head, evidence, remedies, lines, sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from site_pages import words as site_words
from site_pages.markup import block, bullets, code, prose, text
from site_pages.places import FRAMEWORKS, Site, other
from trainrx.fix.amounts import in_words
from trainrx.fix.measures import measure_text
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Amount, Evidence, Fix
from trainrx.model.parts import Reference
from trainrx.model.text import Text
from trainrx.reason.phrasing import ONLY_IF, amount_text, condition_text
from trainrx.render import words
from trainrx.render.explain import verified_text

BOOST = {"symptoms": 4, "causes": 3, "guards": 2, "ranges": 2, "params": 3, "rules": 0}
"""What a pasted line is looked for in, first."""


def head(site: Site, path: str, title: Text, ident: str, facts: Sequence[str]) -> list[str]:
    """Begin a page: title, the way to the other language, id and what kind of thing it is."""
    switch = site.says(site_words.OTHER_LANGUAGE)
    line = " · ".join([code(ident), *(text(fact) for fact in facts if fact)])
    return [
        *weighed(BOOST.get(path.partition("/")[0], 1), "entry.html"),
        f"# {text(site.says(title))}",
        "",
        f'{line} · <a href="{other(path, site.lang)}">{switch}</a>',
        "",
    ]


def weighed(boost: float, template: str = "main.html") -> list[str]:
    """Say how much a page counts in a search, 0 keeps it out, and by which template it is made."""
    told = f"boost: {boost:g}" if boost else "exclude: true"
    return ["---", f"template: {template}", "search:", f"  {told}", "---", ""]


def part(site: Site, title: Text, lines: Sequence[str], *, sought: bool = True) -> list[str]:
    """Put a heading over lines; nothing without lines. What is not `sought` no search finds."""
    mark = "" if sought else " { data-search-exclude }"
    return ["", f"## {text(site.says(title))}{mark}", "", *lines] if any(lines) else []


def votes(site: Site, listed: Sequence[Evidence], sign: int) -> list[str]:
    """List the evidence with its weights; the tests themselves stand in `diagnose explain`."""
    return bullets(
        f"{sign * vote.weight:+g} ".replace("-", "−") + prose(site.says(vote.why))
        for vote in sorted(listed, key=lambda vote: -vote.weight)
    )


def remedies(site: Site, fixes: Sequence[Fix]) -> list[str]:
    """Give all remedies, best first."""
    out: list[str] = []
    for number, fix in enumerate(fixes, start=1):
        out += _remedy(site, fix, number)
    return out


def _remedy(site: Site, fix: Fix, number: int) -> Iterator[str]:
    safety = site.says(words.SAFETY[fix.safety])
    # a heading would be a search result of its own
    yield from ("", f"**{number}&#46; {text(site.says(fix.title))}**", "")
    yield f"{text(safety)} · {site.says(words.PRICE)}{colon(site)}{prose(site.says(fix.cost))}"
    if fix.only_if is not None:
        told = site.names(condition_text(fix.only_if, site.lang))
        yield from ("", f"{site.says(ONLY_IF)}{colon(site)}{told}")
    yield from _spellings(site, fix)
    rest = [p.shown for p in fix.packages]
    rest += [measure_text(measure, site.lang) for measure in fix.measures]
    yield from bullets(code(line) for line in rest)
    for step in (site.says(fix.steps) if fix.steps else "").splitlines():
        yield from ("", prose(step))
    if fix.commands:
        yield from block(line for command in fix.commands for line in command.splitlines())
    yield ""


def _spellings(site: Site, fix: Fix) -> list[str]:
    """Show parameters by their canonical names, and as each framework writes them."""
    rows: list[str] = []
    for framework in FRAMEWORKS:
        cells = [_cell(site, name, value, framework) for name, value in fix.set.items()]
        if any(cells):
            rows.append(f"{framework}{colon(site)}{' '.join(cell for cell in cells if cell)}")
    named = [
        f"{name.removeprefix(ARGUMENT)}: {amount_text(value)}" for name, value in fix.set.items()
    ]
    named += [f"{site.says(words.DELETE)} {name.removeprefix(ARGUMENT)}" for name in fix.unset]
    return bullets([*(site.names(line) for line in named), *rows])


def _cell(site: Site, name: str, value: Scalar | Amount, framework: str) -> str:
    if not isinstance(value, Amount):
        plain = site.spell(name, value, framework)
        return code(plain.text) if plain is not None else ""
    probe = site.spell(name, 1, framework)
    if probe is None:
        return ""
    if value.value is not None:
        known = site.spell(name, value.value, framework)
        return code(known.text) if known is not None else ""
    return code(probe.param) + " " + text(site.says(in_words(value)))


def colon(site: Site) -> str:
    """Give the colon of the language, with the space it wants."""
    return "：" if site.lang == "zh" else "&#58; "


def lines_of(site: Site, title: Text, listed: Iterable[str], *, sought: bool = True) -> list[str]:
    """Quote sample lines under a heading."""
    quoted = list(listed)
    return part(site, title, block(quoted), sought=sought) if quoted else []


def sources(site: Site, references: Sequence[Reference], kind: str, ident: str) -> list[str]:
    """List what the claims rest on, when each was last read, and whether another looked too."""
    items = []
    for ref in references:
        when = site_words.LOOKED if ref.checked else site_words.SECOND_HAND
        said = text(site.says(when).format(date=ref.checked))
        where = f"[{text(_short(ref.url))}](<{ref.url}>)" if ref.url else prose(ref.says or ref.id)
        items.append(f"{where} · {said}")
    looks = site.looks.get((kind, ident))
    verified = [] if looks is None else ["", text(verified_text(looks, site.lang))]
    return part(site, words.SOURCES, [*bullets(items), *verified], sought=False)


def _short(url: str) -> str:
    told = url.removeprefix("https://")
    return told if len(told) <= 80 else f"{told[:50]}…{told[-27:]}"
