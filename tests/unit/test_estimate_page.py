from __future__ import annotations

import re

import estimates
import msgspec
import pytest

from trainrx.model.estimate import ExactCount
from trainrx.model.memory import Refusal
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.estimate import chart, document
from trainrx.render.estimate_bars import bars, inks
from trainrx.render.estimate_says import next_steps
from trainrx.render.formats.text import STYLES, coloured, page, plain
from trainrx.render.grid import chart_lines
from trainrx.render.layout import cells

ANSWERS = {
    "fits": estimates.estimate(),
    "too-large": estimates.too_large(),
    "refused": estimates.refused(),
}


def text(answer, lang="en", width=80, *, everything=False):
    return render(answer, "text", View(lang, width, everything))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 72, 80, 120])
@pytest.mark.parametrize("name", ANSWERS)
def test_no_line_is_wider_than_the_terminal(name, width, lang):
    for everything in (False, True):
        shown = text(ANSWERS[name], lang, width, everything=everything)

        assert max(cells(line) for line in shown.splitlines()) <= width


@pytest.mark.parametrize(
    ("answer", "lang", "first"),
    [
        (estimates.estimate(), "en", "FITS  A100-SXM4-80GB: 54.1 of 79.3 GiB (49.8 to 60.0)"),
        (
            estimates.estimate(),
            "zh",
            "放得下  A100-SXM4-80GB：79.3 GiB 中占用 54.1 GiB（49.8～60.0）",
        ),
        (estimates.estimate(verdict="tight"), "en", "TIGHT  A100-SXM4-80GB: 54.1 of"),
        (estimates.too_large(), "en", "DOES NOT FIT  RTX A6000: 54.1 of 47.4 GiB"),
        (estimates.too_large(), "zh", "放不下  RTX A6000：47.4 GiB 中占用 54.1"),
        (estimates.refused(), "en", "no prediction: the shape of ./my-model is not known"),
        (estimates.refused(), "zh", "无法预测：the shape of ./my-model is not known"),
    ],
)
def test_the_verdict_is_the_first_line(answer, lang, first):
    assert text(answer, lang).startswith(first)


@pytest.mark.parametrize(
    ("limit", "said"), [(51.0, "more likely too much"), (58.0, "more likely enough")]
)
def test_a_tight_job_says_which_way_it_leans(limit, said):
    answer = estimates.estimate(verdict="tight", limit_gib=limit)

    assert text(answer).splitlines()[0].endswith(said)


def test_without_a_card_there_are_figures_and_no_verdict():
    answer = estimates.estimate(
        verdict=None,
        limit_gib=None,
        cards=(),
        job=msgspec.structs.replace(estimates.JOB, gpu=None),
    )

    shown = text(answer)

    assert shown.startswith("ESTIMATE  54.1 GiB per GPU (49.8 to 60.0); add --gpu NAME")
    assert "FITS" not in shown
    assert "|" not in shown


def test_a_card_of_unknown_size_is_asked_for():
    answer = estimates.estimate(verdict=None, limit_gib=None)

    assert "the memory of A100-SXM4-80GB is not known here" in " ".join(text(answer).split())


def test_all_three_figures_stand_with_their_bounds():
    shown = text(estimates.estimate())

    assert re.search(r"allocated +47\.4 +44\.1 +50\.2 +tensors", shown)
    assert re.search(r"reserved +52\.3 +48\.0 +57\.9", shown)
    assert re.search(r"on the card +54\.1 +49\.8 +60\.0", shown)


def test_the_terms_of_the_peak_are_ordered_by_size_with_shares():
    shown = text(estimates.estimate())
    table = shown[shown.index("At the peak (loss)") :].splitlines()[1:7]

    assert [line[6:].split("  ")[0] for line in table] == [
        "logits and loss",
        "weights",
        "vision tower",
        "saved layer inputs",
        "optimizer states",
        "adapters (LoRA)",
    ]
    assert table[0].endswith("18.4    39%")


def test_only_everything_shows_sources_and_the_other_phases():
    answer = estimates.estimate()

    assert "14.75 B a logit" not in text(answer)
    assert "In backward" not in text(answer)
    assert "logits and loss: 14.75 B a logit" in text(answer, everything=True)
    assert "In backward" in text(answer, everything=True)
    assert "--verbose" not in text(answer, everything=True)


def test_what_was_assumed_is_named_with_what_would_settle_it():
    shown = text(estimates.estimate())

    assert "- Images have 1003520 pixels. (MAX_PIXELS would tell)" in shown


def test_a_job_that_is_too_large_says_by_how_much_and_what_is_largest():
    shown = text(estimates.too_large())

    assert "6.7 GiB too much. Largest parts: logits and loss 18.4, weights 15.4," in shown


def test_a_tight_job_is_judged_by_its_upper_bound():
    found = estimates.estimate(verdict="tight", limit_gib=55.0).prediction

    assert next_steps(found, View("en"))[0].startswith("At worst 5.0 GiB too much.")


