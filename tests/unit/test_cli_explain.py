from __future__ import annotations

import re

import pytest

from trainrx.cli import main
from trainrx.knowledge.load import load
from trainrx.render.document import View
from trainrx.render.explain import explained
from trainrx.render.formats.text import page, plain


def test_a_cause_is_explained_with_weights_tests_fixes_and_sources(capsys):
    status = main(["explain", "activations-exceed-memory", "--lang", "en", "--width", "100"])

    said = capsys.readouterr().out
    assert status == 0
    for part in ("Speaks for it", "Test: ", "Told apart from", "Price: ", "https://", "cuda-oom"):
        assert part in said
    assert re.search(r"^   [+]\d\.\d  ", said, re.MULTILINE)
    assert re.search(r"^   -\d\.\d  ", said, re.MULTILINE)


def test_a_fix_is_shown_with_its_id_and_the_lever_that_can_bar_it(capsys):
    status = main(["explain", "packing-illegal-memory-access", "--lang", "en", "--width", "200"])

    said = capsys.readouterr().out
    assert status == 0
    assert "· use-flash-attention\n" in said
    assert "Offered unless: train.attention = flash_attn" in said
    assert "hardware.compute_capability < 8" in said


def test_a_symptom_is_explained_with_samples_and_causes(capsys):
    status = main(["explain", "--lang", "zh", "cuda-oom"])

    said = capsys.readouterr().out
    assert status == 0
    assert "识别的日志行" in said
    assert "activations-exceed-memory" in said


def test_a_parameter_is_explained_with_its_spellings(capsys):
    status = main(["explain", "--lang", "en", "train.micro_batch"])

    said = capsys.readouterr().out
    assert status == 0
    assert "--per_device_train_batch_size" in said
    assert "ms-swift" in said


def test_an_unknown_id_is_status_2_and_names_the_nearest(capsys):
    status = main(["explain", "cuda-om"])

    assert status == 2
    assert "cuda-oom" in capsys.readouterr().err


@pytest.mark.parametrize("ident", ["../../../etc/passwd", "", "*", "a/b", "\x00", "x" * 10_000])
def test_no_id_reaches_outside_the_knowledge(ident, capsys):
    assert main(["explain", ident]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_entry_has_a_page(lang):
    known = load()
    entries = [
        *known.causes.values(),
        *known.symptoms.values(),
        *known.params.values(),
        *known.facts.values(),
        *known.rules.values(),
        *known.levers.values(),
    ]

    pages = [plain(page(explained(entry, View(lang, 80)), View(lang, 80))) for entry in entries]

    assert len(pages) > 100
    assert all(
        entry.title.in_(lang)[:12] in page for entry, page in zip(entries, pages, strict=True)
    )
    assert not any("Text(en=" in page for page in pages)
