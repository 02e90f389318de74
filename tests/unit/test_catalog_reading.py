"""The generator of data/catalogs reads sources without running them."""

from __future__ import annotations

import pytest

from catalog.annotations import choices, type_text
from catalog.evaluate import Evaluator, Expr
from catalog.fields import class_command, class_fields, every_class
from catalog.modules import Module
from catalog.parsers import function_parser
from catalog.sources import Sources
from catalog.tables import Argument
from catalog.world import Definition, External, World


def world(**files: str) -> World:
    """Make a world of modules: `pkg__a="..."` is pkg/a.py."""
    return World(Sources({f"{name.replace('__', '/')}.py": text for name, text in files.items()}))


def cls(found: World, module: str, name: str) -> Definition:
    definition = found.resolve_class(module, name)
    assert definition is not None
    return definition


def module(found: World, name: str) -> Module:
    read = found.module(name)
    assert read is not None
    return read


def evaluated(text: str, **files: str) -> object:
    found = world(pkg__m=f"value = {text}\n", **files)
    definition = found.resolve("pkg.m", "value")
    assert isinstance(definition, Definition)
    return Evaluator(found, definition.module).value(definition.node)


def test_a_name_is_followed_through_re_exports() -> None:
    found = world(
        pkg__a="from .b import *\n",
        pkg__b="from pkg.c import Thing as Other\n",
        pkg__c="class Thing: x: int\n",
    )

    definition = found.resolve("pkg.a", "Other")

    assert isinstance(definition, Definition)
    assert definition.dotted == "pkg.c.Thing"


def test_imports_below_type_checking_count_and_fallbacks_of_except_do_not() -> None:
    found = world(
        pkg__a=(
            "if TYPE_CHECKING:\n    from .b import Real\n"
            "try:\n    from .b import Real as Maybe\nexcept ImportError:\n    Maybe = None\n"
        ),
        pkg__b="class Real: pass\n",
    )

    assert found.resolve_class("pkg.a", "Real") == found.resolve_class("pkg.a", "Maybe")
    assert found.resolve_class("pkg.a", "Real") is not None


def test_a_name_of_another_package_is_external() -> None:
    found = world(pkg__a="from transformers import TrainingArguments\nimport os.path\n")

    assert found.resolve("pkg.a", "TrainingArguments") == External("transformers.TrainingArguments")
    assert found.resolve("pkg.a", "os.path") == External("os.path")


def test_a_circle_of_re_exports_ends() -> None:
    found = world(pkg__a="from .b import x\n", pkg__b="from .a import x\n")

    assert found.resolve("pkg.a", "x") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("1 << 4", 16),
        ("2 * 1024 + 0.5", 2048.5),
        ("[1, *(2, 3)]", [1, 2, 3]),
        ("{'a': 1, **{'b': None}}", {"a": 1, "b": None}),
        ("dict(a=True)", {"a": True}),
        ("int(5e8)", 500000000),
        ("'a' 'b'", "ab"),
        ("f'{2}x{1 + 1}'.upper()", "2X2"),
        ("list({'x': 1}.keys())", ["x"]),
        ("lambda: [1]", [1]),
    ],
)
def test_constants_are_calculated(text: str, value: object) -> None:
    found = evaluated(text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["os.getenv('X')", "1 if y else 2", "1 / 0", "9 ** 999"])
def test_what_only_a_run_can_tell_stays_source(text: str) -> None:
    found = evaluated(text)

    assert isinstance(found, Expr)


def test_a_member_of_an_enumeration_has_its_value() -> None:
    found = evaluated("Kind.FAST.value", pkg__k="")
    assert isinstance(found, Expr)

    definition = world(
        pkg__m="from .k import Kind\nvalue = Kind.FAST\n",
        pkg__k="from enum import Enum\nclass Kind(str, Enum):\n    FAST = 'fast'\n",
    )
    node = definition.resolve("pkg.m", "value")

    assert isinstance(node, Definition)
    assert Evaluator(definition, node.module).value(node.node) == "fast"


def test_fields_follow_the_order_of_ancestors() -> None:
    found = world(
        pkg__m=(
            "from dataclasses import dataclass, field\n"
            "@dataclass\nclass Base:\n    a: int = 1\n    b: str = 'x'\n"
            "class Mixin:\n    hidden: int = 3\n"
            "@dataclass\nclass Left(Base):\n    a: int = 2\n"
            "@dataclass\nclass Right(Base):\n    a: int = 9\n    c: float\n"
            "@dataclass\nclass Both(Mixin, Left, Right):\n"
            "    d: list = field(default_factory=lambda: ['q'])\n"
            "    e: int = field(init=False)\n"
        )
    )

    table = class_fields(found, cls(found, "pkg.m", "Both"))

    assert table == {
        "a": Argument("int", 2),
        "b": Argument("str", "x"),
        "c": Argument("float", {"required": True}),
        "d": Argument("list", ["q"]),
    }


