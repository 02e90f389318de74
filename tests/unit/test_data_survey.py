"""A bounded sample of data: what it finds, what it leaves out, what it never shows."""

import json
from pathlib import Path

import pytest
from PIL import Image

from trainrx.api import estimate, lint
from trainrx.data.job import DataJob
from trainrx.data.sources import DataSource, data_sources
from trainrx.data.statistics import train_stats
from trainrx.data.survey import SampleBudget, Survey, survey
from trainrx.model.facts import Facts, Origin
from trainrx.model.hardware import TokenStats
from trainrx.model.job import Argument

HERE = Origin(source="launch.sh", line=1)
PRIVATE = "the patient is called Mallory"


def job_of(folder: Path, facts: Facts | None = None, **arguments: str) -> DataJob:
    """Make a launch of ms-swift with these arguments, its script in a folder."""
    given = {
        name: Argument(name=name, value=value, via="arg", how="read")
        for name, value in arguments.items()
    }
    return DataJob(
        framework="ms-swift",
        version="3.2.1",
        arguments=given,
        facts=facts or Facts(),
        origin=HERE,
        folder=folder,
    )


def row(question: str, answer: str = "yes") -> dict[str, object]:
    """Write a row of two messages."""
    return {
        "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ]
    }


def write(path: Path, *rows: object) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(item) + "\n" for item in rows), encoding="utf-8")
    return path


def only(job: DataJob, budget: SampleBudget | None = None) -> Survey:
    """Read the only source of a launch."""
    (source,) = data_sources(job)
    return survey(source, job, budget)


