"""All pages of the site in one language, and the settings of its generator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from site_pages import words as site_words
from site_pages.coverage_page import PATH as COVERAGE
from site_pages.coverage_page import coverage_page
from site_pages.entry_pages import (
    cause_page,
    guard_page,
    param_page,
    range_page,
    rule_page,
    symptom_page,
)
from site_pages.entry_parts import weighed
from site_pages.index_pages import FAMILIES, frameworks, index_pages
from site_pages.places import KINDS, Page, Site
from trainrx.knowledge.conditions import facts_of
from trainrx.knowledge.load import read_folders
from trainrx.knowledge.places import shipped
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.verified import Verification, holding, kind_of, read_verified
from trainrx.model.knowledge import Cause, Rule
from trainrx.model.text import Lang, Text
from trainrx.render import words

_HERE = Path(__file__).parent
GUIDES: Mapping[str, Text] = {
    "guides/hangs": site_words.HANGS,
    "guides/out-of-memory": site_words.OUT_OF_MEMORY,
    "guides/nan-loss": site_words.NAN_LOSS,
    "guides/slow": site_words.SLOW,
}
"""Pages for people who have a failure and no name for it; a search finds them first."""
USE: Mapping[str, Text] = {
    "install": site_words.INSTALL,
    "collect": site_words.COLLECT,
    "run": site_words.RUN,
    "lint": site_words.LINT,
    "lint-rules": site_words.LINT_RULES,
    "fix": site_words.FIX,
    "consultation": site_words.CONSULTATION,
    "estimate": site_words.ESTIMATE,
    "translate": site_words.TRANSLATE,
    "series": site_words.SERIES,
    "editor": site_words.EDITOR,
    "bots": site_words.BOTS,
    "agents": site_words.AGENTS,
    "github": site_words.GITHUB,
    "service": site_words.SERVICE,
    "fleet": site_words.FLEET,
}
"""How the tool is used."""
GUIDE_BOOST = 20


def written_page(name: str, source: str, lang: Lang) -> Page:
    """Make a page of the site of one written by hand in `docs/`, English or Chinese."""
    text = source.replace(".zh.md)", ".md)") if lang == "zh" else source
    head = "\n".join(weighed(GUIDE_BOOST)) + "\n" if name in GUIDES else ""
    return Page(f"{name}.md", head + text)


def make_site(
    knowledge: Knowledge, lang: Lang, cases: Mapping[str, int], backed: Mapping[str, int]
) -> Site:
    """Put together what pages are made from."""
    causes = sorted(knowledge.causes.values(), key=lambda cause: -cause.prior)
    return Site(
        knowledge=knowledge,
        lang=lang,
        cases=cases,
        backed=backed,
        behind=_inverse((cause.id, cause.explains) for cause in causes),
        setting=_inverse((cause.id, _changed(cause)) for cause in causes),
        testing=_inverse((cause.id, _tested(cause)) for cause in causes),
        ruled=_inverse((rule.id, _spoken(rule)) for rule in knowledge.rules.values()),
        looks=_looks(),
    )


@cache
def _looks() -> Mapping[tuple[str, str], tuple[Verification, ...]]:
    """Give what was compared with its sources, of entries as authors wrote them."""
    kb, rules = shipped()
    known, table = read_folders([kb], [rules]), read_verified(kb)
    kinds = (known.causes, known.symptoms, known.guards, known.ranges)
    entries = [entry for kind in kinds for entry in kind.values()]
    return {(kind_of(entry), entry.id): holding(entry, table) for entry in entries}


def _inverse(pairs: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    """Give for each name the ids of those that name it, each once."""
    found: dict[str, dict[str, None]] = {}
    for ident, names in pairs:
        for name in names:
            found.setdefault(name, {})[ident] = None
    return {name: tuple(idents) for name, idents in found.items()}


def _changed(cause: Cause) -> Iterator[str]:
    for fix in cause.fixes:
        yield from (*fix.set, *fix.unset)


def _tested(cause: Cause) -> Iterator[str]:
    for vote in (*cause.evidence.supports, *cause.evidence.contradicts):
        yield from facts_of(vote.when)


def _spoken(rule: Rule) -> Iterator[str]:
    """Give the ids a rule speaks of."""
    yield from (clause.symptom or clause.fact or "" for clause in rule.when)
    for action in rule.then:
        if action.suggest is not None:
            yield action.suggest.cause
        if action.explain is not None:
            yield from (action.explain.effect, action.explain.by)
        if action.fact is not None:
            yield action.fact.name


def pages(site: Site) -> Iterator[Page]:
    """Give every generated page; what a guard adds to symptoms and causes has the guard's page."""
    known = site.knowledge
    for cause in known.causes.values():
        if cause.id not in known.guards:
            yield cause_page(site, cause)
    for symptom in known.symptoms.values():
        if symptom.id not in known.guards:
            yield symptom_page(site, symptom)
    yield from (guard_page(site, guard) for guard in known.guards.values())
    yield from (range_page(site, entry) for entry in known.ranges.values())
    yield from (rule_page(site, rule) for rule in known.rules.values())
    yield from (param_page(site, param) for param in known.params.values())
    yield from index_pages(site)
    yield coverage_page(site)


