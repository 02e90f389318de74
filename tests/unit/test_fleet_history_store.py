import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from fleet_answers import DAY, MONDAY, failed, healthy

from trainrx.fleet.fingerprint import fingerprint
from trainrx.fleet.history import schema
from trainrx.fleet.history.store import Store
from trainrx.fleet.record import JobAnswer
from trainrx.model.errors import UsageError
from trainrx.model.result import SolvedBy

NOW = MONDAY + 4 * DAY


def _open(folder: Path, now: float = NOW) -> Store:
    return Store.open(folder / "history.db", clock=lambda: now)


def _keys(store: Store) -> list[str]:
    return [answer.key for answer in store.answers()]


def test_what_was_answered_is_there_after_it_is_opened_again(tmp_path: Path) -> None:
    answer = failed("a", nodes=("n1", "n2"), launch_lines=("lr=1e-4",))
    with _open(tmp_path) as store:
        store.add([answer])

    with _open(tmp_path) as store:
        (found,) = store.answers()

    assert found == msgspec.structs.replace(answer, fingerprint=fingerprint(answer))
    assert (tmp_path / "history.db").stat().st_mode & 0o777 == 0o600


def test_a_job_is_done_again_only_when_inputs_or_knowledge_are_others(tmp_path: Path) -> None:
    with _open(tmp_path) as store:
        store.add([failed("a")])

        done = [
            store.has(*asked)
            for asked in [
                ("a", "inputs of a", "1"),
                ("a", "more was logged", "1"),
                ("a", "inputs of a", "2"),
                ("b", "inputs of a", "1"),
            ]
        ]

    assert done == [True, False, False, False]


def test_a_job_counts_once_by_its_newest_answer(tmp_path: Path) -> None:
    with _open(tmp_path) as store:
        store.add([failed("a"), failed("b"), failed("a")])
        store.add([failed("a", "port-taken", knowledge_serial="2")])

        causes = {answer.key: answer.causes[0][0] for answer in store.answers()}
        seen = store.seen(fingerprint(failed("z")))

    assert causes == {"a": "port-taken", "b": "pixels-not-capped"}
    assert seen is not None
    assert seen.count == 1


def test_a_batch_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def batch() -> Iterator[JobAnswer]:
        yield failed("a")
        raise KeyboardInterrupt

    with _open(tmp_path) as store:
        with pytest.raises(KeyboardInterrupt):
            store.add(batch())

        assert _keys(store) == []
        store.add([failed("c")])
        assert _keys(store) == ["c"]


def test_a_job_in_a_folder_whose_name_is_no_text_is_remembered(tmp_path: Path) -> None:
    name = os.fsdecode(b"/runs/\xff")

    with _open(tmp_path) as store:
        store.add([failed(name, inputs_digest="d")])

        assert store.has(name, "d", "1")
        assert _keys(store) == ["/runs/?"]


def test_seen_says_how_often_since_when_and_what_helped(tmp_path: Path) -> None:
    times = [MONDAY + number * 3600 for number in range(14)]
    with _open(tmp_path) as store:
        store.add(failed(f"job-{n}", ended=at) for n, at in enumerate(times))
        store.add([failed("other", "port-taken"), healthy("well")])
        for number in range(11):
            store.confirm(f"job-{number}", worked=True)
        store.confirm("job-11", worked=False)
        store.confirm("job-12", worked=True, by=(("freeze_vit", "true"),))

        seen = store.seen(fingerprint(failed("new")))
        besides = store.seen(fingerprint(failed("new")), besides="job-0")
        never = store.seen("1:0000000000000000") or store.seen("")

    assert seen is not None
    assert (seen.count, seen.first, seen.last, seen.now) == (14, times[0], times[-1], NOW)
    assert seen.solved == (
        SolvedBy(param="MAX_PIXELS", value="602112", worked=11, failed=1),
        SolvedBy(param="freeze_vit", value="true", worked=1),
    )
    assert besides is not None
    assert (besides.count, besides.solved[0].worked) == (13, 10)
    assert never is None


def test_who_corrects_what_they_said_is_counted_once(tmp_path: Path) -> None:
    with _open(tmp_path) as store:
        store.add([failed("a")])
        store.confirm("a", worked=True)
        store.confirm("a", worked=False)

        (told,) = store.outcomes()

    assert (told.param, told.worked, told.told) == ("MAX_PIXELS", False, NOW)


