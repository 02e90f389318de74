"""Every text of every record, hostile: none of it has an effect in any form it is written in."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import Any

import msgspec
import pytest
from msgspec import inspect as types

from trainrx.collect.state import WatchState
from trainrx.model.bundle import CollectReport
from trainrx.model.dry_run import DryRunAnswer
from trainrx.model.estimate import Estimate
from trainrx.model.fixing import FixAnswer, RetryAnswer
from trainrx.model.inspection import Comparison, Inspection
from trainrx.model.lint import LintReport
from trainrx.model.planning import PlanAnswer
from trainrx.model.result import Diagnosis
from trainrx.model.translation import Translation
from trainrx.render import ANSWERS, render
from trainrx.render.document import View
from trainrx.render.formats import names

TOKEN = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9b"
MARK = (
    f"a\x1b]52;c;cm0gLXJm\x07 --hub_token {TOKEN}\n::error::b\r##[error]c \u202ed\u2066e\u00ad"
    "\U000e0041\u200d\x9b31mf\udc9b {g} %s `h` | <i>"
)
RECORDS: tuple[type[msgspec.Struct], ...] = (
    CollectReport,
    Comparison,
    Diagnosis,
    DryRunAnswer,
    Estimate,
    FixAnswer,
    Inspection,
    LintReport,
    PlanAnswer,
    RetryAnswer,
    Translation,
    WatchState,
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200c-\u200f\u202a-\u202e\u2060-\u2069\u00ad\U000e0000-\U000e007f]"
)
DEEPEST = 8
COMMAND = re.compile(r"(?m)^\s*::error::b|##\[error\]c")


@singledispatch
def marked(kind: Any, _depth: int = 0) -> Any:
    """Make a value of a type in which every free text is the mark, and nothing is empty."""
    return MARK if isinstance(kind, (types.StrType, types.AnyType)) else None


@marked.register
def _struct(kind: types.StructType, depth: int = 0) -> Any:
    return {f.encode_name: marked(f.type, depth + 1) for f in kind.fields}


@marked.register
def _literal(kind: types.LiteralType, _depth: int = 0) -> Any:
    return kind.values[0]


@marked.register(types.IntType)
@marked.register(types.FloatType)
@marked.register(types.BoolType)
def _number(kind: Any, _depth: int = 0) -> Any:
    return True if isinstance(kind, types.BoolType) else 1


@marked.register(types.VarTupleType)
@marked.register(types.ListType)
def _several(kind: Any, depth: int = 0) -> Any:
    return [] if depth > DEEPEST else [marked(kind.item_type, depth + 1)]


@marked.register
def _tuple(kind: types.TupleType, depth: int = 0) -> Any:
    return [marked(item, depth + 1) for item in kind.item_types]


@marked.register
def _mapping(kind: types.DictType, depth: int = 0) -> Any:
    return {marked(kind.key_type, depth + 1): marked(kind.value_type, depth + 1)}


@marked.register
def _union(kind: types.UnionType, depth: int = 0) -> Any:
    chosen = sorted(kind.types, key=lambda item: PREFERRED.index(type(item)))
    return marked(chosen[0], depth)


PREFERRED = (
    types.StructType,
    types.StrType,
    types.LiteralType,
    types.VarTupleType,
    types.TupleType,
    types.ListType,
    types.DictType,
    types.FloatType,
    types.IntType,
    types.BoolType,
    types.NoneType,
    types.AnyType,
)


def test_every_record_that_is_rendered_is_tried():
    assert {kind.__name__ for kind in RECORDS} == set(ANSWERS)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_no_text_of_a_record_has_an_effect_in_any_form(kind):
    answer = msgspec.convert(marked(types.type_info(kind)), kind)
    views = [View("en"), View("zh", everything=True, colour=True, terminal=True)]

    for form in names(kind.__name__):
        for view in views:
            page = render(answer, form, view)
            shown = re.sub(r"\x1b\[[0-9;]{1,8}m", "", page) if view.colour else page

            assert TOKEN not in page, form
            assert not HIDDEN.search(shown), (form, HIDDEN.search(shown))
            assert not COMMAND.search(shown), (form, COMMAND.search(shown))
