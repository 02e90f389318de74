from __future__ import annotations

import sys

import estimates
import msgspec
import pytest

from trainrx.model.errors import UsageError
from trainrx.render.estimate_plot import write_plot
from trainrx.render.figures import check_plot

pytest.importorskip("matplotlib")


def test_an_svg_holds_the_bars_names_and_the_limit(tmp_path):
    path = tmp_path / "out.svg"

    write_plot(estimates.too_large(), path)

    drawn = path.read_text(encoding="utf-8")
    for text in ("logits and loss", "optimizer step", "card: 47.4 GiB", "54.1", "vision tower"):
        assert f">{text}" in drawn or f"> {text}" in drawn


def test_a_png_is_a_png(tmp_path):
    path = tmp_path / "OUT.PNG"

    write_plot(estimates.estimate(), path)

    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_job_gives_the_same_svg(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"

    for path in (first, second):
        write_plot(estimates.estimate(), path)

    assert first.read_bytes() == second.read_bytes()


def test_a_name_with_a_dollar_sign_is_no_formula(tmp_path):
    job = msgspec.structs.replace(estimates.JOB, model="$MODEL_{x")

    write_plot(estimates.estimate(job=job), tmp_path / "out.svg")

    assert "$MODEL_{x" in (tmp_path / "out.svg").read_text(encoding="utf-8")


def test_chinese_is_drawn_where_a_font_has_it_and_english_elsewhere(tmp_path, capsys):
    path = tmp_path / "out.svg"

    write_plot(estimates.estimate(lang="zh"), path)

    drawn = path.read_text(encoding="utf-8")
    assert ("优化器更新" in drawn) != ("optimizer step" in drawn)
    assert capsys.readouterr().err == ""


def test_nothing_is_drawn_of_a_refusal(tmp_path):
    with pytest.raises(UsageError, match="no prediction to draw"):
        write_plot(estimates.refused(), tmp_path / "out.svg")


@pytest.mark.parametrize("name", ["out.pdf", "out", "svg"])
def test_another_form_is_refused(name, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.svg or \.png"):
        check_plot(tmp_path / name)


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        check_plot(tmp_path / "nowhere" / "out.svg")


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UsageError, match=r"pip install 'trainrx\[plot\]'"):
        check_plot(tmp_path / "out.svg")
