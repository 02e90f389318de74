"""How much is known: counts per kind, failure and framework, tests, status, sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from site_pages import words as site_words
from site_pages.entry_parts import part, weighed
from site_pages.index_pages import FAMILIES, frameworks
from site_pages.markup import table, text
from site_pages.places import Page, Site, joined, other
from trainrx.model.knowledge import Cause, Rule, Symptom
from trainrx.model.levers import Guard
from trainrx.model.parts import Reference
from trainrx.render import words

PATH = "about/coverage.md"
Judged = Cause | Symptom | Guard | Rule


class Row(NamedTuple):
    """What is counted of some entries."""

    entries: int
    tested: int
    backed: int
    checked: int
    sources: int


def coverage_page(site: Site) -> Page:
    """Give the page of figures."""
    switch = f'<a href="{other(PATH, site.lang)}">{site.says(site_words.OTHER_LANGUAGE)}</a>'
    lead = site.says(site_words.COVERAGE_LEAD).format(digest=site.knowledge.digest)
    lines = [*weighed(0), f"# {site.says(site_words.COVERAGE)}", "", switch, "", text(lead), ""]
    lines += part(site, site_words.LISTS, _kinds(site))
    lines += part(site, site_words.FAMILIES, _families(site))
    lines += part(site, site_words.FRAMEWORKS, _frameworks(site))
    return joined(PATH, lines)


def own_entries(site: Site) -> Mapping[str, Sequence[Judged]]:
    """Give the entries by kind, each once: what a guard adds counts as the guard."""
    known = site.knowledge
    return {
        "causes": [c for c in known.causes.values() if c.id not in known.guards],
        "symptoms": [s for s in known.symptoms.values() if s.id not in known.guards],
        "guards": list(known.guards.values()),
        "rules": list(known.rules.values()),
    }


def count(site: Site, entries: Iterable[Judged]) -> Row:
    """Count some entries."""
    listed = list(entries)
    refs = [ref for entry in listed for ref in entry.references]
    return Row(
        entries=len(listed),
        tested=sum(_is_tested(site, entry) for entry in listed),
        backed=sum(entry.id in site.backed for entry in listed),
        checked=_checked(refs),
        sources=len(refs),
    )


def _is_tested(site: Site, entry: Judged) -> bool:
    """Tell whether something runs an entry: cases beside it, sample lines, or example launches."""
    if isinstance(entry, Symptom):
        return bool(entry.samples.match)
    if isinstance(entry, Guard):
        return entry.samples is not None or entry.examples is not None or bool(entry.symptom)
    return site.cases.get(entry.id, 0) > 0


def _checked(refs: Iterable[Reference]) -> int:
    return sum(bool(ref.checked) for ref in refs)


def _kinds(site: Site) -> list[str]:
    rows = []
    for kind, entries in own_entries(site).items():
        rows.append(
            (
                f"[{site.says(site_words.KIND[kind])}](../lists/{kind}.md)",
                *_cells(count(site, entries)),
            )
        )
    ranges = [entry.range for entry in site.knowledge.ranges.values()]
    refs = [ref for known in ranges for ref in known.references]
    row = Row(len(ranges), len(ranges), 0, _checked(refs), len(refs))
    rows.append((f"[{site.says(site_words.KIND['ranges'])}](../lists/ranges.md)", *_cells(row)))
    for kind, number in (
        ("params", len(site.knowledge.params)),
        ("facts", len(site.knowledge.facts)),
    ):
        link = f"[{site.says(site_words.KIND[kind])}](../lists/{kind}.md)"
        rows.append((link, str(number), "", "", "", ""))
    return table(_head(site), rows)


def _head(site: Site) -> list[str]:
    cells = (
        site_words.TITLE,
        site_words.COUNT,
        site_words.TESTED,
        site_words.BACKED,
        site_words.REF_CHECKED,
    )
    return [site.says(cell) for cell in cells]


def _cells(row: Row) -> tuple[str, ...]:
    checked = f"{row.checked} / {row.sources}"
    return (str(row.entries), str(row.tested), str(row.backed), checked)


def _families(site: Site) -> list[str]:
    entries = own_entries(site)
    kinds = ("causes", "symptoms", "guards")
    rows = []
    for family in FAMILIES:
        of = {
            kind: [e for e in entries[kind] if getattr(e, "family", None) == family]
            for kind in kinds
        }
        both = count(site, [e for kind in kinds for e in of[kind]])
        link = f"[{text(site.says(words.FAMILY[family]))}](../families/{family}.md)"
        rows.append((link, *(str(len(of[kind])) for kind in kinds), str(both.backed)))
    head = [site.says(site_words.FAMILY), *(site.says(site_words.KIND[kind]) for kind in kinds)]
    return table([*head, site.says(site_words.BACKED)], rows)


def _frameworks(site: Site) -> list[str]:
    known = site.knowledge
    rows = []
    for name in frameworks(site):
        guards = sum(guard.package == name for guard in known.guards.values())
        ranges = sum(entry.package == name for entry in known.ranges.values())
        params = sum(name in param.spelled for param in known.params.values())
        rows.append(
            (f"[{text(name)}](../frameworks/{name}.md)", str(params), str(guards), str(ranges))
        )
    kinds = ("params", "guards", "ranges")
    return table(
        [site.says(site_words.FRAMEWORK), *(site.says(site_words.KIND[kind]) for kind in kinds)],
        rows,
    )
