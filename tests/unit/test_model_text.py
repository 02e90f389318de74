from __future__ import annotations

from trainrx.model.text import Text, price_text


def test_what_costs_nothing_has_no_price_to_be_told():
    free, paid = Text(en="None.", zh="无。"), Text(en="None; needs 2.7.", zh="无；需要 2.7。")

    assert [price_text(free, lang) for lang in ("en", "zh")] == ["", ""]
    assert price_text(paid, "zh") == "无；需要 2.7。"
