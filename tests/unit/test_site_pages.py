from __future__ import annotations

import html
import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_pages.build import GUIDES, USE, make_site, pages, settings, written_page
from site_pages.check import MOST_BYTES, problems
from site_pages.entry_pages import cause_page, symptom_page
from site_pages.hooks import mended, on_post_page
from site_pages.index_pages import FAMILIES, frameworks
from site_pages.markup import block, code, linked, prose, text
from site_pages.places import KINDS, Page, Site
from trainrx.knowledge.load import load
from trainrx.knowledge.store import Knowledge
from trainrx.model.knowledge import LinePattern, Samples
from trainrx.model.text import Lang, Text

ROOT = Path(__file__).parents[2]
LANGS: tuple[Lang, ...] = get_args(Lang)
NASTY = """<script>alert(1)</script> a|b `x` *y* _z_ [l](u) ![i](j) \\ {: #id } # & &lt; $1 ~~d~~"""
MARKS = set("<>|`*_[]{}\\#&!~")


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="module", params=LANGS)
def site(request: pytest.FixtureRequest, knowledge: Knowledge) -> Site:
    return make_site(knowledge, request.param, {}, {})


@pytest.fixture(scope="module")
def made(site: Site) -> dict[str, Page]:
    return {page.path: page for page in pages(site)}


def own(knowledge: Knowledge) -> dict[str, list[str]]:
    return {
        "causes": [ident for ident in knowledge.causes if ident not in knowledge.guards],
        "symptoms": [ident for ident in knowledge.symptoms if ident not in knowledge.guards],
        "guards": list(knowledge.guards),
        "ranges": list(knowledge.ranges),
        "rules": list(knowledge.rules),
        "params": list(knowledge.params),
    }


def test_every_entry_has_a_page_and_a_line_in_its_list(
    made: dict[str, Page], site: Site, knowledge: Knowledge
) -> None:
    for kind, idents in own(knowledge).items():
        listed = made[f"lists/{kind}.md"].text
        for ident in idents:
            assert f"{kind}/{ident}.md" in made
            assert f"(../{kind}/{ident}.md)" in listed
    for name in (*(f"families/{f}" for f in FAMILIES), "about/coverage", "lists/facts"):
        assert f"{name}.md" in made
    assert all(f"frameworks/{name}.md" in made for name in frameworks(site))


def test_all_links_lead_to_a_page(made: dict[str, Page]) -> None:
    for page in made.values():
        words = re.sub(r"<pre>.*?</pre>", "", page.text, flags=re.DOTALL)
        for target in re.findall(r"\]\((?!<https://)([^)\s]+)\)", words):
            path, _, anchor = target.partition("#")
            found = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), path))
            assert found in made, (page.path, target)
            assert not anchor or f'<a id="{anchor}"></a>' in made[found].text, (page.path, target)


def test_every_page_links_its_twin_in_the_other_language(
    made: dict[str, Page], site: Site, knowledge: Knowledge
) -> None:
    twin = "zh" if site.lang == "en" else "en"
    there = {page.path for page in pages(make_site(knowledge, twin, {}, {}))}

    for page in made.values():
        (href,) = re.findall(r'<a href="([^"]+)">', page.text)
        path = posixpath.normpath(posixpath.join(site.lang, posixpath.dirname(page.path), href))
        assert path == f"{twin}/{page.path.removesuffix('.md')}.html"
        assert page.path in there


def test_a_page_is_in_its_language(made: dict[str, Page], site: Site) -> None:
    page = made["causes/activations-exceed-memory.md"].text

    cause = site.knowledge.causes["activations-exceed-memory"]
    assert html.unescape(page).count(cause.title.in_(site.lang)) == 1
    assert ("## 怎么改" in page) == (site.lang == "zh")
    assert ("## What to change" in page) == (site.lang == "en")


def test_a_fix_is_spelled_for_the_frameworks(made: dict[str, Page]) -> None:
    page = html.unescape(made["causes/activations-exceed-memory.md"].text)

    assert "--gradient_checkpointing true" in page
    assert "actor_rollout_ref.model.enable_gradient_checkpointing" in page


def test_the_only_html_is_ours(made: dict[str, Page]) -> None:
    allowed = (
        r'<br>|</?code>|</?pre>|</?div(?: class="highlight")?>|<a (?:href|id)="[\w./-]+">|</a>'
    )
    for page in made.values():
        rest = re.sub(allowed, "", page.text)
        rest = re.sub(r"\(<https://[^<>\s]+>\)", "", rest)
        assert "<" not in rest, (page.path, rest[max(0, rest.find("<") - 80) :][:160])


