from __future__ import annotations

import os
from pathlib import Path

import pytest
from knowledge_folders import CAUSE, SYMPTOM

from trainrx.entries.patterns import regex_problems
from trainrx.knowledge.load import find_entry, load, read_cached, read_entry, read_folders
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.errors import KnowledgeError
from trainrx.model.knowledge import Cause, LinePattern, Symptom


def kb_with(folder: Path, text: str, name: str = "symptoms/hang/my-error.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("off", "off"),
        ("no", "no"),
        ("12:30:45", "12:30:45"),
        ("2026-11-21", "2026-11-21"),
        ("0.7.3", "0.7.3"),
        ("010", "010"),
        ("true", True),
        ("3", 3),
        ("3.0", 3.0),
    ],
)
def test_scalars_are_read_as_yaml_1_2(tmp_path: Path, text: str, value: object) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"x: {text}\n", encoding="utf-8")

    assert read_yaml(path) == {"x": value}


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb: 2\na: 3\n", encoding="utf-8")

    with pytest.raises(KnowledgeError, match=r"a\.yaml: line 3: .*stands twice"):
        read_yaml(path)


def test_an_unknown_key_names_file_and_key_path(tmp_path: Path) -> None:
    folder = kb_with(tmp_path, SYMPTOM.replace("needle:", "neddle:"))

    with pytest.raises(KnowledgeError) as caught:
        read_folders([folder], [])

    assert caught.value.path.endswith("symptoms/hang/my-error.yaml")
    assert caught.value.key.startswith("patterns[0]")


def test_the_file_name_is_the_id(tmp_path: Path) -> None:
    folder = kb_with(tmp_path, SYMPTOM, "symptoms/hang/other.yaml")

    with pytest.raises(KnowledgeError, match="the file name says 'other'"):
        read_entry(folder / "symptoms/hang/other.yaml", Symptom)


def test_a_folder_of_ones_own_adds_and_replaces(tmp_path: Path) -> None:
    knowledge = load([kb_with(tmp_path, SYMPTOM)])

    assert "my-error" in knowledge.symptoms
    assert len(knowledge.symptoms) == len(load().symptoms) + 1
    assert knowledge.digest != load().digest


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("{fact: oom.phase}", "exactly one test"),
        ("{fact: oom.phase, eq: 1}", "used with two types"),
    ],
)
def test_a_malformed_condition_of_ones_own_is_refused(tmp_path: Path, when: str, said: str) -> None:
    text = CAUSE.replace("{fact: oom.phase, eq: train}", when)
    folder = kb_with(tmp_path, text, "causes/hang/my-state.yaml")

    with pytest.raises(KnowledgeError, match=said) as caught:
        load(kb=[folder])

    assert caught.value.path == "my-state/for/died-in-training"


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 9_000])
def test_an_entry_that_nests_without_end_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(KnowledgeError, match=r"my-error\.yaml: .*(?:nest|deep)"):
        load([kb_with(tmp_path, text)])


def test_a_pipe_in_place_of_an_entry_is_not_waited_for(tmp_path: Path) -> None:
    folder = kb_with(tmp_path, SYMPTOM)
    os.mkfifo(folder / "symptoms" / "hang" / "other.yaml")

    with pytest.raises(KnowledgeError, match=r"other\.yaml: cannot be read"):
        load([folder])


@pytest.mark.parametrize(
    ("regex", "said"),
    [
        ("x(?:a+)+$", "nested unbounded"),
        ("a.*b", "takes"),
        ("(a", "is not a regex"),
        ("(a)\\1", "linear"),
    ],
)
def test_an_expression_of_ones_own_that_may_never_end_is_refused(
    tmp_path: Path, regex: str, said: str
) -> None:
    text = SYMPTOM.replace("regex: 'went wrong: (?P<code>\\d+)'", f"regex: '{regex}'")

    with pytest.raises(KnowledgeError, match=f"my-error: patterns\\[0\\].regex: .*{said}"):
        load([kb_with(tmp_path, text)])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="is not a folder"):
        load([tmp_path / "nowhere"])


def test_what_was_parsed_is_kept_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kb, rules = kb_with(tmp_path / "kb", SYMPTOM), tmp_path / "rules"
    rules.mkdir()

    first, again = read_cached(kb, rules), read_cached(kb, rules)
    kb_with(kb, SYMPTOM.replace("My error", "Another title"))
    changed = read_cached(kb, rules)

    assert first == again
    assert first.symptoms["my-error"].title.en == "My error"
    assert changed.symptoms["my-error"].title.en == "Another title"
    assert len(list((tmp_path / "cache" / "trainrx").glob("knowledge-*.msgpack"))) == 1


def test_a_damaged_cache_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kb, rules = kb_with(tmp_path / "kb", SYMPTOM), tmp_path / "rules"
    rules.mkdir()
    read_cached(kb, rules)
    for cache in (tmp_path / "cache" / "trainrx").iterdir():
        cache.write_bytes(b"\xff\x00")

    assert "my-error" in read_cached(kb, rules).symptoms


def test_an_entry_is_found_by_id_and_a_miss_names_neighbours() -> None:
    entry, _ = find_entry("cuda-oom")
    nothing, near = find_entry("cuda-oon")

    assert isinstance(entry, Symptom)
    assert nothing is None
    assert "cuda-oom" in near


@pytest.mark.parametrize(
    ("regex", "said"),
    [
        (r".*went", "unbounded"),
        (r"\S+ is not", "unbounded"),
        (r"went (a+)+b", "nested"),
        (r"went (?=x)", "lookaround"),
        (r"(w)ent \1", "back reference"),
        (r"(went", "not a regex"),
        (r"(?:went)?", "empty line"),
    ],
)
def test_regexes_that_are_slow_or_beyond_the_engine_are_refused(regex: str, said: str) -> None:
    assert any(said in p for p in regex_problems(LinePattern(needle="went wrong", regex=regex)))


def test_a_plain_regex_passes() -> None:
    assert regex_problems(LinePattern(needle="went wrong", regex=r"went wrong: (\d{1,9})\b")) == []


def test_every_cause_cites_a_source_and_names_a_fix() -> None:
    for cause in load().causes.values():
        assert isinstance(cause, Cause)
        assert cause.references, cause.id
        assert cause.fixes, cause.id


def test_what_launches_need_is_read_alone() -> None:
    whole = load()
    part = load(launches=True)

    assert part.params == whole.params
    assert part.facts == whole.facts
    assert (part.gpus, part.models, part.digest) == (whole.gpus, whole.models, whole.digest)
    assert (part.symptoms, part.causes, part.rules) == ({}, {}, {})
