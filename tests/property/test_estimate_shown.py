from __future__ import annotations

import json
import re

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from trainrx.model.estimate import CardFit, Estimate
from trainrx.model.memory import Assumption, Figure, HostUse, Length, PhaseUse, Refusal, Term
from trainrx.model.result import JobSummary, Tool
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.estimate import chart
from trainrx.render.formats.json import write as as_json
from trainrx.render.formats.text import plain
from trainrx.render.grid import chart_lines
from trainrx.render.layout import cells
from trainrx.render.redact import masked

SIZES = st.floats(min_value=0.0, max_value=10_000.0)
NAMES = st.sampled_from(("weights", "logits", "tower", "engine", "gathered", "something-new"))
TEXTS = st.text(max_size=30)
VERDICTS = st.sampled_from(("fits", "tight", "does-not-fit", None))
FIGURES = st.builds(Figure, gib=SIZES, low=SIZES, high=SIZES)
TERMS = st.lists(st.builds(Term, name=NAMES, gib=SIZES, source=TEXTS), max_size=6).map(tuple)
PHASES = st.lists(
    st.builds(PhaseUse, phase=st.sampled_from(("load", "loss", "step")), gib=SIZES, terms=TERMS),
    max_size=4,
).map(tuple)
REFUSALS = st.builds(
    Refusal,
    kind=st.sampled_from(("unknown", "unmodelled", "impossible")),
    id=TEXTS,
    reason=TEXTS,
    asks=st.lists(TEXTS, max_size=2).map(tuple),
)
ANSWERS = st.builds(
    Estimate,
    tool=st.just(Tool(name="trainrx", version="1", kb="k", engine="")),
    job=st.builds(JobSummary, model=TEXTS, gpu=st.none() | TEXTS, gpus=st.none() | st.integers(1)),
    verdict=VERDICTS,
    limit_gib=st.none() | SIZES,
    allocated=st.none() | FIGURES,
    reserved=FIGURES,
    card=FIGURES,
    peak=st.sampled_from(("load", "loss", "backward")),
    phases=PHASES,
    host=st.builds(HostUse, resident=SIZES, peak=SIZES, terms=TERMS),
    length=st.none()
    | st.builds(
        Length, low=SIZES, typical=SIZES, high=SIZES, how=st.sampled_from(("exact", "cap", "data"))
    ),
    cards=st.lists(
        st.builds(
            CardFit,
            name=TEXTS,
            gib=st.none() | SIZES,
            verdict=VERDICTS,
            card=st.none() | FIGURES,
            refusal=st.none() | REFUSALS,
        ),
        max_size=3,
    ).map(tuple),
    assumptions=st.lists(st.builds(Assumption, id=TEXTS, text=TEXTS, param=TEXTS), max_size=3).map(
        tuple
    ),
    refusal=st.none() | REFUSALS,
)


@given(ANSWERS, st.sampled_from(("en", "zh")), st.integers(40, 120), st.booleans())
def test_every_estimate_is_shown(answer, lang, width, everything):
    shown = render(answer, "text", View(lang, width, everything))

    assert shown.strip()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)


@given(ANSWERS, st.sampled_from(("en", "zh")), st.integers(40, 120))
def test_no_bar_is_wider_than_the_page(answer, lang, width):
    assume(answer.prediction is not None)

    for line in plain(chart_lines(chart(answer.prediction, View(lang)), width)).splitlines()[1:]:
        assert cells(line) <= width + 8  # a number of five digits may stand out


@given(ANSWERS, st.sampled_from(("en", "zh")))
def test_markdown_closes_what_it_opens(answer, lang):
    assert render(answer, "markdown", View(lang)).count("```") % 2 == 0


@given(ANSWERS)
def test_json_reads_back(answer):
    safe = masked(answer)

    assert msgspec.json.decode(as_json(safe), type=Estimate) == safe
    assert json.loads(as_json(safe))["schema_version"] == 1
