"""The kind of failure a note tells of by its words: asked last, marked, silent where unsure."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from trainrx.evidence.detector import Detector
from trainrx.knowledge.load import load
from trainrx.knowledge.wording import read_wording, told_by_words
from trainrx.model.errors import KnowledgeError
from trainrx.model.fitted import Wording
from trainrx.model.job import Input

NEUTRAL = Path(__file__).parents[1] / "cases" / "notes" / "neutral.txt"
SMALL = Wording(
    faces={"hang": "seen-hang", "oom": "seen-oom"},
    constants=(0.0, 0.0, 0.0),
    words={"stair": (2.0, -1.0, 0.0), "apple": (0.5, 0.0, 0.0), "pear": (0.0, 0.0, 3.0)},
    least=0.5,
    notes=3,
)


@cache
def detector() -> Detector:
    return Detector(tuple(load().symptoms.values()))


def seen(text: str, log: str = "") -> dict[str, str]:
    inputs = [Input(kind="note", name="note", text=text)]
    inputs += [Input(kind="log", name="train.log", text=log)] if log else []
    found = detector().detect(inputs)
    return {item.symptom: item.hits[0].text for item in found.symptoms}


def test_words_add_up_and_the_telling_ones_are_named() -> None:
    told = told_by_words("Apple on the stair, apple, stairs", SMALL)
    assert told is None  # two known words say too little

    wording = Wording(
        faces=SMALL.faces,
        constants=SMALL.constants,
        words={**SMALL.words, "tree": (0.1, 0.0, 0.0)},
        least=0.5,
        notes=3,
    )
    told = told_by_words("an apple tree beside the stair", wording)
    assert told is not None
    assert told.family == "hang"
    assert told.words == ("stair", "apple", "tree")
    # the odds are 2.6, -1 and 0 nats
    assert told.probability == pytest.approx(0.9078, abs=0.0001)


def test_a_note_of_no_failure_and_an_unsure_one_are_left_alone() -> None:
    assert told_by_words("pear pear apple stair pear", SMALL) is None
    assert told_by_words("", SMALL) is None


def test_a_note_without_a_failure_is_none() -> None:
    symptoms = load().symptoms
    texts = NEUTRAL.read_text(encoding="utf-8").splitlines()

    told = [(text, name) for text in texts for name in seen(text) if symptoms[name].is_failure]

    assert len(texts) > 150
    assert told == []


def test_what_no_phrase_says_is_told_by_words_and_marked() -> None:
    found = seen("transformer_engine won't build, so installing it for Megatron-SWIFT goes nowhere")
    symptoms = load().symptoms
    assert [name for name in found if symptoms[name].is_failure] == ["seen-version-trouble"]
    assert found["seen-version-trouble"].startswith("[~ ")


def test_a_phrase_goes_before_words() -> None:
    found = seen("training hangs at step 3")
    assert not any(text.startswith("[~") for text in found.values())


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("the OOM is gone, but now the loss is nan", "nan_loss"),
        ("solved the OOM, now it hangs at the first step", "hang"),
        ("no OOM any more but training is extremely slow", "slow"),
        ("I don't know why it hangs", "hang"),
        ("Not OOM, but a hang", "hang"),
        ("OOM 解决了，但是 loss 变成 nan", "nan_loss"),
        ("不 OOM 了，但是卡在第一步不动", "hang"),
    ],
)
def test_what_is_there_counts_beside_what_is_over(text: str, family: str) -> None:
    symptoms = load().symptoms
    families = {symptoms[name].family for name in seen(text) if symptoms[name].is_failure}
    assert family in families
    assert "oom" not in families


def test_a_printed_message_that_is_denied_in_a_note_is_none() -> None:
    assert "cuda-oom" in seen("CUDA out of memory. Tried to allocate 2.00 GiB")
    assert "cuda-oom" not in seen("there is no CUDA out of memory. Tried to allocate 2 GiB before")


def test_words_do_not_tell_what_a_note_denies() -> None:
    assert not seen("换了 bf16 之后 loss 不再是 nan")
    assert not seen("爆显存的问题已经解决了")


def test_a_failure_in_the_log_goes_before_words() -> None:
    note = "transformer_engine won't build, so installing it for Megatron-SWIFT goes nowhere"
    assert any(text.startswith("[~") for text in seen(note).values())
    log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    assert not any(text.startswith("[~") for text in seen(note, log).values())


def test_the_shipped_model_fits_the_knowledge() -> None:
    wording = read_wording()
    assert wording is not None
    symptoms = load().symptoms
    for family, face in wording.faces.items():
        assert symptoms[face].family == family
        assert symptoms[face].role == "observation"
    assert wording.notes > 1000


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"faces":{"hang":"seen-hang"},"constants":[0],"words":{},"least":0.5,"notes":1}',
        '{"faces":{"hang":"seen-hang"},"constants":[0,0],"words":{"a":[1]},"least":0.5,"notes":1}',
    ],
)
def test_a_malformed_model_is_refused_by_name(text: str, tmp_path: Path) -> None:
    (tmp_path / "wording.json").write_text(text)
    with pytest.raises(KnowledgeError, match=r"wording\.json"):
        read_wording(tmp_path)
