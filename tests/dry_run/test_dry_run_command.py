"""`diagnose dry-run` from the command line to the exit status, with stand-ins of the libraries."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from trainrx.api import lint
from trainrx.cli import main
from trainrx.dry_run.run import DryOutcome
from trainrx.render.formats.json import FOLDER

HERE = Path(__file__).parent
QUESTIONS = [f"What is the rule number {n} of the house?" for n in range(1, 9)]
ANSWERS = [f"Rule number {n} says that doors are shut at night." for n in range(1, 9)]


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Lay a job out: its program, a script that starts it, eight good rows."""
    shutil.copy(HERE / "frameworks" / "train.py", tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(bytes(64))
    monkeypatch.setenv("PYTHONPATH", str(HERE / "frameworks"))
    monkeypatch.chdir(tmp_path)
    write(tmp_path, [dict(zip(("question", "answer"), pair, strict=True)) for pair in PAIRS])
    launch(tmp_path)
    return tmp_path


PAIRS = list(zip(QUESTIONS, ANSWERS, strict=True))


def write(folder, rows):
    lines = (json.dumps(row) + "\n" for row in rows)
    (folder / "data.jsonl").write_text("".join(lines), encoding="utf-8")


def rows_of(folder):
    return [json.loads(line) for line in (folder / "data.jsonl").read_text("utf-8").splitlines()]


def launch(folder, more=""):
    words = "torchrun --nproc_per_node 4 train.py --deepspeed ds.json --output_dir out"
    (folder / "launch.sh").write_text(f"{words} {more}\n", encoding="utf-8")


def answered(capsys, *argv):
    status = main(["dry-run", "launch.sh", "--python", sys.executable, "--format", "json", *argv])
    out, err = capsys.readouterr()
    assert status in (0, 1), err
    found = json.loads(out)
    schema = json.loads((FOLDER / "dry_run.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(found)
    return status, found


def test_a_good_job_runs_and_leaves_nothing_behind(job, capsys):
    status, found = answered(capsys)
    assert (status, found["verdict"], found["reached"]) == (0, "runs", "steps"), found["log"]
    assert (found["rows"], found["taken"], found["losses"]) == (8, 8, [])
    used = {item["column"]: (item["read"], item["learnt"]) for item in found["uses"]}
    assert used == {"question": (8, 0), "answer": (8, 8)}
    assert {"deepspeed", "bf16", "quantization_config"} <= set(found["left_out"])
    assert not (job / "out").exists()


def test_a_row_that_is_dropped_is_named(job, capsys):
    rows = rows_of(job)
    rows[4]["answer"] = ""
    write(job, rows)
    status, found = answered(capsys)
    (loss,) = found["losses"]
    assert (status, found["verdict"]) == (1, "loses")
    assert (loss["kind"], loss["file"], loss["rows"]) == ("row-lost", "data.jsonl", [5])


def test_the_row_a_function_fails_at_is_named(job, capsys):
    rows = rows_of(job)
    rows[6]["answer"] = None
    write(job, rows)
    status, found = answered(capsys)
    loss = found["losses"][0]
    assert (status, found["verdict"]) == (1, "stops")
    assert (loss["kind"], loss["rows"]) == ("stopped-at-row", [7])
    assert "TypeError" in found["error"]
    assert "trainrx_hooks" not in found["log"]
    assert found["diagnosis"]["verdict"] in ("diagnosed", "suspected", "unknown")


def test_a_row_without_texts_is_known_by_its_number(job, capsys):
    rows = rows_of(job)
    rows[6] = {"question": None, "answer": "x"}
    write(job, rows)
    loss = answered(capsys)[1]["losses"][0]
    assert (loss["kind"], loss["rows"]) == ("stopped-at-row", [7])


def test_the_row_a_batch_fails_at_is_named(job, capsys):
    text = (job / "train.py").read_text(encoding="utf-8")
    assert "labels.append((" in text
    text = text.replace("labels.append((", "labels.append(([0] * answer.count('7')) + (")
    (job / "train.py").write_text(text, encoding="utf-8")
    found = answered(capsys)[1]
    loss = found["losses"][0]
    assert (found["verdict"], found["reached"]) == ("stops", "prepared")
    assert (loss["kind"], loss["rows"]) == ("stopped-at-row", [7])
    assert "not of one length" in loss["shown"]


def test_a_sample_too_large_to_be_told_is_not_called_lost(job, capsys):
    rows = rows_of(job)
    rows[5]["answer"] = "a long story of the house " * 200_000
    write(job, rows)
    found = answered(capsys)[1]
    assert (found["verdict"], found["losses"]) == ("runs", [])
    assert found["notes"] == ["not all of the data was compared"]


def test_a_text_that_is_cut_is_named(job, capsys):
    rows = rows_of(job)
    rows[2]["answer"] += " And nobody may leave the house after ten." * 3
    write(job, rows)
    launch(job, "--max_length 150")
    found = answered(capsys)[1]
    assert [(loss["kind"], loss["rows"]) for loss in found["losses"]] == [("text-cut", [3])]


@pytest.mark.usefixtures("job")
def test_few_rows_are_taken_and_said(capsys):
    found = answered(capsys, "--rows", "3")[1]
    assert (found["rows"], found["taken"], found["verdict"]) == (8, 3, "runs")
    assert {(use["rows"], use["read"]) for use in found["uses"]} == {(3, 3)}


def test_time_that_is_up_is_no_verdict(job, capsys):
    text = (job / "train.py").read_text(encoding="utf-8")
    (job / "train.py").write_text("import time\ntime.sleep(60)\n" + text, encoding="utf-8")
    status, found = answered(capsys, "--timeout", "1")
    assert (status, found["verdict"], found["reached"]) == (1, "unfinished", "started")
    assert (found["time_up"], found["error"], found["diagnosis"]) == (True, "", None)


def test_a_program_without_a_trainer_is_no_verdict(job, capsys):
    text = (job / "train.py").read_text(encoding="utf-8")
    assert "Trainer(model, arguments, rows).train()" in text
    text = text.replace("Trainer(model, arguments, rows).train()", "print(model)")
    (job / "train.py").write_text(text, encoding="utf-8")
    assert answered(capsys)[1]["verdict"] == "unfinished"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_says_what_is_lost(job, capsys, lang):
    rows = rows_of(job)
    rows[4]["answer"] = ""
    write(job, rows)
    assert main(["dry-run", "launch.sh", "--python", sys.executable, "--lang", lang]) == 1
    page = " ".join(capsys.readouterr().out.split())
    assert "data.jsonl" in page
    assert ("row 5" if lang == "en" else "第 5 行") in page
    assert "What is the rule number 5" in page


PAIR = {
    "messages": [
        {"role": "user", "content": "what is the rule of the house?"},
        {"role": "assistant", "content": "doors are shut at night"},
    ],
    "rejected_response": "there is none",
}


class TestLint:
    """What lint finds in the data beside a job that ran."""

    @pytest.fixture
    def ran(self, tmp_path, monkeypatch):
        """Let a launch of ms-swift have run, whatever it is."""
        (tmp_path / "swift").write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / "swift").chmod(0o755)
        (tmp_path / "python").symlink_to(sys.executable)
        monkeypatch.chdir(tmp_path)
        words = "swift rlhf --rlhf_type dpo --model /m/qwen --dataset a.jsonl --max_length 512"
        (tmp_path / "launch.sh").write_text(f"{words}\n", encoding="utf-8")
        stages = ("trains", "batches of train", "done")
        sample = {"kind": "sample", "read": json.dumps(PAIR), "learnt": json.dumps(PAIR)}
        events = (*({"kind": "stage", "name": stage} for stage in stages), sample)
        outcome = DryOutcome(status=0, seconds=1.0, log="", events=events)
        monkeypatch.setattr("trainrx.dry_run.answer.run_dry", lambda *_, **__: outcome)
        return tmp_path

    def asked(self, folder, capsys, **more):
        row = json.dumps({**PAIR, **more}) + "\n"
        (folder / "a.jsonl").write_text(row * 40, encoding="utf-8")
        words = "dry-run launch.sh --python python --versions ms-swift==4.6.0 --format json"
        status = main(words.split())
        found = json.loads(capsys.readouterr().out)
        return status, found["verdict"], {item["rule"] for item in found["findings"]}

    def test_what_no_run_refutes_is_said(self, ran, capsys):
        scores = {"chosen_score": 1, "rejected_score": 2}
        assert self.asked(ran, capsys, **scores) == (1, "runs", {"data-pair-scored-worse"})

    def test_what_did_not_stop_it_is_no_error(self, ran, capsys):
        script = ran / "launch.sh"
        script.write_text(script.read_text("utf-8").replace("512", "4"), encoding="utf-8")
        assert self.asked(ran, capsys) == (0, "runs", set())
        linted = lint(script, versions={"ms-swift": "4.6.0"}, data="")
        refuted = [item.severity for item in linted if item.rule.startswith("data-")]
        assert refuted == ["error"]


class TestRefusals:
    def test_no_launch_is_given(self, tmp_path, capsys):
        (tmp_path / "x.sh").write_text("echo hello\n", encoding="utf-8")
        assert main(["dry-run", str(tmp_path / "x.sh")]) == 2
        assert "no training command" in capsys.readouterr().err

    @pytest.mark.usefixtures("job")
    def test_an_interpreter_is_none(self, capsys):
        assert main(["dry-run", "launch.sh", "--python", "nowhere/python"]) == 2
        assert "--python nowhere/python" in capsys.readouterr().err

    def test_words_are_not_known(self, job, capsys):
        launch(job, "--data $DATA_FILE")
        assert main(["dry-run", "launch.sh", "--python", sys.executable]) == 2
        assert "$DATA_FILE" in capsys.readouterr().err

    def test_a_framework_is_not_run_so(self, tmp_path, capsys):
        script = tmp_path / "launch.sh"
        script.write_text("python3 -m verl.trainer.main_ppo data.train_files=x.parquet\n", "utf-8")
        assert main(["dry-run", str(script)]) == 2
        assert "expected a launch of" in capsys.readouterr().err
