from __future__ import annotations

from trainrx.facts.compare import changed_facts
from trainrx.model.facts import Facts, Scalar, fact


def launch(framework: str = "ms-swift", **defaults: Scalar) -> Facts:
    return Facts(
        [
            fact("launch.framework", framework),
            fact("launch.given", value=True),
            fact("launch.env_complete", value=True),
            *(fact(name.replace("__", "."), v, how="default") for name, v in defaults.items()),
        ]
    )


def differences(now: Facts, good: Facts, *params: str) -> dict[str, Scalar | None]:
    return {item.kind: item.value for item in changed_facts(now, good, params)}


def test_a_default_that_differs_between_releases_is_told_apart() -> None:
    now, good = launch(vllm__share=0.9), launch(vllm__share=0.5)

    assert differences(now, good, "vllm.share") == {
        "moved.vllm.share": "raised",
        "changed.vllm.share": "raised",
    }


def test_a_limit_a_release_no_longer_sets_is_dropped() -> None:
    now, good = launch(), launch(train__max_length=2048)

    (moved, _) = changed_facts(now, good, ["train.max_length"])

    assert (moved.kind, moved.value) == ("moved.train.max_length", "dropped")
    assert moved.origins[0].text == "train.max_length: 2048 -> unset"


def test_what_is_no_limit_is_not_lifted() -> None:
    assert differences(launch(), launch(tuner__rank=8), "tuner.rank") == {}


def test_a_limit_that_may_be_set_out_of_sight_is_not_lifted() -> None:
    now = Facts([fact("launch.framework", "ms-swift"), fact("launch.given", value=True)])

    assert differences(now, launch(train__max_length=2048), "train.max_length") == {}


def test_defaults_of_different_frameworks_are_no_move() -> None:
    now, good = launch("trl", train__max_length=1024), launch(train__max_length=2048)

    assert "moved.train.max_length" not in differences(now, good, "train.max_length")


def test_what_somebody_set_is_no_move() -> None:
    good = launch()
    good.add(fact("freeze.vision", value=False))
    now = launch(freeze__vision=True)

    assert differences(now, good, "freeze.vision") == {"changed.freeze.vision": "dropped"}
