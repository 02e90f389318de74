from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.facts.packages import package_facts
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.versions.listing import ALWAYS_BESIDE_TORCH


def derived(versions: dict[str, str], **given: Scalar) -> dict[str, Scalar | None]:
    facts = Facts(fact(name.replace("__", "."), value) for name, value in given.items())
    return {item.kind: item.value for item in package_facts(facts, versions)}


def test_a_broken_requirement_is_told_in_words() -> None:
    facts = derived({"trl": "0.24.0", "transformers": "4.51.3"})

    assert facts["packages.fit"] is False
    assert facts["packages.conflicts"] == (
        "trl 0.24.0 needs transformers>=4.56.1, 4.51.3 is installed"
    )


def test_versions_that_satisfy_each_other_fit() -> None:
    facts = derived({"trl": "0.24.0", "transformers": "4.57.1"})

    assert facts["packages.fit"] is True
    assert "packages.conflicts" not in facts


@pytest.mark.parametrize("versions", [{}, {"trl": "0.24.0"}, {"foo": "1.0", "bar": "2.0"}])
def test_too_little_known_is_unknown(versions: dict[str, str]) -> None:
    assert "packages.fit" not in derived(versions)


def test_a_version_known_in_part_decides_only_what_holds_for_all_of_it() -> None:
    assert "packages.fit" not in derived({"trl": "0.24.0", "transformers": "4.x"})
    assert derived({"trl": "0.24.0", "transformers": "4.51"})["packages.fit"] is False


def test_an_optional_feature_is_no_conflict() -> None:
    facts = derived({"trl": "0.24.0", "vllm": "0.9.0", "transformers": "4.57.1"})

    assert "packages.conflicts" not in facts


@pytest.mark.parametrize(
    ("present", "where"), [("4.55.0", "above"), ("4.51.3", "inside"), ("4.30.0", "below")]
)
def test_a_package_has_a_place_in_the_range_of_its_framework(present: str, where: str) -> None:
    facts = derived({"ms-swift": "3.3.1", "transformers": present})

    assert facts["packages.transformers_place"] == where
    assert facts["packages.transformers_range"] == ">=4.33,<4.53"


@pytest.mark.parametrize(
    ("torch", "where"), [("2.5.1+cu124", "inside"), ("2.6.0", "above"), ("2.4.0", "below")]
)
def test_vllm_wants_one_torch(torch: str, where: str) -> None:
    assert derived({"vllm": "0.7.3", "torch": torch})["packages.torch_place"] == where


@pytest.mark.parametrize(("version", "too_old"), [("4.47.1", True), ("4.49.0", False)])
def test_the_family_says_which_transformers_a_model_needs(version: str, too_old: bool) -> None:
    facts = derived({"transformers": version}, model__family="qwen2.5-vl")

    assert facts["model.needs_transformers"] == ">=4.49.0"
    assert facts["model.transformers_too_old"] is too_old


def test_experts_are_another_model_type() -> None:
    facts = derived({"transformers": "5.1.0"}, model__family="qwen3.5", model__is_moe=True)

    assert facts["model.needs_transformers"] == ">=5.2.0"


def test_the_type_a_log_names_decides() -> None:
    facts = derived(
        {"transformers": "4.50.0"}, log__model_type="qwen3_moe", model__family="qwen2.5-vl"
    )

    assert facts["model.needs_transformers"] == ">=4.51.0"


def test_the_registry_of_ms_swift_knows_its_own_types() -> None:
    facts = derived(
        {"transformers": "4.40.0"}, model__type="qwen3_thinking", launch__framework="ms-swift"
    )

    assert facts["model.transformers_too_old"] is True


def test_a_model_nobody_knows_needs_nothing() -> None:
    assert "model.needs_transformers" not in derived(
        {"transformers": "4.40.0"}, model__family="something"
    )


@given(st.dictionaries(st.sampled_from(["trl", "transformers", "vllm", "torch"]), st.text()))
def test_any_version_text_is_read_without_an_error(versions: dict[str, str]) -> None:
    facts = derived(versions)

    assert facts.get("packages.fit") in (None, True, False)


@pytest.mark.parametrize("text", ["==0.24.0", "== 0.24.0", " 0.24.0 ", "v0.24.0"])
def test_a_release_may_be_written_in_several_ways(text: str) -> None:
    assert derived({"trl": text, "transformers": "4.51.3"})["packages.fit"] is False


WHOLE = dict.fromkeys((*ALWAYS_BESIDE_TORCH, "torch", "liger-kernel"), "1.0")


@pytest.mark.parametrize(
    ("given", "unlisted"),
    [
        ({"missing__package": "bitsandbytes>=0.39"}, True),
        ({"missing__package": "liger_kernel"}, False),
        ({"missing__module": "cv2", "failure__package": "qwen-vl-utils"}, True),
        ({"missing__module": "my_rewards"}, None),
    ],
    ids=["named", "there", "imported-by-a-package", "perhaps-a-file-of-the-project"],
)
def test_a_whole_list_shows_whether_what_could_not_be_imported_is_there(
    given: dict[str, Scalar], unlisted: bool | None
) -> None:
    facts = derived(WHOLE, **given)

    assert facts.get("missing.unlisted") is unlisted


def test_a_list_of_a_few_packages_lacks_nothing() -> None:
    assert "missing.unlisted" not in derived({"torch": "2.6.0"}, missing__package="bitsandbytes")
