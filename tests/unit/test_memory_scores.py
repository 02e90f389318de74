"""How predictions of memory are held against measured rows."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from trainrx.model.memory import Figure, HostUse, Prediction, Refusal

_BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def scores(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    import memory_scores  # only here its folder is on the path

    return memory_scores


@pytest.fixture
def pairs(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    import memory_pairs

    return memory_pairs


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    import memory_report

    return memory_report


def _row(name, **said):
    return {
        "id": name,
        "tier": "strict",
        "source_family": "family",
        "group": "group",
        "model": "org/Model-7B",
        "framework": "trainer",
        "seq_len_kind": "exact",
        **said,
    }


def _figure(gib, spread=0.1):
    return Figure(gib=gib, low=gib * (1 - spread), high=gib * (1 + spread))


def _answer(allocated, reserved=None, card=None):
    reserved = allocated if reserved is None else reserved
    return Prediction(
        allocated=_figure(allocated),
        reserved=_figure(reserved),
        card=_figure(reserved if card is None else card),
        # what the job gets by with lies below what it takes
        need_gib=0.95 * (reserved if card is None else card),
        least_gib=0.9 * (reserved if card is None else card),
        peak="loss",
        phases=(),
        host=HostUse(resident=0.0, peak=0.0, terms=()),
    )


REFUSED = Refusal(kind="unknown", id="model-shape", reason="not in the catalogue")


def test_families_count_alike_however_many_rows_they_have(scores):
    values = [("many", 0.0)] * 9 + [("one", 1.0)]

    found = scores.average(values)

    assert (found.macro, found.plain, found.n, found.families) == (0.5, 0.1, 10, 2)


def test_nothing_to_average_is_no_number(scores):
    assert scores.average([]) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"measured_gib_per_gpu": 5, "measured_allocated_gib": 4, "measured_smi_gib": 5},
            {"allocated": 4.0, "card": 5.0},
        ),
        ({"measured_gib_per_gpu": 4, "measured_allocated_gib": 4}, {"allocated": 4.0}),
        ({"measured_gib_per_gpu": 7}, {"reserved": 7.0}),
        ({"measured_reserved_gib": 6, "measured_smi_gib": 7}, {"reserved": 6.0, "card": 7.0}),
        ({}, {}),
    ],
)
def test_a_number_is_compared_with_the_figure_it_is(scores, said, expected):
    assert scores.figures_of(_row("a", **said)) == expected


def test_a_point_pairs_each_measured_figure_with_its_own_prediction(scores):
    rows = [
        _row("a", measured_allocated_gib=10.0, measured_smi_gib=20.0),
        _row("b", measured_gib_per_gpu=1.0),
    ]

    points = scores.points_of(rows, {"a": _answer(11.0, 14.0, 15.0), "b": REFUSED})

    assert [(point.figure, round(point.error, 3)) for point in points] == [
        ("allocated", 0.1),
        ("card", -0.25),
    ]
    assert [point.within(0.15) for point in points] == [True, False]
    assert scores.mean_error(points).plain == pytest.approx(0.175)


def test_an_interval_holds_its_ends(scores):
    point = scores.Point("a", "strict", "f", "card", 9.0, 10.0, 9.0, 11.0)

    assert point.contained
    assert not point._replace(measured=8.99).contained


@pytest.mark.parametrize(
    ("said", "gib"),
    [
        ({"gpu": "RTX 3090 24G", "capacity_gib": 24}, 24 * 0.985),
        ({"gpu": "A10G-24G", "capacity_gib": 22.5}, 22.5 * 0.985),
        ({"gpu": "A100-80G", "measured_gib_per_gpu": 78.7}, 80.0),
        ({"gpu": "A100-SXM4-80GB", "measured_gib_per_gpu": 70.0}, 80.0),
        ({"gpu": "2 * A100", "measured_gib_per_gpu": 75.0}, 80.0),
        ({"gpu": "4 * V100(16GB)", "measured_gib_per_gpu": 15.0}, 16.0),
        ({"measured_gib_per_gpu": 64.0, "quality": "upper_bound"}, 64.0),
        ({"gpu": "NVIDIA H200", "measured_gib_per_gpu": 128.8}, 141.0),
        ({"measured_gib_per_gpu": 300.0}, None),
        ({}, None),
    ],
)
def test_the_card_of_a_job_is_named_or_the_smallest_that_holds_it(scores, said, gib):
    assert scores.capacity_of(_row("a", **said)) == gib


@pytest.mark.parametrize(
    ("card", "said", "fits"),
    [
        (70.0, "fits", True),
        (78.0, "tight", True),
        (82.0, "tight", True),  # it needs 77.9, and torch has 78.8 of an 80 GiB card
        (84.0, "tight", False),  # it may get by with 75.6
        (90.0, "does-not-fit", False),
    ],
)
def test_the_centre_decides_and_the_interval_may_say_nothing(scores, card, said, fits):
    row = _row("a", capacity_gib=80)

    verdict = scores.verdict_of(row, _answer(card), fitted=True)

    assert (verdict.said, verdict.central_fits) == (said, fits)


def test_a_verdict_that_was_not_given_is_not_wrong(scores):
    row = _row("a", capacity_gib=80)
    ran = [scores.verdict_of(row, _answer(card), fitted=True) for card in (70.0, 84.0, 90.0)]

    assert [verdict.wrong for verdict in ran] == [False, False, True]
    assert scores.share_wrong(ran).plain == 0.5
    assert scores.share_wrong_no(ran).plain == 0.5
    assert scores.share_open(ran).plain == pytest.approx(1 / 3)


def test_wrong_fits_are_counted_among_the_jobs_that_failed(scores):
    row = _row("a", capacity_gib=80)
    verdicts = [
        scores.verdict_of(row, _answer(card), fitted=fitted)
        for card, fitted in ((50.0, True), (50.0, False), (100.0, False), (100.0, True))
    ]

    assert scores.share_wrong_fits(verdicts).plain == 0.5
    assert scores.share_right(verdicts).plain == 0.5


def test_a_row_without_its_number_of_cards_gets_no_number(monkeypatch):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    from memory_rows import workload_of_row

    row = _row("a", model="Qwen/Qwen2-7B", framework="TRL", task="sft", tuner="full", gpus=None)

    found = workload_of_row(row)

    assert isinstance(found, Refusal)
    assert found.id == "gpus"


def test_a_refusal_has_no_verdict_and_no_coverage(scores):
    row = _row("a", capacity_gib=80)

    assert scores.verdict_of(row, REFUSED, fitted=True) is None
    assert scores.share_predicted([row], {"a": REFUSED}).plain == 0.0
    assert scores.refusals([row], {"a": REFUSED}) == [("unknown: model-shape", 1)]


def test_copies_of_a_model_are_held_out_together(scores):
    rows = [
        _row(str(number), model=name)
        for number, name in enumerate(
            ["a/Llama-2-7b-hf", "b/Llama-2-7B-Chat-GPTQ", "Qwen/Qwen2-7B", "Qwen/Qwen2-7B-Instruct"]
        )
    ]

    dealt = scores.folds(rows, 2)

    assert sorted(sorted(row["id"] for row in fold) for fold in dealt) == [["0", "1"], ["2", "3"]]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"seq_len": 512}, {"seq_len": 1024}, {"seq_len"}),
        ({"grad_ckpt": True}, {"grad_ckpt": False, "liger": True}, {"grad_ckpt", "liger"}),
        ({"cmd": "t --lr 1 --max_length 8"}, {"cmd": "t --lr 2 --max_length 9"}, set()),
        ({"cmd": "t --use_dora true"}, {"cmd": "t"}, {"use_dora"}),
        ({"cmd": "t --quantize bnb.nf4"}, {"cmd": "t --quantize bnb.nf4-dq"}, {"quant_bits"}),
        (
            {"quant_bits": 4, "cmd": "t --quantize bnb.nf4"},
            {"quant_bits": None, "cmd": "t"},
            {"quant_bits"},
        ),
        (
            {"cmd": "t framework_config=accelerated-peft-bnb bf16=True"},
            {"cmd": "t framework_config=accelerated-peft-bnb-foak bf16=True"},
            {"kernels"},
        ),
        ({"dataset": "short"}, {"dataset": "long"}, set()),
        ({"seq_len_kind": "cap", "dataset": "short"}, {"seq_len_kind": "cap"}, {"data"}),
        ({"cmd": '{"lora_r": 1, "sequence_len": 2, "bias": "all"}'}, {"cmd": "{}"}, {"bias"}),
        ({"cmd": "{broken"}, {"cmd": ""}, set()),
    ],
)
def test_settings_of_two_rows_are_compared_once_each(pairs, first, second, expected):
    assert pairs.differing(_row("a", **first), _row("b", **second)) == expected


def test_rows_apart_by_one_setting_are_a_pair(pairs):
    rows = [
        _row("a", seq_len=512, measured_gib_per_gpu=10.0),
        _row("b", seq_len=1024, measured_gib_per_gpu=14.0),
        _row("c", seq_len=1024, measured_gib_per_gpu=20.0, group="other"),
        _row("d", seq_len=1024, measured_gib_per_gpu=20.0, model="org/Model-13B"),
        _row("e", seq_len=2048, attn="eager", measured_gib_per_gpu=20.0),
        _row("f", seq_len=4096, measured_gib_per_gpu=20.0),
    ]
    answers = {row["id"]: _answer(10.0) for row in rows} | {"b": _answer(15.0), "f": REFUSED}

    found = pairs.pairs_of(rows, answers)

    assert [(pair.rows, pair.setting, pair.measured, pair.predicted) for pair in found] == [
        (("a", "b"), "seq_len", 4.0, 5.0)
    ]
    assert found[0].sign_right
    assert (found[0].size_within(0.3), found[0].size_within(0.15)) == (True, False)


@pytest.mark.parametrize(
    ("first", "second", "quality", "counts"),
    [
        (10.0, 10.29, "exact", False),
        (10.0, 10.4, "exact", True),
        (60.0, 61.5, "exact", False),
        (60.0, 62.0, "exact", True),
        (10.0, 11.0, "rounded", False),
        (10.0, 12.0, "rounded", True),
    ],
)
def test_a_difference_below_the_noise_does_not_count(pairs, first, second, quality, counts):
    rows = [
        _row("a", liger=False, measured_gib_per_gpu=first, quality=quality),
        _row("b", liger=True, measured_gib_per_gpu=second, quality=quality),
    ]

    (found,) = pairs.pairs_of(rows, {"a": _answer(9.0), "b": _answer(20.0)})

    assert found.counts is counts
    assert (pairs.share_sign([found]) is not None) is counts
    assert (pairs.share_flat([found]) is not None) is not counts


@pytest.mark.parametrize(
    ("first", "second", "quality", "resolved"),
    [
        (10.0, 11.0, "exact", False),
        (10.0, 11.2, "exact", True),
        (60.0, 64.0, "exact", False),
        (60.0, 67.0, "exact", True),
        (10.0, 13.0, "rounded", False),
        (10.0, 14.0, "rounded", True),
    ],
)
def test_a_difference_is_resolved_where_its_noise_is_less_than_what_is_asked_of_its_size(
    pairs, first, second, quality, resolved
):
    rows = [
        _row("a", liger=False, measured_gib_per_gpu=first, quality=quality),
        _row("b", liger=True, measured_gib_per_gpu=second, quality=quality),
    ]

    (found,) = pairs.pairs_of(rows, {"a": _answer(9.0), "b": _answer(20.0)})

    assert found.counts
    assert found.resolved is resolved


def test_suspect_rows_and_unexplained_failures_are_left_out(report):
    rows = [
        _row("a", measured_gib_per_gpu=10.0),
        _row("b", measured_gib_per_gpu=1.0, suspect="below its weights"),
    ]
    oom = [
        _row("c", capacity_gib=80, confidence="strong"),
        _row("d", capacity_gib=80, confidence="weak: cause not recorded"),
    ]

    found = report.score(rows, oom, {name: _answer(100.0) for name in "abcd"})

    assert [point.row for point in found.points] == ["a"]
    assert [verdict.row for verdict in found.verdicts] == ["c"]
    assert found.left_out == 1


def test_targets_are_held_against_the_average_over_families(report, scores):
    value = scores.Average(macro=0.05, plain=0.5, n=9, families=2)

    assert report.Line("error", value, 0.06, at_most=True).met is True
    assert report.Line("share", value, 0.06).met is False
    assert report.Line("share", value).met is None
    assert report.Line("share", None, 0.06).met is None


def test_every_figure_is_printed_even_without_a_row(report):
    found = report.score([_row("a", measured_gib_per_gpu=1.0)], [], {"a": REFUSED})

    text = "\n".join(report.summary(found))

    assert "strict: 0 of 1 predicted; no number: unknown: model-shape 1" in text
    assert len(report.lines(found)) == text.split("\n\n", maxsplit=1)[0].count("\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no row"),
        ("[]\n", "missing: id, tier"),
        ("{\n", "not JSON"),
        ('{"id": "a"}\n', "missing: tier"),
        (json.dumps(_row("a")) * 2, "not JSON"),
        (f"{json.dumps(_row('a'))}\n{json.dumps(_row('a'))}\n", "is taken by an earlier row"),
        (json.dumps(_row("a", measured_gib_per_gpu=-1)), "expected GiB above 0"),
        (json.dumps(_row("a", measured_gib_per_gpu="7 GiB")), "expected GiB above 0"),
    ],
)
def test_a_file_that_cannot_be_scored_is_said_so(tmp_path, text, said):
    file = tmp_path / "rows.jsonl"
    file.write_text(text)

    done = subprocess.run(
        [sys.executable, _BENCHMARKS / "memory_accuracy.py", file],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert str(file) in done.stderr


def test_a_block_of_a_page_is_replaced_and_the_rest_kept(report):
    page = "before\n<!-- a -->\n```\nold\n```\n<!-- /a -->\nafter\n"

    assert report.refreshed(page, "a", ["new", "lines"]) == page.replace("old", "new\nlines")
    with pytest.raises(KeyError):
        report.refreshed(page, "b", [])