def test_a_job_that_fits_gets_no_advice():
    assert next_steps(estimates.estimate().prediction, View("en")) == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("logits", "Activations and logits grow"),
        ("tower", "The vision tower grows"),
        ("engine", "The engine takes its share"),
        ("weights", "do not depend on batch"),
        ("something-new", "do not depend on batch"),
    ],
)
def test_the_advice_is_on_the_largest_group_of_terms(name, said):
    big = estimates.phase("loss", estimates.Term(name=name, gib=90.0))
    answer = estimates.estimate(verdict="does-not-fit", phases=(big,))

    assert said in next_steps(answer.prediction, View("en"))[1]


def test_several_cards_are_compared():
    shown = text(estimates.too_large())

    assert re.search(r"RTX A6000 +54\.1 / +47\.4 +DOES NOT FIT", shown)
    assert re.search(r"A100 +54\.1 / +\? +size unknown", shown)
    assert re.search(r"H20 +54\.1 / +95\.6 +FITS", shown)
    assert "On each card" not in text(estimates.estimate())


def test_a_count_is_compared_with_the_formula_and_names_the_gaps():
    shown = " ".join(text(estimates.too_large()).split())

    assert "45.9 GiB allocated at the peak; the formula says 47.4 (+3%)" in shown
    assert "(counted / formula): logits and loss 15.1 / 18.4, other - / 9.1." in shown
    assert "parameters 15.8" not in shown
    assert "of transformers 4.51.3, torch 2.5.1, 9 s" in shown


def test_a_count_that_failed_says_why():
    why = Refusal(kind="unmodelled", id="exact-failed", reason="the class needs values")
    answer = estimates.estimate(counted=ExactCount(refusal=why))

    assert "not counted: the class needs values" in text(answer)


def test_a_refusal_quotes_its_evidence_and_says_what_is_needed():
    shown = text(estimates.refused())

    assert "launch.sh:3  --model ./my-model" in shown
    assert "Needed\n  - --model-config ./my-model/config.json" in shown


def test_a_term_without_words_keeps_its_name():
    new = estimates.phase("loss", estimates.Term(name="ring-buffers", gib=2.0))

    assert "ring buffers" in text(estimates.estimate(phases=(new,)), "zh")


def test_hidden_characters_of_a_model_name_are_not_shown():
    job = msgspec.structs.replace(estimates.JOB, model="a\x1b[31mb\u202ec")

    shown = text(estimates.estimate(job=job))

    assert "\x1b" not in shown
    assert "\u202e" not in shown


def rows(answer, width=80):
    return plain(chart_lines(chart(answer.prediction, View("en", width)), width)).splitlines()[1:]


def test_the_limit_stands_in_the_same_column_of_every_bar():
    shown = rows(estimates.too_large())

    assert len({line.index("|") for line in shown}) == 1


def test_a_bar_is_as_long_as_its_phase_to_half_a_cell():
    answer = estimates.estimate(limit_gib=None)
    shown = rows(answer)
    drawn = [
        sum(line.count(ink.text) for ink in set(inks(answer.prediction).values()))
        for line in (re.sub(r"[\d.]+( peak)?$", "", line[16:]) for line in shown)
    ]

    sizes = [bar.gib for bar in bars(answer.prediction, "en")]
    scale = drawn[-1] / sizes[-1]
    assert all(abs(n - size * scale) <= 1 for n, size in zip(drawn, sizes, strict=True))


def test_only_the_peak_is_marked():
    assert [line.endswith("peak") for line in rows(estimates.estimate())] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_the_largest_terms_have_glyphs_of_their_own():
    drawn = inks(estimates.estimate().prediction)

    glyphs = [drawn[name].text for name in ("logits", "weights", "tower", "live", "checkpoints")]
    assert len(set(glyphs)) == 5


def test_a_job_that_needs_nothing_is_drawn_too():
    nothing = estimates.figure(0.0, 0.0, 0.0)
    answer = estimates.estimate(
        allocated=nothing, reserved=nothing, card=nothing, phases=(), limit_gib=None, verdict=None
    )

    assert "on the card" in text(answer)


def test_every_style_that_is_used_exists():
    for answer in ANSWERS.values():
        styles = {
            span.style for line in page(document(answer, View("en")), View("en")) for span in line
        }
        assert styles - {""} <= set(STYLES)


def test_colour_changes_no_text():
    view = View("zh")
    lines = page(document(estimates.too_large(), view), view)
    bare = re.sub(r"\x1b\[[\d;]*m", "", coloured(lines))

    assert [line.rstrip() for line in bare.splitlines()] == plain(lines).splitlines()


def test_a_refusal_without_a_reason_still_says_so():
    answer = msgspec.structs.replace(
        estimates.refused(), refusal=Refusal(kind="unmodelled", id="x", reason="task: not modelled")
    )

    assert text(answer).startswith("no prediction: task: not modelled")
    assert "Needed" not in text(answer)
