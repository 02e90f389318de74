"""A failure is told which later change of the program speaks of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairs.history import Commit
from repairs.index import changes_text, words_text
from trainrx import diagnose
from trainrx.facts.releases import LEAST, repair_facts
from trainrx.knowledge.repairs import RepairTable, index_text, names_in, open_repairs, words_in

SAVING = "fix deadlock when uneven ranks gather optimizer shards while saving"
LOADING = "fix wrong dtype of quantized embeddings after loading"
ASKED = "the optimizer shards deadlock while saving, the ranks are uneven and gather for ever"
RELEASES = {"#1": "1.1.0", "#2": "1.2.0"}


def change(number: int, subject: str, name: str) -> Commit:
    files = {"it/run.py": (name,)}
    return Commit(f"{number:040}", "2026-01-02", number, subject, "", files, (f"{name} = 1",))


def table(*commits: Commit, releases: dict[str, str] | None = None) -> RepairTable:
    others = [change(i, f"fix thing{i} of part{i}", f"name_{i}") for i in range(10, 60)]
    held = [*commits, *others]
    text = changes_text(
        "it", "https://example.org/it", held, RELEASES if releases is None else releases
    )
    return RepairTable("it.jsonl", text.encode(), index_text(words_text(held)).encode())


BOTH = table(change(1, SAVING, "save_shards"), change(2, LOADING, "load_all"))


def told(text: str, within: RepairTable = BOTH, present: str = "") -> dict[str, object]:
    asked = dict.fromkeys((*words_in(text), *names_in(text)), 1.0)
    facts = repair_facts(asked, within, {"it": present} if present else {})
    return {item.kind.removeprefix("repair."): item.value for item in facts}


def test_the_change_that_speaks_of_it_is_told() -> None:
    found = told(ASKED)

    assert found["releases"] == ">=1.1.0"
    assert found["package"] == "it"
    assert found["released"] is True
    assert LEAST <= float(str(found["share"])) <= 1.2


def test_where_it_stands_is_cited() -> None:
    asked = dict.fromkeys(words_in(ASKED), 1.0)

    origin = next(iter(repair_facts(asked, BOTH, {}))).origins[0]

    assert origin.source == "https://example.org/it/pull/1"
    assert origin.text.startswith("it 1.1.0: it/run.py, save_shards (")


@pytest.mark.parametrize("text", ["", "it fails", "the loss is nan after a while", "保存时卡住"])
def test_nothing_is_told_where_little_is_shared(text: str) -> None:
    assert told(text) == {"share": 0.0}


@pytest.mark.parametrize(("present", "kept"), [("1.0.9", True), ("1.1.0", False), ("2.0.0", False)])
def test_what_the_installed_release_has_is_passed_over(present: str, kept: bool) -> None:
    assert ("releases" in told(ASKED, present=present)) is kept


@pytest.mark.parametrize(
    ("present", "function", "traced"),
    [
        ("1.0.9", "save_shards", True),
        ("1.0.9", "load_all", None),
        ("1.x", "save_shards", None),
        ("", "save_shards", None),
        ("1.1.0", "save_shards", None),
    ],
)
def test_a_change_of_a_function_in_the_traceback_is_told_where_the_release_lacks_it(
    present: str, function: str, traced: bool | None
) -> None:
    passed = names_in(function)
    asked = dict.fromkeys((*words_in(ASKED), *passed), 1.0)
    versions = {"it": present} if present else {}

    found = {f.kind: f.value for f in repair_facts(asked, BOTH, versions, passed)}

    assert found.get("repair.traced") is traced


@pytest.mark.parametrize("present", ["1.1", "1.x", "main", "not a version"])
def test_a_version_that_may_be_older_rules_nothing_out(present: str) -> None:
    assert told(ASKED, present=present)["releases"] == ">=1.1.0"


def test_an_unreleased_change_names_no_release() -> None:
    found = told(ASKED, table(change(1, SAVING, "save_shards"), releases={}))

    assert found["released"] is False
    assert "releases" not in found


def test_a_development_version_lacks_what_the_release_will_have() -> None:
    assert told(ASKED, present="1.1.0.dev0")["releases"] == ">=1.1.0"


@given(st.text(max_size=400), st.text(max_size=12))
def test_any_text_is_borne(text: str, present: str) -> None:
    found = told(text, present=present)

    assert set(found) <= {"share", "package", "releases", "released"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DeepSpeed and vLLM", {"deepspeed", "vllm"}),
        ("Qwen3-VL", {"qwen3", "vl", "=qwen3vl"}),
        ("Qwen2RMSNorm of GRPOTrainer", {"grpo", "norm"}),
        ("gathering ranks", {"gather", "rank"}),
        ("speed", {"speed"}),
    ],
)
def test_words_are_cut_as_people_write_them(text: str, words: set[str]) -> None:
    assert words <= words_in(text)


def test_the_answer_names_the_pull_request_and_the_release() -> None:
    said = diagnose(
        note="GRPO hangs with NCCL timeout in ZeRO-3 with dynamic batch sizes",
        framework="ms-swift 3.10.0",
    )

    cause = next(item for item in said.causes if item.id == "defect-of-this-release")
    cited = [at.source for reason in cause.reasons if reason.holds for at in reason.evidence]
    changes = [change.spelled for fix in cause.fixes for change in fix.changes]
    assert "https://github.com/modelscope/ms-swift/pull/8102" in cited
    assert changes[0].startswith('pip install "ms-swift>=4.0.0"')


def test_a_release_that_has_the_change_is_not_told_of_it() -> None:
    said = diagnose(
        note="GRPO hangs with NCCL timeout in ZeRO-3 with dynamic batch sizes",
        framework="ms-swift 4.0.0",
    )

    cited = {
        at.source
        for cause in said.causes
        for reason in cause.reasons
        if reason.holds
        for at in reason.evidence
    }
    assert "https://github.com/modelscope/ms-swift/pull/8102" not in cited


@pytest.mark.parametrize(
    ("note", "family"),
    [
        ("out of memory in the post-processing after the generation", "oom"),
        ("it hangs in the generation, then NCCL times out", "hang"),
        ("crashes with an exception in the generation", "crash_other"),
    ],
)
def test_it_shows_as_the_failure_that_was_seen(note: str, family: str) -> None:
    said = diagnose(note=f"{note}; SGLang rollout, mem_fraction_static", framework="verl")

    assert said.facts["failure.family"] == family
    assert {c.family for c in said.causes if c.id == "defect-of-this-release"} == {family}


def test_a_job_that_did_not_fail_is_compared_with_nothing() -> None:
    said = diagnose(note="loss goes down, all is well", framework="ms-swift 3.10.0")

    assert not any(kind.startswith("repair.") for kind in said.facts)


def test_what_is_shipped_can_be_read_to_the_last_line() -> None:
    from repairs.packages import PARTS

    for package in PARTS:
        held = open_repairs(package)
        assert held is not None, package
        last = held.head.count - 1
        dates = [held.repair(place).date for place in range(held.head.count)]
        assert held.head.until == max(dates)
        assert held.repair(last).commit
        assert (max((place for place, _ in held.find("nan")), default=0)) <= last
