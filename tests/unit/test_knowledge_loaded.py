from __future__ import annotations

import threading
from pathlib import Path

import pytest
from knowledge_folders import SYMPTOM

from trainrx.knowledge import loaded as module
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import KnowledgeCache, LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.model.errors import KnowledgeError


def pack(folder: Path, title: str = "My error") -> str:
    """Write a folder of further knowledge with one symptom."""
    place = folder / "symptoms" / "hang" / "my-error.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(SYMPTOM.replace("My error", title), encoding="utf-8")
    return str(folder)


def title(known: LoadedKnowledge) -> str:
    return known.whole.symptoms["my-error"].title.en


def count(knowledge: Knowledge, times: int = 1) -> list[int]:
    """Give something of the knowledge that shows whether it is the same one."""
    return [len(knowledge.symptoms) * times]


def test_what_is_made_of_knowledge_is_made_once_whoever_asks() -> None:
    known = LoadedKnowledge()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(known.made(count))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(item) for item in found}) == 1
    assert known.made(count, 2) == [2 * known.made(count)[0]]


def test_the_part_about_launches_is_the_whole_where_that_is_there() -> None:
    fresh, whole = LoadedKnowledge(), LoadedKnowledge.of(load())

    assert fresh.launches.gpus == whole.launches.gpus
    assert whole.launches is whole.whole


def test_folders_do_not_mix(tmp_path: Path) -> None:
    cache = KnowledgeCache()
    first, second = pack(tmp_path / "a", "First"), pack(tmp_path / "b", "Second")

    assert [title(cache.of([one])) for one in (first, second, first)] == [
        "First",
        "Second",
        "First",
    ]
    assert "my-error" not in cache.of().whole.symptoms
    assert cache.of([first]) is cache.of([first])
    assert cache.of([first, second]) is not cache.of([first], [second])


def test_a_folder_that_changed_is_read_again(tmp_path: Path) -> None:
    cache = KnowledgeCache()
    before = title(cache.of([pack(tmp_path)]))

    after = title(cache.of([pack(tmp_path, "Another title")]))

    assert (before, after) == ("My error", "Another title")


def test_a_name_means_another_folder_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = KnowledgeCache()
    found = []
    for name in ("one", "two"):
        pack(tmp_path / name / "kb", name)
        monkeypatch.chdir(tmp_path / name)
        found.append(title(cache.of(["kb"])))

    assert found == ["one", "two"]


def test_a_folder_that_is_refused_is_refused_each_time_and_read_when_mended(tmp_path: Path) -> None:
    cache = KnowledgeCache()
    place = Path(pack(tmp_path)) / "symptoms" / "hang" / "my-error.yaml"
    place.write_text("id: [", encoding="utf-8")

    for _ in range(2):
        with pytest.raises(KnowledgeError, match=r"my-error\.yaml"):
            _ = cache.of([str(tmp_path)]).whole

    assert title(cache.of([pack(tmp_path)])) == "My error"


def test_only_the_last_few_are_kept(tmp_path: Path) -> None:
    cache = KnowledgeCache()
    folders = [pack(tmp_path / str(n)) for n in range(module.MOST + 1)]
    first = cache.of([folders[0]])

    for folder in folders[1:]:
        cache.of([folder])

    assert cache.of([folders[-1]]) is cache.of([folders[-1]])
    assert cache.of([folders[0]]) is not first