def test_marks_in_titles_samples_and_regexes_stand_for_themselves(site: Site) -> None:
    symptom = site.knowledge.symptoms["cuda-oom"]
    nasty = Text(en=NASTY, zh=NASTY)
    changed = msgspec.structs.replace(
        symptom,
        title=nasty,
        summary=nasty,
        samples=Samples(match=(NASTY, "</code></pre><b>"), near_miss=(NASTY,)),
        patterns=(LinePattern(needle="x", regex=NASTY),),
    )
    cause = msgspec.structs.replace(
        site.knowledge.causes["activations-exceed-memory"], title=nasty, summary=nasty
    )

    for page in (symptom_page(site, changed), cause_page(site, cause)):
        assert "<script" not in page.text
        assert "<b>" not in page.text
        assert NASTY.replace("`", "") in _read(page.text.replace("\n", " "))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[str] = []

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


def _read(page: str) -> str:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return "".join(reader.seen).replace("`", "")


@given(st.text(max_size=80))
def test_text_leaves_nothing_for_markdown_or_html_to_find(words: str) -> None:
    written = text(words)

    assert not MARKS & set(re.sub(r"&#\d+;", "", written))
    assert "\n" not in written


@given(st.text("ab `*_<>&|#-.1 ", max_size=40))
def test_prose_and_code_keep_the_words(words: str) -> None:
    for written in (text(words), code(words), linked(words, lambda _: None)):
        assert _read(written).strip() == words.replace("`", "").strip() or "`" in words
    assert _read(prose(words)).replace(" ", "") == words.replace("`", "").replace(" ", "")


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_a_block_holds_no_tag_of_a_line(lines: list[str]) -> None:
    _, written, _ = block(lines)

    inner = written.removeprefix('<div class="highlight"><pre><code>')
    assert "<" not in inner.removesuffix("</code></pre></div>")


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    told = settings(site, "out")

    assert told["theme"]["font"] is False
    assert "extra_javascript" not in told
    assert "extra_css" not in told


def test_pages_of_single_entries_are_not_in_the_menu(site: Site) -> None:
    told = settings(site, "out")

    assert all(f"/{kind}/" in told["not_in_nav"] for kind in KINDS)
    assert not any(f"'{kind}/" in str(told["nav"]) for kind in KINDS)


def test_pages_for_people_stand_above_the_entries_in_the_menu(site: Site) -> None:
    menu = json.dumps(settings(site, "out")["nav"])

    places = [menu.index(f'"{name}.md"') for name in (*GUIDES, *USE)]
    assert places == sorted(places)
    assert {"install", "lint", "fix"} <= set(USE)
    assert places[-1] < menu.index("families/") < menu.index("lists/")


def test_the_menu_leads_to_the_other_language(site: Site) -> None:
    told = settings(site, "out")["extra"]["alternate"]  # type: ignore[index]

    assert [(one["lang"], one["link"]) for one in told] == [
        ("en", "../en/index.html"),
        ("zh", "../zh/index.html"),
    ]


def test_pages_written_by_hand_link_pages_there_are(made: dict[str, Page], site: Site) -> None:
    names = ("index", *GUIDES, *USE)
    pictures = {path.name for path in (ROOT / "docs").glob("*.png")}
    there = made.keys() | {f"{name}.md" for name in names} | pictures
    for name in names:
        source = ROOT / "docs" / (f"{name}.zh.md" if site.lang == "zh" else f"{name}.md")

        page = written_page(name, source.read_text(encoding="utf-8"), site.lang)

        links = re.findall(r"\]\((?!https://)([^)#\s]+)", page.text)
        folder = posixpath.dirname(page.path)
        assert {posixpath.normpath(posixpath.join(folder, link)) for link in links} <= there
        assert ("boost" in page.text.split("#")[0]) == (name in GUIDES)


def test_a_page_is_left_as_it_is_read() -> None:
    page = (
        "<p>a&#46;b &#60;i&#62;</p>\n\n  <pre>x\n\n  y&#58;</pre>\n<b>c</b>\n<i>d</i>\n"
        '<h2 data-search-exclude id="_1">e</h2>\n<ul>\n<li>f</li>'
    )

    assert on_post_page(page) == (
        "<p>a.b &#60;i&#62;</p>\n<pre>x\n\n  y:</pre>\n<b>c</b>\n<i>d</i><h2>e</h2><ul><li>f</li>"
    )


def test_another_search_of_the_theme_is_noticed() -> None:
    script = 'for(;o<t.length;o++)t.slice(s,o)in e;[].join("* ")'

    assert mended(script) == 'for(;o<=t.length;o++)t.slice(s,o)in e;[].join(" ")'
    with pytest.raises(ValueError, match="has changed"):
        mended("something else")


def test_what_is_wrong_with_a_built_site_is_named(tmp_path: Path) -> None:
    for lang, other in (("en", "zh"), ("zh", "en")):
        for name in ("index", "guides/hangs", "families/oom", "causes/fp16-overflow"):
            path = tmp_path / lang / f"{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'<a href="../{other}/index.html">', encoding="utf-8")
    assert list(problems(tmp_path)) == []

    (tmp_path / "en" / "index.html").write_text("x", encoding="utf-8")
    with (tmp_path / "large").open("wb") as handle:
        handle.truncate(MOST_BYTES)

    assert [said.split(":")[0] for said in problems(tmp_path)] == [
        "25.0 MB, more than 25",
        "en/index.html",
    ]
