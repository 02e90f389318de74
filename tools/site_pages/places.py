"""Which page an entry has, and how pages link to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from site_pages.markup import linked, text
from trainrx.catalog.spell import Spelled, spell
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.verified import Verification
from trainrx.model.facts import Scalar
from trainrx.model.text import Lang, Text

KINDS = ("causes", "symptoms", "guards", "ranges", "rules", "params")
"""Folders of the site that hold one page per entry."""
FRAMEWORKS = (
    *("ms-swift", "llamafactory", "trl", "verl", "openrlhf", "axolotl"),
    *("nemo-automodel", "nemo-rl", "easyr1", "slime"),
)
"""Frameworks whose spelling is shown beside a fix."""
CONFIGURED = frozenset({"axolotl", "llamafactory", "nemo-automodel", "nemo-rl"})
"""Those of them that are mostly told in a YAML file."""


class Page(NamedTuple):
    """A page of one language: its path below the folder of pages, and its Markdown."""

    path: str
    text: str


class Site(NamedTuple):
    """All that pages are made from.

    `cases` counts the tests beside an entry, `backed` the recorded runs that expect it. `behind`
    are the causes of a symptom, `setting` and `testing` those whose fixes or votes name a
    parameter, `ruled` the rules that speak of an id.
    """

    knowledge: Knowledge
    lang: Lang
    cases: Mapping[str, int]
    backed: Mapping[str, int]
    behind: Mapping[str, tuple[str, ...]]
    setting: Mapping[str, tuple[str, ...]]
    testing: Mapping[str, tuple[str, ...]]
    ruled: Mapping[str, tuple[str, ...]]
    looks: Mapping[tuple[str, str], tuple[Verification, ...]] = {}

    def says(self, words: Text) -> str:
        """Give words in the language of the site."""
        return words.in_(self.lang)

    def page_of(self, kind: str, ident: str) -> str | None:
        """Give the page of an entry as seen from another page; a guard stands for what it adds."""
        known = self.knowledge
        if ident in known.guards and kind in ("causes", "symptoms", "guards"):
            return f"../guards/{ident}.md"
        groups: Mapping[str, Mapping[str, object]] = {
            "causes": known.causes,
            "symptoms": known.symptoms,
            "guards": known.guards,
            "ranges": known.ranges,
            "rules": known.rules,
            "params": known.params,
        }
        if kind == "facts":
            return f"../lists/facts.md#{ident}" if ident in known.facts else None
        return f"../{kind}/{ident}.md" if ident in groups[kind] else None

    def link(self, kind: str, ident: str) -> str:
        """Link an entry by its title, its id beside it."""
        address = self.page_of(kind, ident)
        if address is None:
            return f"<code>{text(ident)}</code>"
        return f"[{text(self.says(self.title(kind, ident)))}]({address}) <code>{text(ident)}</code>"

    def title(self, kind: str, ident: str) -> Text:
        """Give the title of an entry."""
        known = self.knowledge
        if kind == "symptoms":
            return known.symptoms[ident].title
        if kind == "causes":
            return known.causes[ident].title
        if kind == "guards":
            return known.guards[ident].title
        if kind == "ranges":
            return known.ranges[ident].title
        return known.rules[ident].title if kind == "rules" else known.params[ident].title

    def spell(self, name: str, value: Scalar, framework: str) -> Spelled | None:
        """Write a parameter as the newest release of a framework wants it."""
        via: Literal["arg", "config"] = "config" if framework in CONFIGURED else "arg"
        return spell(name, value, framework, None, self.knowledge.params, via=via)

    def names(self, words: str) -> str:
        """Write a condition as code in which symptoms, parameters and facts are links."""
        return linked(words, self._address)

    def _address(self, word: str) -> str | None:
        for kind in ("params", "facts", "symptoms"):
            found = self.page_of(kind, word)
            if found is not None:
                return found
        return None


def other(path: str, lang: Lang) -> str:
    """Give the address of the same page in the other language, as a browser follows it."""
    up = "../" * (path.count("/") + 1)
    told = "zh" if lang == "en" else "en"
    return f"{up}{told}/{path.removesuffix('.md')}.html"


def joined(path: str, parts: Sequence[str]) -> Page:
    """Make a page of lines."""
    return Page(path, "\n".join(parts).rstrip() + "\n")
