"""How a release is installed."""

from __future__ import annotations

import pytest

from trainrx import diagnose
from trainrx.fix.changes import install
from trainrx.frameworks import frameworks


@pytest.mark.parametrize(
    ("name", "spec", "newest", "said"),
    [
        ("ms-swift", ">=4.0.0", False, 'pip install "ms-swift>=4.0.0"'),
        ("trl", ">0.9.6", True, 'pip install -U "trl>0.9.6"'),
        ("easyr1", "", True, "git pull && pip install -e .  # in the checkout of easyr1"),
        (
            "slime",
            ">=0.2.0",
            False,
            "git pull && pip install -e . --no-deps  # in the checkout of slime>=0.2.0",
        ),
        (
            "miles",
            "<0.1",
            False,
            "git checkout TAG && pip install -e . --no-deps  # a tag of miles<0.1",
        ),
    ],
)
def test_a_release_is_installed_from_where_it_is(
    name: str, spec: str, newest: bool, said: str
) -> None:
    assert install(name, spec, newest=newest) == said


@pytest.mark.parametrize("framework", [one.name for one in frameworks() if one.checkout])
def test_no_foreign_package_of_the_same_name_is_installed(framework: str) -> None:
    note = "training stops with RuntimeError: shape mismatch in the rollout worker"

    answer = diagnose(note=note, framework=framework)

    said = [c.spelled for cause in answer.causes for fix in cause.fixes for c in fix.changes]
    assert any(text.startswith("git pull") for text in said)
    assert not any(text.startswith("pip install") and framework in text for text in said)


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (None, 'pip install "transformers==VERSION"  # the release that ran before'),
        (
            {"transformers": "5.2.0"},
            'pip install "transformers<5.2.0"  # the release that ran before',
        ),
    ],
)
def test_the_way_back_names_an_older_release(versions: dict[str, str] | None, said: str) -> None:
    answer = diagnose(
        note="after upgrading transformers the training crashes",
        framework="ms-swift",
        versions=versions,
    )

    changes = [c for cause in answer.causes for fix in cause.fixes for c in fix.changes]
    back = next(change for change in changes if change.param == "transformers")
    assert (back.action, back.spelled) == ("downgrade", said)
