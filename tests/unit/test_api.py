from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from knowledge_folders import SYMPTOM

import trainrx
from trainrx import Diagnoser
from trainrx.model.errors import KnowledgeError

LAUNCH = (
    "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset a.jsonl "
    "--per_device_train_batch_size 8 --max_length 8192"
)
LOGS = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
    "ValueError: Tokenizer class Qwen2Tokenizer does not exist or is not currently imported.\n",
    "RuntimeError: NCCL communicator was aborted on rank 1.\n",
)


def question(folder: Path, log: str) -> Callable[[Diagnoser], bytes]:
    """Give a question about a job with this log, as a function of who answers it."""
    folder.mkdir()
    (folder / "launch.sh").write_text(LAUNCH, encoding="utf-8")
    (folder / "train.log").write_text(log, encoding="utf-8")

    def ask(diagnoser: Diagnoser) -> bytes:
        return msgspec.json.encode(diagnoser.diagnose(folder, gpu="24GiB", gpus=1, top=3))

    return ask


def test_threads_that_share_a_diagnoser_get_the_answers_one_alone_gets(tmp_path: Path) -> None:
    asked = [question(tmp_path / str(n), log) for n, log in enumerate(LOGS)] * 4
    alone = [ask(Diagnoser()) for ask in asked[: len(LOGS)]] * 4
    shared = Diagnoser()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda ask: ask(shared), asked))

    assert together == alone


def test_folders_of_knowledge_do_not_mix_in_one_diagnoser(tmp_path: Path) -> None:
    place = tmp_path / "kb" / "symptoms" / "hang" / "my-error.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(SYMPTOM, encoding="utf-8")
    log, kb = "went wrong: 7\n", [tmp_path / "kb"]
    (tmp_path / "train.log").write_text(log, encoding="utf-8")
    diagnoser = Diagnoser()

    found = [diagnoser.diagnose(tmp_path / "train.log", kb=known) for known in (kb, [], kb)]

    assert [[seen.id for seen in one.symptoms] for one in found] == [["my-error"], [], ["my-error"]]
    assert found[0].tool.kb == found[2].tool.kb != found[1].tool.kb


def test_a_malformed_folder_is_refused_by_each_function(tmp_path: Path) -> None:
    (tmp_path / "symptoms").mkdir()
    (tmp_path / "symptoms" / "x.yaml").write_text("id: [", encoding="utf-8")
    script = tmp_path / "launch.sh"
    script.write_text(LAUNCH, encoding="utf-8")

    for ask in (trainrx.diagnose, trainrx.lint, trainrx.estimate, trainrx.inspect_launch):
        with pytest.raises(KnowledgeError, match=r"x\.yaml"):
            ask(script, kb=[tmp_path])


def test_the_functions_of_the_package_are_those_of_one_diagnoser() -> None:
    names = [name for name in trainrx.__all__ if name not in ("Diagnoser", "__version__")]

    owners = {getattr(getattr(trainrx, name), "__self__", None) for name in names}

    assert {type(owner) for owner in owners} == {Diagnoser}
    assert len(owners) == 1