@pytest.mark.parametrize(
    ("asked", "message"),
    [("train", "several jobs are called so: /runs/1, /runs/2$"), ("x", "has no such job")],
)
def test_a_job_somebody_means_must_be_unmistakable(
    tmp_path: Path, asked: str, message: str
) -> None:
    with _open(tmp_path) as store:
        store.add([failed("/runs/1", name="train"), failed("/runs/2", name="train")])

        assert store.confirm("runs/2", worked=True) == (("MAX_PIXELS", "602112"),)
        with pytest.raises(UsageError, match=message):
            store.confirm(asked, worked=True)


def test_a_group_keeps_the_name_it_had_before_there_was_another_way_to_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as store:
        store.add([failed("old")])
        store.confirm("old", worked=True)
        ways = {1: _by_cause_and_stage, 2: _by_cause}
        monkeypatch.setattr(
            "trainrx.fleet.history.store.fingerprints",
            lambda failure: tuple(f"{n}:{way(failure)}" for n, way in ways.items()),
        )
        store._database.execute(
            "UPDATE answers SET fingerprint = ?", ("1:pixels-not-capped/train",)
        )
        store.add([failed("new"), failed("others", "port-taken")])

        groups = {answer.key: answer.fingerprint for answer in store.answers()}

    assert groups["new"] == groups["old"] == "1:pixels-not-capped/train"
    assert groups["others"] == "2:port-taken"


def _by_cause_and_stage(failure: tuple[str, ...]) -> str:
    return f"{failure[0]}/{failure[2]}"


def _by_cause(failure: tuple[str, ...]) -> str:
    return failure[0]


def _set(pragma: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        database = sqlite3.connect(path)
        database.execute(f"PRAGMA {pragma}")
        database.commit()
        database.close()

    return change


def _other_database(path: Path) -> None:
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE answers (id INTEGER)")
    database.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("user_version = 99"), "written by a newer trainrx .version 99"),
        (_other_database, "is a database, but no history"),
        (lambda path: path.write_bytes(b"no database" * 100), "cannot be opened"),
    ],
)
def test_a_file_of_a_newer_program_or_of_another_kind_is_left_alone(
    tmp_path: Path, change: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "history.db"
    Store.open(path).close()
    change(path)
    before = path.read_bytes()

    with pytest.raises(UsageError, match=message):
        Store.open(path)

    assert path.read_bytes() == before


def test_a_file_is_brought_to_the_newest_version_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as store:
        store.add([failed("a")])
    later = (*schema.STEPS, ("ALTER TABLE answers ADD COLUMN cluster TEXT NOT NULL DEFAULT ''",))
    monkeypatch.setattr(schema, "STEPS", later)

    with _open(tmp_path) as store:
        kept = _keys(store)
        version = store._database.execute("PRAGMA user_version").fetchone()[0]
        added = store._database.execute("SELECT cluster FROM answers").fetchall()

    assert (kept, version, added) == (["a"], len(later), [("",)])


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as store:
        store.add([failed("a")])
    broken = ("ALTER TABLE answers ADD COLUMN cluster TEXT", "CREATE NONSENSE")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, broken))
        with pytest.raises(UsageError, match="cannot be opened"):
            _open(tmp_path)

    with _open(tmp_path) as store:
        assert _keys(store) == ["a"]
        columns = store._database.execute("PRAGMA table_info(answers)").fetchall()

    assert "cluster" not in {column[1] for column in columns}


def _write(path: Path, name: str, batches: int) -> None:
    with Store.open(path) as store:
        for batch in range(batches):
            store.add(failed(f"{name}-{batch}-{n}") for n in range(10))


def test_several_processes_write_one_history_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(path, name, 20)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    with Store.open(path) as store:
        keys = _keys(store)

    assert [writer.exitcode for writer in writers] == [0] * 4
    assert len(keys) == len(set(keys)) == 800


@pytest.mark.parametrize("pause", [0.02, 0.07])
def test_a_writer_that_is_killed_leaves_whole_batches_and_a_whole_file(
    tmp_path: Path, pause: float
) -> None:
    path = tmp_path / "history.db"
    Store.open(path).close()
    context = multiprocessing.get_context("fork")
    writer = context.Process(target=_write, args=(path, "a", 10**6))
    writer.start()
    deadline = time.monotonic() + 5
    with Store.open(path) as watching:
        while not _keys(watching) and time.monotonic() < deadline:
            time.sleep(0.001)
    time.sleep(pause)
    os.kill(writer.pid or 0, signal.SIGKILL)
    writer.join()

    with Store.open(path) as store:
        whole = store._database.execute("PRAGMA integrity_check").fetchall()
        kept = len(_keys(store))
        store.add([failed("after")])

        assert whole == [("ok",)]
        assert kept > 0
        assert kept % 10 == 0
        assert len(_keys(store)) == kept + 1
