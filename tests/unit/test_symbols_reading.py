"""The generator of data/symbols reads sources without running them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from symbols.build import lines
from symbols.outline import Outline, outline
from symbols.spans import spec_of
from symbols.tables import Exports, Tables
from trainrx.model.packages import Symbols

RELEASES = ("1.0.0", "1.1.0", "2.0.0")


def read(text: str, module: str = "trl.m", *, is_package: bool = False) -> Outline:
    found = outline(dedent(text), module, is_package=is_package)
    assert found is not None
    return found


def built(*releases: dict[str, str], package: str = "trl") -> dict[tuple[str, str], Symbols]:
    """Give the lines of a package whose releases hold these modules; `pkg/` is a package."""
    tables = Tables(RELEASES[: len(releases)])
    for at, modules in enumerate(releases):
        tables.add(
            at,
            {
                name.rstrip("/"): read(text, name.rstrip("/"), is_package=name.endswith("/"))
                for name, text in modules.items()
            },
        )
    return {(line.kind, line.of): line for line in lines(package, tables, {})}


def test_names_under_conditions_count() -> None:
    found = read("""
        import os
        if os.name:
            from trl.other import one
        try:
            two = 2
        except ImportError:
            two = None
        else:
            def three(): ...
    """)

    assert {"two", "three"} <= set(found.own)
    assert "one" in found.others
    assert ("trl.other", "one") not in found.needed


def test_an_import_without_condition_is_needed() -> None:
    found = read("from ..core import a, b as c\n", "trl.trainer.sft")

    assert found.needed == (("trl.core", "a"), ("trl.core", "b"))


def test_what_methods_assign_to_self_is_an_attribute() -> None:
    found = read("""
        class Trainer:
            kind: str
            def __init__(self, model, *, tokenizer=None, **kwargs):
                self.model = model
                model.other = 1
            @property
            def size(self): ...
    """).classes["Trainer"]

    assert found.attributes == ("__init__", "kind", "model", "size")
    assert found.methods["__init__"].takes == ("model", "tokenizer")
    assert found.methods["__init__"].requires == ("model",)
    assert found.methods["__init__"].open


def test_lazy_tables_and_star_imports_are_exported() -> None:
    modules = {
        "pkg": read(
            """
            _import_structure = {"core": ["Alpha"], "utils": []}
            _import_structure["core"].extend(["Beta"])
            from .deep import *
        """,
            "pkg",
            is_package=True,
        ),
        "pkg.deep": read("__all__ = ['Gamma']\nGamma = hidden = 1\n", "pkg.deep"),
    }

    found = Exports(modules).of("pkg")

    assert {"Alpha", "Beta", "Gamma", "core", "utils", "deep"} <= found
    assert "hidden" not in found


def test_a_folder_that_is_swept_exports_what_its_modules_list() -> None:
    modules = {
        "pkg": read(
            "import_structure = define_import_structure(HERE / 'models', prefix='models')\n",
            "pkg",
            is_package=True,
        ),
        "pkg.models.a.modeling_a": read("__all__ = ['AModel']\n", "pkg.models.a.modeling_a"),
    }

    assert "AModel" in Exports(modules).of("pkg")


def test_a_name_that_went_and_where_it_went() -> None:
    found = built(
        {"trl/": "", "trl.core": "def a(): ...\ndef b(): ...\n", "trl.new": ""},
        {"trl/": "", "trl.core": "def b(): ...\n", "trl.new": "def a(): ...\n"},
    )

    assert found["module", "trl.core"].names == {"<1.1.0": "a"}
    assert found["module", "trl.core"].moved == {"trl.new": "a"}
    assert found["module", "trl.new"].names == {">=1.1.0": "a"}


def test_what_never_changes_stands_nowhere() -> None:
    same = {"trl/": "", "trl.core": "def a(x): ...\nclass B:\n    c = 1\n"}

    assert built(same, same) == {}


def test_a_module_of_some_releases_names_those_below_it() -> None:
    found = built(
        {"trl/": ""},
        {"trl/": "", "trl.new/": "", "trl.new.part": "def a(): ...\n"},
    )

    assert found["module", "trl.new"].releases == ">=1.1.0"
    assert found["module", "trl.new"].parts == "part"


def test_an_attribute_that_moved_to_a_base_did_not_change() -> None:
    found = built(
        {"trl.core": "class A: ...\nclass B(A):\n    x = 1\n    y = 1\n"},
        {"trl.core": "class A:\n    x = 1\nclass B(A): ...\n"},
    )

    assert found["class", "B"].names == {"<1.1.0": "y"}


def test_arguments_that_came_and_those_that_must_be_given() -> None:
    found = built(
        {"trl.core": "def f(a): ...\n"},
        {"trl.core": "def f(a, b=1): ...\n"},
        {"trl.core": "def f(a, b): ...\n"},
    )

    assert found["call", "f"].names == {">=1.1.0": "b"}
    assert found["call", "f"].required == {">=2.0.0": "b"}


def test_a_function_that_takes_any_keyword_takes_this_one() -> None:
    found = built(
        {"trl.core": "def f(a, **more): ...\n"},
        {"trl.core": "def f(): ...\n"},
        {"trl.core": "def f(a): ...\n"},
    )

    assert found["call", "f"].names == {"<1.1.0|>=2.0.0": "a"}


def test_the_constructor_of_a_dataclass_takes_its_fields() -> None:
    head = "@dataclass\nclass Base:\n    a: int\n\n@dataclass\nclass C(Base):\n    b: int = 1\n"

    found = built({"trl.core": head}, {"trl.core": head.replace("b: int", "c: int")})

    assert found["call", "C.__init__"].names == {"<1.1.0": "b", ">=1.1.0": "c"}


def test_who_imports_a_name_is_told() -> None:
    asked, asking = Tables(RELEASES[:2]), Tables(RELEASES[:2])
    asked.add(0, {"peft.core": read("a = 1\n", "peft.core")})
    asked.add(1, {"peft.core": read("", "peft.core")})
    asking.add(0, {"trl.x": read("from peft.core import a\n", "trl.x")})
    asking.add(1, {"trl.x": read("", "trl.x")})

    (line,) = lines("peft", asked, {"trl": asking})

    assert line.askers == {"trl": {"<1.1.0": "a"}}


@pytest.mark.parametrize(
    ("mask", "spec"),
    [
        (0b001, "<1.1.0"),
        (0b010, ">=1.1.0,<2.0.0"),
        (0b110, ">=1.1.0"),
        (0b101, "<1.1.0|>=2.0.0"),
        (0b111, ""),
    ],
)
def test_releases_as_a_range(mask: int, spec: str) -> None:
    assert spec_of(mask, RELEASES) == spec


def test_what_is_no_python_is_passed_over() -> None:
    assert outline("def f(:\n", "trl.m", is_package=False) is None
