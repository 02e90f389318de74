"""Figures by matplotlib: what they share, and how they are written."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trainrx.model.errors import UsageError
from trainrx.model.text import Lang

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><title>trainrx</title>
<style>body {{ margin: 1em; }} svg {{ max-width: 100%; height: auto; }}</style></head>
<body>
{svg}</body></html>
"""
SUFFIXES = (".svg", ".png")
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#000000",
)
"""Told apart with any colour vision (Okabe and Ito, jfly.uni-koeln.de/color, 2002)."""
CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "SimHei",
)


CHINESE_FILE = re.compile(r"cjk|wqy|sourcehan|notosanssc|msyh|pingfang|simhei", re.IGNORECASE)


def check_plot(path: Path, suffixes: Sequence[str] = SUFFIXES) -> None:
    """Refuse a figure that cannot be drawn, before anything is worked out.

    Raises:
        UsageError: the form is none of those there are, or matplotlib is not installed.
    """
    from importlib.util import find_spec

    if path.suffix.lower() not in suffixes:
        known = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise UsageError(f"--plot {path}: expected a file name that ends in {known}")
    if not path.parent.is_dir():
        raise UsageError(f"--plot {path}: there is no folder {path.parent}")
    if find_spec("matplotlib") is None:
        raise UsageError(
            "--plot needs matplotlib, which is not installed: pip install 'trainrx[plot]'"
        )


@contextmanager
def drawing(lang: Lang) -> Iterator[Lang]:
    """Set matplotlib up for a figure; gives the language its texts can be written in."""
    import matplotlib as mpl

    fonts = _chinese_fonts() if lang == "zh" else []
    with mpl.rc_context():
        # a fixed salt and no date: the same job gives the same file
        mpl.rcParams["svg.hashsalt"] = "trainrx"
        mpl.rcParams["svg.fonttype"] = "none"
        if fonts:  # many have no weight called normal, which is no matter
            mpl.rcParams["font.sans-serif"] = [*fonts, "DejaVu Sans"]
            logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
        yield "zh" if fonts else "en"


def write_canvas(canvas: Canvas, path: Path) -> None:
    """Write a figure as its name says.

    Raises:
        UsageError: the file cannot be written.
    """
    form = path.suffix.lower()
    try:
        if form == ".svg":
            canvas.savefig(path, metadata={"Date": None})
        elif form == ".html":
            path.write_text(_page(canvas), encoding="utf-8")
        else:
            canvas.savefig(path, dpi=160)
    except OSError as error:
        raise UsageError(f"--plot {path}: {error.strerror or error}") from error


def _page(canvas: Canvas) -> str:
    """Give a page that holds the figure and needs nothing else."""
    from io import StringIO

    drawn = StringIO()
    canvas.savefig(drawn, format="svg", metadata={"Date": None})
    svg = drawn.getvalue()
    return PAGE.format(svg=svg[svg.index("<svg") :])


def _chinese_fonts() -> list[str]:
    """Name the fonts at hand that can write Chinese; without one a figure would show boxes."""
    from matplotlib import font_manager

    fonts = font_manager.fontManager
    if not _known(font.name for font in fonts.ttflist):
        # the list is kept from an earlier run; fonts may have been installed since
        for path in font_manager.findSystemFonts():
            if CHINESE_FILE.search(Path(path).name):
                fonts.addfont(path)
    return _known(font.name for font in fonts.ttflist)


def _known(names: Iterable[str]) -> list[str]:
    known = set(names)
    return [name for name in CHINESE_FONTS if name in known]