class TestSample:
    def test_what_is_beyond_the_budget_is_not_read_and_told(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", *(row(str(n)) for n in range(9)))

        part = only(job_of(tmp_path, dataset="a.jsonl"), SampleBudget(rows=4))
        whole = only(job_of(tmp_path, dataset="a.jsonl"), SampleBudget(rows=9))

        assert (part.rows, part.whole) == (4, False)
        assert (whole.rows, whole.whole) == (9, True)

    def test_time_ends_the_sample(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", *(row(str(n)) for n in range(9)))
        job, ticks = job_of(tmp_path, dataset="a.jsonl"), iter(range(0, 1000, 8))

        found = survey(data_sources(job)[0], job, clock=lambda: float(next(ticks)))

        assert 0 < found.rows < 9
        assert not found.whole

    def test_the_longest_row_is_named(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", row("a"), row("word " * 100), row("b"))

        found = only(job_of(tmp_path, dataset="a.jsonl"))

        assert found.longest is not None
        assert (found.longest.row, found.longest.line) == (2, 2)
        assert found.stats is not None
        assert found.stats.max == pytest.approx(150, rel=0.3)

    def test_columns_are_those_of_all_first_rows(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", {"query": "a"}, {"query": "b", "response": "c"})

        found = only(job_of(tmp_path, dataset="a.jsonl"))

        assert found.missing == ()


class TestSources:
    def test_a_name_of_a_hub_is_no_file(self, tmp_path: Path) -> None:
        assert data_sources(job_of(tmp_path, dataset="AI-ModelScope/alpaca-gpt4-data-zh#500")) == ()

    def test_samples_and_subsets_do_not_belong_to_the_path(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", row("a"))

        (source,) = data_sources(job_of(tmp_path, dataset="a.jsonl#500"))

        assert source.path == tmp_path / "a.jsonl"

    def test_a_program_of_ones_own_is_not_judged(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", {"frage": "a"})

        found = only(job_of(tmp_path, dataset="a.jsonl", custom_register_path="mine.py"))

        assert found.missing == ()

    def test_arrow_is_read_as_datasets_keeps_it(self, tmp_path: Path) -> None:
        import pyarrow as pa

        table = pa.Table.from_pylist([row("a"), row("b"), row("c")])
        with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as out:
            out.write_table(table)

        assert only(job_of(tmp_path, dataset="a.arrow")).rows == 3


class TestImages:
    def test_sizes_are_those_of_the_headers(self, tmp_path: Path) -> None:
        Image.new("RGB", (64, 32)).save(tmp_path / "small.png")
        Image.new("RGB", (300, 200)).save(tmp_path / "large.jpg")
        rows = ({**row("<image>"), "images": [name]} for name in ("small.png", "large.jpg"))
        write(tmp_path / "a.jsonl", *rows)

        found = only(job_of(tmp_path, dataset="a.jsonl"))

        assert found.largest_image == (300, 200)
        assert found.largest is not None
        assert found.largest.row == 2
        assert found.pixels == (64 * 32 + 300 * 200) / 2

    def test_an_image_that_is_gone_is_counted(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", {**row("<image>"), "images": ["gone.png"]})

        assert only(job_of(tmp_path, dataset="a.jsonl")).faults["image-gone"].count == 1


def test_no_finding_shows_the_text_of_a_row(tmp_path: Path) -> None:
    bad = {"messages": [{"role": "user", "content": PRIVATE}] * 2}
    write(tmp_path / "a.jsonl", row(PRIVATE), bad, {"messages": [bad["messages"][0]]})
    (tmp_path / "a.jsonl").write_text(
        (tmp_path / "a.jsonl").read_text() + f'{{"messages": "{PRIVATE}\n'
    )
    (tmp_path / "run.sh").write_text("swift sft --model m --dataset a.jsonl\n")

    found = lint(tmp_path / "run.sh", versions={"ms-swift": "3.2.1"}, data="")

    rules = {item.rule for item in found if item.rule.startswith("data-")}
    assert rules >= {"data-row-broken", "data-turns-refused", "data-without-answer"}
    assert not any("Mallory" in item.message for item in found)


def test_data_is_read_only_where_that_is_asked(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", {"frage": "a"})
    (tmp_path / "run.sh").write_text("swift sft --model m --dataset a.jsonl\n")

    found = lint(tmp_path / "run.sh", versions={"ms-swift": "3.2.1"})

    assert not any(item.rule.startswith("data-") for item in found)


def test_lengths_of_a_launch_are_those_of_its_data_and_the_longest_has_its_row(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a.jsonl", row("a"), row("word " * 400), row("b"))
    (tmp_path / "run.sh").write_text(
        "swift sft --model Qwen/Qwen2.5-0.5B --dataset a.jsonl --max_length 8192\n"
    )

    with_data = estimate(tmp_path / "run.sh", versions={"ms-swift": "3.2.1"}, data="")
    without = estimate(tmp_path / "run.sh", versions={"ms-swift": "3.2.1"})

    said = {item.id: dict(item.values) for item in with_data.assumptions}
    assert said["length-row"]["row"] == "2"
    assert with_data.length is not None
    assert without.length is not None
    assert with_data.length.how == "data"
    assert with_data.length.high < without.length.high / 10


def test_statistics_of_several_sources_are_those_of_all_samples() -> None:
    one = TokenStats(count=30, mean=100.0, std=0.0, max=100.0, images=1.0, source="a")
    other = TokenStats(count=10, mean=500.0, std=0.0, max=500.0, images=0.0, source="b")
    read = [
        Survey(DataSource(name=item.source, path=None, split="train", at=HERE), stats=item)
        for item in (one, other)
    ]

    found = train_stats(read)

    assert found is not None
    assert (found.count, found.mean, found.max, found.images) == (40, 200.0, 500.0, 0.75)
    assert found.std == pytest.approx(3**0.5 * 100)


class TestDepth:
    DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000

    @pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl"])
    def test_rows_of_any_depth_are_judged(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(f"{self.DEEP}\n", encoding="utf-8")

        seen = only(job_of(tmp_path, dataset=name))

        assert seen.rows + sum(held.count for held in seen.faults.values()) >= 1

    def test_a_list_of_data_sets_of_any_depth_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "dataset_info.json").write_text(self.DEEP, encoding="utf-8")
        (tmp_path / "launch.sh").write_text(
            "llamafactory-cli train --stage sft --model_name_or_path Qwen/Qwen2.5-7B --dataset a "
            "--dataset_dir . --template qwen --output_dir o\n"
        )

        found = lint(tmp_path / "launch.sh", data="")

        assert all(item.rule != "data-set-undefined" for item in found)
