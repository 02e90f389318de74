"""What keeps an edit that passed its checks from being called proved."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from trainrx import Diagnoser
from trainrx.fix.patch.configs import homed
from trainrx.fix.patch.wanted import Want
from trainrx.model.fixing import FixAnswer
from trainrx.model.knowledge import Fix, Measure
from trainrx.model.result import Change
from trainrx.model.text import Text
from trainrx.prove.stamp import of_values

CASES = Path(__file__).parents[1] / "cases"
NOTHING = Text(en="-", zh="-")
TRAINER_LOG = """\
Traceback (most recent call last):
  File "/work/train.py", line 6, in <module>
    args = SFTConfig(
           ^^^^^^^^^^
TypeError: SFTConfig.__init__() got an unexpected keyword argument 'no_cuda'
"""
PROGRAM = """\
import json

from trl import SFTConfig, SFTTrainer

settings = {"output_dir": "out", **json.load(open("more.json"))}
args = SFTConfig(
    **settings,
)
SFTTrainer(model="/models/a", args=args).train()
"""


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all questions."""
    return Diagnoser()


def case(name: str) -> FixAnswer:
    return diagnoser().fix_launch([CASES / name])


def test_an_edit_that_only_takes_back_what_was_refused_is_proved():
    found = case("real/llamafactory-val-and-eval")

    assert (found.verdict, found.proposals[0].lacks) == ("proved", ())


@pytest.mark.parametrize(("lang", "said"), [("en", "a usual value"), ("zh", "常用值")])
def test_a_usual_number_is_named_as_one(lang, said):
    folder = CASES / "llamafactory-streaming-without-max-steps"

    found = diagnoser().fix_launch([folder], lang=lang)

    assert found.verdict == "checked"
    (lack,) = found.proposals[0].lacks
    assert "max_steps 1000" in lack
    assert said in lack


def test_a_package_that_no_list_shows_is_named():
    found = case("ms-swift-4-packing-without-flash")

    assert found.verdict == "checked"
    assert found.proposals[0].lacks[0].startswith("flash-attn:")


def test_a_release_stands_behind_a_change_of_the_program(tmp_path):
    (tmp_path / "launch.sh").write_text("python train.py\n")
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "train.log").write_text(TRAINER_LOG)
    versions = {"trl": "1.16.0", "transformers": "5.24.0", "torch": "2.13.0", "datasets": "5.2.0"}

    found = diagnoser().fix_launch([tmp_path], versions=versions)

    assert found.verdict == "manual"
    assert [one.to for one in found.manual[0].changes] == ["use_cpu"]


def remedy(to: str, param: str) -> Fix:
    wanted = Measure(kind="env", param=param, action="set", to=to)
    return Fix(id="x", title=NOTHING, safety="safe", cost=NOTHING, measures=(wanted,))


def change(to: str, param: str) -> Change:
    return Change(
        kind="env", param=param, canonical="", action="set", now="unset", to=to, spelled=to
    )


@pytest.mark.parametrize(
    ("param", "to", "said", "open_"),
    [
        ("NCCL_SOCKET_IFNAME", "eth0", (), True),
        ("NCCL_SOCKET_IFNAME", "eth0", ("eth0",), False),
        ("MASTER_PORT", "29511", (), True),
        ("NCCL_P2P_DISABLE", "1", (), False),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", (), False),
    ],
)
def test_a_value_of_a_remedy_counts_as_known_where_it_is_a_switch_or_the_job_says_it(
    param, to, said, open_
):
    found = list(of_values([change(to, param)], [remedy(to, param)], frozenset(said), "en"))

    assert bool(found) == open_


def test_a_value_that_stands_in_no_remedy_is_worked_out_from_the_job():
    assert not list(of_values([change("12", "MAX_NUM")], [remedy("6", "OTHER")], frozenset(), "en"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("overlap_comm", '{"zero_optimization": {"stage": 2}}', "zero_optimization.overlap_comm"),
        (
            "fsdp_version",
            "fsdp_config:\n  fsdp_state_dict_type: FULL\n",
            "fsdp_config.fsdp_version",
        ),
        ("seq_length", "dataset:\n  seq_length: 8192\n", "dataset.seq_length"),
        ("seq_length", "a:\n  seq_length: 1\nb:\n  seq_length: 2\n", "seq_length"),
        ("learning_rate", "dataset:\n  seq_length: 8192\n", "learning_rate"),
    ],
)
def test_a_key_goes_where_the_file_has_it_or_its_section(name, text, expected):
    want = Want("arg", name, ("1",))

    assert homed(want, {"config.yaml": text}).name == expected


def test_what_a_former_run_saved_does_not_speak_against_an_edit(tmp_path):
    (tmp_path / "launch.sh").write_text(
        "swift sft --model /models/a --model_type qwen2 --dataset d.jsonl --tuner_type lora "
        "--per_device_eval_batch_size 0 --split_dataset_ratio 0.1\n"
    )
    (tmp_path / "args.json").write_text(
        '{"model": "/models/a", "tuner_type": "lora", "dataset": ["d.jsonl"], "output_dir": "o", '
        '"per_device_train_batch_size": 1, "per_device_eval_batch_size": 0, '
        '"gradient_accumulation_steps": 16, "max_length": 256, "learning_rate": 1e-4}'
    )
    (tmp_path / "train.log").write_text(
        "Traceback (most recent call last):\n"
        '  File "/p/torch/utils/data/sampler.py", line 322, in __init__\n'
        "    raise ValueError(\n"
        "ValueError: batch_size should be a positive integer value, but got batch_size=0\n"
    )

    found = diagnoser().fix_launch([tmp_path], versions={"ms-swift": "4.6.0"})

    assert found.verdict == "proved"
    assert found.proposals[0].changes[0].spelled == "--per_device_eval_batch_size 1"


def test_a_name_alike_is_not_meant_where_the_value_is_none_of_it(tmp_path):
    (tmp_path / "train.yaml").write_text(
        "model_name_or_path: /models/a\nstage: sft\ndo_train: true\nfinetuning_type: lora\n"
        "dataset: d\ntemplate: qwen\noutput_dir: out\ntorch_dtype: float32\n"
    )
    (tmp_path / "train.log").write_text(
        "ValueError: Some keys are not used by the HfArgumentParser: ['torch_dtype']\n"
    )

    found = diagnoser().fix_launch([tmp_path], versions={"llamafactory": "0.9.3"})

    assert "bf16" not in found.proposals[0].diff
