from __future__ import annotations

import ast

from check_modules import repeated_names, small_modules

USER = "from pkg.small import helper\n"
SMALL = "def helper() -> None: ...\n"


def parsed(**texts: str) -> dict[str, ast.Module]:
    return {name.replace("__", "."): ast.parse(text) for name, text in texts.items()}


def test_a_record_that_stands_in_two_modules_is_named() -> None:
    found = list(repeated_names(parsed(a="class Job: ...", b="class Job: ...\nclass _Own: ...")))

    assert found == ["Job stands in a, b"]


def test_a_small_module_of_one_neighbour_is_named() -> None:
    found = list(small_modules(parsed(pkg__small=SMALL, pkg__user=USER)))

    assert found == ["pkg.small (1 lines) belongs into pkg.user"]


def test_a_module_of_two_users_or_of_another_package_stands() -> None:
    two = parsed(pkg__small=SMALL, pkg__user=USER, pkg__other=USER)
    elsewhere = parsed(pkg__small=SMALL, other__user=USER)

    assert not [*small_modules(two), *small_modules(elsewhere)]