def navigation(site: Site) -> list[dict[str, object]]:
    """Give the menu; pages of single entries are not in it, which would make every page large."""
    families = [{site.says(words.FAMILY[name]): f"families/{name}.md"} for name in FAMILIES]
    packages = [{name: f"frameworks/{name}.md"} for name in frameworks(site)]
    lists = [{site.says(site_words.KIND[k]): f"lists/{k}.md"} for k in (*KINDS, "facts")]
    return [
        {site.says(site_words.HOME): "index.md"},
        {site.says(site_words.SEEN): _titled(site, GUIDES)},
        {site.says(site_words.USING): _titled(site, USE)},
        {site.says(site_words.FAMILIES): families},
        {site.says(site_words.FRAMEWORKS): packages},
        {site.says(site_words.LISTS): lists},
        {site.says(site_words.COVERAGE): COVERAGE},
    ]


def _titled(site: Site, pages: Mapping[str, Text]) -> list[dict[str, str]]:
    return [{site.says(title): f"{name}.md"} for name, title in pages.items()]


def settings(site: Site, output: str) -> dict[str, object]:
    """Give the generator's settings: no fonts, scripts or requests from elsewhere."""
    zh = site.lang == "zh"
    return {
        "site_name": "diagnose · 微调故障知识库" if zh else "diagnose · why fine-tuning jobs fail",
        "docs_dir": "pages",
        "site_dir": output,
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "custom_dir": str(_HERE / "theme"),
            "language": site.lang,
            "font": False,
            "features": [
                "navigation.top",
                "navigation.prune",
                "search.highlight",
                "search.suggest",
                "content.code.copy",
            ],
            "palette": [
                {
                    "media": "(prefers-color-scheme: light)",
                    "scheme": "default",
                    "toggle": {"icon": "material/weather-night", "name": "dark"},
                },
                {
                    "media": "(prefers-color-scheme: dark)",
                    "scheme": "slate",
                    "toggle": {"icon": "material/weather-sunny", "name": "light"},
                },
            ],
        },
        "plugins": [{"search": _search(site.lang)}],
        "hooks": [str(_HERE / "hooks.py")],
        "markdown_extensions": [
            "attr_list",
            "tables",
            {"toc": {"toc_depth": "2-2"}},
        ],
        "extra": {
            "generator": False,
            "search": site.says(site_words.SEARCH),
            "alternate": [
                {"name": "English", "link": "../en/index.html", "lang": "en"},
                {"name": "中文", "link": "../zh/index.html", "lang": "zh"},
            ],
        },
        "validation": {
            "links": {"anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}
        },
        "not_in_nav": "\n".join(f"/{kind}/" for kind in KINDS),
        "nav": navigation(site),
    }


def _search(lang: Lang) -> dict[str, object]:
    """Cut Chinese into words, those of this field known; a line of a log at its marks."""
    told: dict[str, object] = {"lang": ["zh", "en"] if lang == "zh" else ["en"]}
    told["separator"] = r"[\s\u200b/=:,，。、（）()]+"
    if lang == "zh":
        told["jieba_dict_user"] = str(_HERE / "terms.txt")
    return told