def test_metadata_gives_choices_and_aliases() -> None:
    found = world(
        pkg__m=(
            "@dataclass\nclass A:\n"
            "    x: Optional[str] = field(default=None, metadata={'choices': ['p', 'q'],"
            " 'aliases': ['--y', '--z']})\n"
        )
    )

    table = class_fields(found, cls(found, "pkg.m", "A"))

    assert table["x"] == Argument("Optional[str]", None, ("p", "q"), ("y", "z"))


def test_a_default_set_in_one_branch_only_is_no_constant() -> None:
    found = world(
        pkg__m="@dataclass\nclass A:\n    d = 'slow'\n    if fast():\n        d = 'quick'\n"
        "    x: str = d\n"
    )

    assert class_fields(found, cls(found, "pkg.m", "A"))["x"].default == {
        "expr": "'slow' or 'quick'"
    }


def test_fields_behind_a_class_of_another_package_yield_to_it() -> None:
    found = world(
        pkg__m=(
            "from transformers import TrainingArguments\n"
            "@dataclass\nclass First:\n    a: int = 1\n"
            "@dataclass\nclass Last:\n    seed: int = 7\n    a: int = 2\n"
            "@dataclass\nclass All(First, TrainingArguments, Last):\n    pass\n"
        )
    )

    command = class_command(found, cls(found, "pkg.m", "All"))

    assert command.inherits == (("transformers", "TrainingArguments"),)
    assert command.yielding == {"seed"}


def test_a_pydantic_model_takes_the_fields_of_plain_ancestors() -> None:
    found = world(
        pkg__m=(
            "class A(BaseModel):\n    x: int | None = Field(default=None, alias='ex')\n"
            "class B(A):\n    y: bool = Field(..., description='long')\n"
        )
    )

    table = class_fields(found, cls(found, "pkg.m", "B"), is_container=every_class)

    assert table == {
        "x": Argument("int | None", None, None, ("ex",)),
        "y": Argument("bool", {"required": True}),
    }


@pytest.mark.parametrize(
    ("annotation", "type_", "allowed"),
    [
        ("Literal['a', 'b']", "Literal", ["a", "b"]),
        ("t.Optional[t.List[str]]", "Optional[List[str]]", None),
        ("'Optional[Mode]'", "Optional[Literal]", ["x", 1]),
        ("Annotated[int, Gt(0)]", "int", None),
        ("Kind | None", "Kind | None", ["k"]),
        ("Literal[NAMES]", "Literal", ["n", "m"]),
    ],
)
def test_annotations_give_a_type_and_choices(
    annotation: str, type_: str, allowed: list[object] | None
) -> None:
    found = world(
        pkg__m=(
            "Mode = Literal['x', 1]\nNAMES = ('n', 'm')\n"
            "class Kind(str, Enum):\n    A = 'k'\n"
            f"class C:\n    f: {annotation}\n"
        )
    )
    here = module(found, "pkg.m")
    node = here.tree.body[-1].body[0].annotation  # type: ignore[attr-defined]

    assert type_text(found, here, node) == type_
    # reading the type does not spoil the tree
    assert choices(found, here, node) == allowed
    assert type_text(found, here, node) == type_


def test_options_of_a_parser_have_names_types_and_other_spellings() -> None:
    found = world(
        pkg__m=(
            "def build(parser):\n"
            "    parser.add_argument('-n', '--num-gpus', '--num_gpus', type=int, default=8)\n"
            "    parser.add_argument('--fast', action='store_true')\n"
            "    parser.add_argument('--slow', action='store_false', dest='fast')\n"
            "    parser.add_argument('--files', nargs='+', type=str, required=True)\n"
            "    parser.add_argument('--mode', choices=['a', 'b'])\n"
            "    parser.add_argument('--x', action=argparse.BooleanOptionalAction, default=True)\n"
        )
    )

    table = function_parser(found, "pkg.m", "build")

    assert table == {
        "num_gpus": Argument("int", 8, None, ("-n",)),
        "fast": Argument("store_true", False),
        "slow": Argument("store_false", True),
        "files": Argument("List[str]", {"required": True}),
        "mode": Argument("str", None, ("a", "b")),
        "x": Argument("BooleanOptionalAction", True),
    }
