"""Pages that list entries: by failure, by framework, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from site_pages import words as site_words
from site_pages.entry_parts import part, weighed
from site_pages.markup import bullets, code, prose, table, text
from site_pages.places import Page, Site, joined, other
from trainrx.knowledge.conditions import walk
from trainrx.model.knowledge import Cause, Family
from trainrx.model.text import Text
from trainrx.render import words

FAMILIES: tuple[Family, ...] = get_args(Family)
LEAD = 9
"""Lines of a page that lists nothing."""
_OWNER = ("any", "launcher", "accelerate")


def index_pages(site: Site) -> Iterator[Page]:
    """Give all pages that list entries."""
    for family in FAMILIES:
        yield _family(site, family)
    for framework in frameworks(site):
        yield _framework(site, framework)
    yield from _lists(site)


def frameworks(site: Site) -> list[str]:
    """List the packages that have a page: those that spell parameters, check or break."""
    known = site.knowledge
    spelling = {name for param in known.params.values() for name in param.spelled}
    checking = {guard.package for guard in known.guards.values()}
    broken = {entry.package for entry in known.ranges.values()}
    return sorted((spelling | checking | broken) - set(_OWNER))


def _family(site: Site, family: Family) -> Page:
    known, path = site.knowledge, f"families/{family}.md"
    causes = [
        c.id for c in known.causes.values() if c.family == family and c.id not in known.guards
    ]
    signs = [s.id for s in known.symptoms.values() if s.family == family]
    signs = [ident for ident in signs if ident not in known.guards]
    guards = [g.id for g in known.guards.values() if g.family == family]
    lines = _head(site, path, words.FAMILY[family])
    lines += _counted(site, site_words.KIND["causes"], "causes", causes)
    lines += _counted(site, site_words.KIND["symptoms"], "symptoms", signs)
    lines += _counted(site, site_words.KIND["guards"], "guards", guards)
    return joined(path, lines if len(lines) > LEAD else [*lines, site.says(site_words.NO_ENTRIES)])


def _framework(site: Site, name: str) -> Page:
    known, path = site.knowledge, f"frameworks/{name}.md"
    lines = _head(site, path, Text(en=name, zh=name))
    own = [c.id for c in known.causes.values() if c.id not in known.guards and _is_of(c, name)]
    lines += _counted(site, site_words.ONLY_OF, "causes", own)
    guards = [g.id for g in known.guards.values() if g.package == name]
    lines += _counted(site, site_words.KIND["guards"], "guards", guards)
    ranges = [r.id for r in known.ranges.values() if r.package == name]
    lines += _counted(site, site_words.KIND["ranges"], "ranges", ranges)
    rows = (
        (
            f"[{code(param.id)}](../params/{param.id}.md)",
            code(f"{'' if spelling.env else '--'}{spelling.arg or spelling.env}"),
            code(spelling.versions) if spelling.versions else "",
        )
        for param in sorted(known.params.values(), key=lambda p: p.id)
        for spelling in param.spelled.get(name, ())
    )
    head = [site_words.NAME, site_words.WRITTEN, site_words.VERSIONS]
    lines += part(site, site_words.PARAMETERS, table([site.says(w) for w in head], rows))
    return joined(path, lines)


def _is_of(cause: Cause, name: str) -> bool:
    """Tell whether a cause can only be one of this framework."""
    if name in cause.applies_to:
        return True
    if cause.requires is None:
        return False
    return any(
        node.fact == "launch.framework" and node.eq == name for node, _ in walk(cause.requires)
    )


def _lists(site: Site) -> Iterator[Page]:
    known = site.knowledge
    causes = [c for c in known.causes.values() if c.id not in known.guards]
    grouped: dict[str, Mapping[str, Sequence[str]]] = {
        "causes": _by((site.says(words.FAMILY[c.family]), c.id) for c in causes),
        "symptoms": _by(
            (site.says(site_words.ROLE[s.role]), s.id)
            for s in known.symptoms.values()
            if s.id not in known.guards
        ),
        "guards": _by((g.package, g.id) for g in known.guards.values()),
        "ranges": _by((r.package, r.id) for r in known.ranges.values()),
        "rules": _by((site.says(site_words.STAGE[r.stage]), r.id) for r in known.rules.values()),
        "params": _by((ident.partition(".")[0], ident) for ident in known.params),
    }
    for kind, groups in grouped.items():
        path = f"lists/{kind}.md"
        lines = _head(site, path, site_words.KIND[kind])
        for name in sorted(groups):
            lines += _counted(site, Text(en=name, zh=name), kind, groups[name])
        yield joined(path, lines if groups else [*lines, site.says(site_words.NO_ENTRIES)])
    yield _facts(site)


def _facts(site: Site) -> Page:
    path = "lists/facts.md"
    lines = _head(site, path, site_words.KIND["facts"])
    head = (site_words.NAME, site_words.TITLE, words.HOW_TO_TELL, words.VALUES)
    rows = (
        (
            f'<a id="{entry.id}"></a>{code(entry.id)}',
            prose(site.says(entry.title)) + (text(f" ({entry.unit})") if entry.unit else ""),
            prose(site.says(entry.ask)) if entry.ask else "",
            code(" | ".join(entry.values)) if entry.values else "",
        )
        for entry in sorted(site.knowledge.facts.values(), key=lambda entry: entry.id)
    )
    return joined(path, lines + table([site.says(w) for w in head], rows))


def _by(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for group, ident in pairs:
        out.setdefault(group, []).append(ident)
    return out


def _head(site: Site, path: str, title: Text) -> list[str]:
    switch = f'<a href="{other(path, site.lang)}">{site.says(site_words.OTHER_LANGUAGE)}</a>'
    return [*weighed(0), f"# {text(site.says(title))}", "", switch, ""]


def _counted(site: Site, title: Text, kind: str, idents: Sequence[str]) -> list[str]:
    shown = Text(en=f"{title.en} ({len(idents)})", zh=f"{title.zh}（{len(idents)}）")
    return part(site, shown, bullets(site.link(kind, ident) for ident in sorted(idents)))
