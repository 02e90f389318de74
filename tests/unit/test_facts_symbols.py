"""Which release has what a message says is not there; the answers were checked in the files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.facts.lacking import read_lack
from trainrx.facts.symbols import symbol_facts
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.versions.spans import Span, common, nearest, outside, read_spans

DYNAMIC = "AttributeError: 'DynamicCache' object has no attribute 'seen_tokens'"
PASSES = "got an unexpected keyword argument 'num_items_in_batch'"


def told(
    line: str, versions: dict[str, str] | None = None, raised_in: str = "", framework: str = ""
) -> dict[str, object]:
    known = {"failure.package": raised_in, "launch.framework": framework}
    facts = Facts(fact(kind, text) for kind, text in known.items() if text)
    at = Origin(source="train.log", line=1, text=line)
    sighted = [Fact(kind="symptom.import-error", origins=(at,))]
    found = symbol_facts(facts, sighted, versions or {})
    return {item.kind.removeprefix("symbol."): item.value for item in found}


def missing(name: str, module: str = "transformers") -> str:
    return f"ImportError: cannot import name '{name}' from '{module}' (/x/__init__.py)"


@pytest.mark.parametrize(
    ("line", "package", "side", "releases"),
    [
        (missing("is_torch_tpu_available"), "transformers", "older", "<4.51.0"),
        (missing("top_k_top_p_filtering"), "transformers", "older", "<4.39.0"),
        (missing("EncoderDecoderCache"), "transformers", "newer", ">=4.43.0"),
        (
            missing("LlamaFlashAttention2", "transformers.models.llama.modeling_llama"),
            "transformers",
            "older",
            ">=4.34.0,<4.48.0",
        ),
        (missing("cached_download", "huggingface_hub"), "huggingface-hub", "older", "<0.26.0"),
        (missing("custom_op", "torch.library"), "torch", "newer", ">=2.4.0"),
        (
            "ModuleNotFoundError: No module named 'transformers.models.qwen3_vl.modeling_qwen3_vl'",
            "transformers",
            "newer",
            ">=4.57.0",
        ),
        ("ModuleNotFoundError: No module named 'vllm.lora.models'", "vllm", "older", "<0.13.0"),
        (
            "AttributeError: module transformers has no attribute Qwen2_5_VLModel",
            "transformers",
            "newer",
            ">=4.49.0",
        ),
        (DYNAMIC, "transformers", "older", ">=4.36.0,<4.54.0"),
        (
            "AttributeError: 'LlamaAttention' object has no attribute 'num_heads'",
            "transformers",
            "older",
            "<4.48.0",
        ),
        (
            "AttributeError: 'SFTTrainer' object has no attribute 'tokenizer'",
            "transformers",
            "older",
            "<5.0.0",
        ),
        (
            "TypeError: Accelerator.__init__() got an unexpected keyword argument 'even_batches'",
            "accelerate",
            "older",
            "<1.0.0",
        ),
    ],
)
def test_a_message_alone_tells_the_releases(
    line: str, package: str, side: str, releases: str
) -> None:
    found = told(line)

    assert (found["package"], found["side"], found["releases"]) == (package, side, releases)


def test_nothing_is_said_of_an_unknown_name() -> None:
    assert told(missing("my_own_thing")) == {}
    assert told("ModuleNotFoundError: No module named 'my_package.part'") == {}
    assert told("AttributeError: 'MyTrainerState' object has no attribute 'foo'") == {}


def test_nothing_is_said_where_the_installed_release_has_it() -> None:
    assert told(missing("EncoderDecoderCache"), {"transformers": "4.48.0"}) == {}


def test_nothing_is_said_of_a_package_that_is_not_there() -> None:
    assert told("ModuleNotFoundError: No module named 'vllm'") == {}


def test_a_half_loaded_module_is_another_matter() -> None:
    line = (
        "cannot import name 'EncoderDecoderCache' from partially initialized module 'transformers'"
    )

    assert told(f"ImportError: {line} (most likely due to a circular import)") == {}


def test_the_package_that_asks_may_move_instead() -> None:
    found = told(missing("HybridCache"), {"peft": "0.17.1", "transformers": "5.0.0"}, "peft")

    assert found["releases"] == ">=4.44.0,<5.0.0"
    assert (found["asker"], found["asker_releases"]) == ("peft", ">=0.18.0")


def test_a_newer_asker_may_go_back() -> None:
    found = told(missing("EncoderDecoderCache"), {"peft": "0.17.1"}, "peft")

    assert (found["asker"], found["asker_releases"]) == ("peft", "<0.14.0")


def test_an_installed_package_that_wants_another_release_is_the_one_that_asks() -> None:
    line = "TypeError: Trainer.__init__() got an unexpected keyword argument 'processing_class'"

    found = told(line, {"trl": "0.14.0", "transformers": "4.45.2"})

    assert found["releases"] == ">=4.46.0"
    assert (found["asker"], found["asker_releases"]) == ("trl", "<0.12.0")


def test_the_range_of_the_framework_narrows_the_answer() -> None:
    found = told(missing("is_torch_tpu_available"), {"ms-swift": "3.3.1"})

    assert found["releases"] == ">=4.33,<4.51.0"


def test_where_a_name_went_is_told() -> None:
    found = told(missing("VideoInput", "transformers.image_utils"))

    assert found["import"] == "from transformers.video_utils import VideoInput"


def test_an_override_that_refuses_an_argument_is_older_than_its_caller() -> None:
    found = told(f"TypeError: MyTrainer.compute_loss() {PASSES}", raised_in="transformers")

    assert (found["package"], found["releases"]) == ("transformers", "<4.46.0")
    assert told(f"TypeError: compute_loss() {PASSES}", raised_in="transformers") == {
        **found,
        "name": "compute_loss.num_items_in_batch",
    }


def test_a_method_of_a_library_that_refuses_an_argument_is_too_old_itself() -> None:
    found = told(f"TypeError: Trainer.compute_loss() {PASSES}", raised_in="trl")

    assert (found["package"], found["releases"]) == ("transformers", ">=4.46.0")


def test_an_override_of_a_known_package_names_both_ways_out() -> None:
    found = told(f"TypeError: KTOTrainer.compute_loss() {PASSES}", raised_in="transformers")

    assert (found["package"], found["releases"]) == ("trl", ">=0.12.0")
    assert (found["asker"], found["asker_releases"]) == ("transformers", "<4.46.0")


def test_a_bare_method_without_a_frame_tells_nothing() -> None:
    assert told(f"TypeError: compute_loss() {PASSES}") == {}


def test_constructors_of_other_classes_tell_nothing_of_a_caller() -> None:
    line = "TypeError: Trainer.__init__() got an unexpected keyword argument 'processing_class'"

    found = told(line, raised_in="trl")

    # by its metadata: 0.12.0 is the first that wants transformers 4.46
    assert (found["asker"], found["asker_releases"]) == ("trl", "<0.12.0")
    assert told(line, framework="trl") == found


def test_one_argument_too_many_for_an_override() -> None:
    found = told("TypeError: MyTrainer.log() takes 2 positional arguments but 3 were given")

    assert (found["package"], found["releases"]) == ("transformers", "<4.47.0")


def test_one_argument_too_many_for_a_known_override_names_both_ways_out() -> None:
    line = "_get_train_sampler() takes 1 positional argument but 2 were given"

    found = told(f"TypeError: GRPOTrainer.{line}", raised_in="transformers")

    assert (found["package"], found["releases"]) == ("trl", ">=0.18.0")
    assert (found["asker"], found["asker_releases"]) == ("transformers", "<4.52.0")
    assert told(f"TypeError: {line}") == {}


def test_an_override_that_needs_more_is_newer_than_its_caller() -> None:
    line = "TypeError: MyTrainer.log() missing 1 required positional argument: 'start_time'"

    found = told(line, raised_in="transformers")

    assert (found["side"], found["releases"]) == ("newer", ">=4.47.0")


def test_torch_looks_attributes_up_for_others() -> None:
    line = "AttributeError: 'LlamaAttention' object has no attribute 'num_heads'"

    assert "asker" not in told(line, raised_in="torch")


@given(st.text(max_size=200))
def test_no_line_is_too_odd(text: str) -> None:
    read_lack(text)
    told(text)


def test_ranges_are_turned_round_and_joined() -> None:
    spans = read_spans(">=4.36.0,<4.49.0|>=5.13.0")

    assert outside(spans) == (Span("", "4.36.0"), Span("4.49.0", "5.13.0"))
    assert common(spans, (Span("4.40", "5.0"),)) == (Span("4.40", "4.49.0"),)
    assert nearest(spans, "5.0.0") == Span("5.13.0", "")
    assert nearest(spans, None) == spans[0]
    assert nearest((), None) is None
