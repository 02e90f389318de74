"""The arguments of a launch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script


def launch(text: str) -> RawLaunch:
    (found,) = find_launches(read_script(text, "launch.sh"))
    return found


def args(text: str) -> list[tuple[str, tuple[str, ...] | None]]:
    return [(item.name, item.values) for item in launch(text).args]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--lr 1e-4", [("lr", ("1e-4",))]),
        ("--reward_funcs a b c", [("reward_funcs", ("a", "b", "c"))]),
        ("--lr=1e-4", [("lr", ("1e-4",))]),
        ("--lr=", [("lr", ("",))]),
        ("--bf16 --no_eval", [("bf16", ()), ("no_eval", ())]),
        ("--learning-rate 1", [("learning_rate", ("1",))]),
        ("-model_type x", [("model_type", ("x",))]),
        ("--save_steps -1 --x -0.5 -2e-3", [("save_steps", ("-1",)), ("x", ("-0.5", "-2e-3"))]),
        ("--a 1 --a 2", [("a", ("1",)), ("a", ("2",))]),
        ('--m \'{"a": {"b": 1}}\'', [("m", ('{"a": {"b": 1}}',))]),
        ("--system 'a -- b' --x 1", [("system", ("a -- b",)), ("x", ("1",))]),
        ("--vllm.num_engines 2", [("vllm.num_engines", ("2",))]),
        ("--deepspeed ds.json --x 1", [("deepspeed", ("ds.json",)), ("x", ("1",))]),
        ("--sft_type \\ lora", [("sft_type", (" lora",))]),
        ("--model $MODEL --lr 1", [("model", None), ("lr", ("1",))]),
        ("--model=$ROOT/x --lr 1", [("model", None), ("lr", ("1",))]),
        ("--dataset a $B", [("dataset", None)]),
        ("--lr 1 $EXTRA_ARGS", [("lr", ("1",))]),
        ("--lr 1 $@", [("lr", ("1",))]),
        ("--bf16 $EXTRA_ARGS --lr 1", [("bf16", ()), ("lr", ("1",))]),
        ("--lr 1 \\ ", [("lr", ("1",))]),
    ],
)
def test_flags_are_read_with_their_values(text, expected):
    assert args(f"swift sft {text}") == expected


def test_every_argument_cites_its_line():
    found = launch("swift sft \\\n  --a 1 \\\n  --b \\\n  2\n").args

    assert [(item.name, item.origin.line, item.origin.text) for item in found] == [
        ("a", 2, "--a 1 \\"),
        ("b", 3, "--b \\"),
    ]


def test_hydra_overrides_are_arguments():
    found = args(
        "python3 -m verl.trainer.main_ppo data.n=64 +trainer.x=False ++a.b='{c:1}' ~d.e"
        " trainer.logger=['console'] data.path=$P/x"
    )

    assert found == [
        ("data.n", ("64",)),
        ("trainer.x", ("False",)),
        ("a.b", ("{c:1}",)),
        ("~d.e", ()),
        ("trainer.logger", ("[console]",)),
        ("data.path", None),
    ]


def test_what_hydra_is_told_to_do_with_a_key_is_kept():
    found = launch("python3 -m verl.trainer.main_ppo a.a=1 +a.b=1 ++a.c=1 ~a.d ~a.e=1 --x y")

    assert [item.sign for item in found.args] == ["", "+", "++", "~", "~", ""]


def test_the_program_is_kept_as_written():
    assert launch("python3 -m verl.trainer.main_ppo a=1").program == "verl.trainer.main_ppo"
    assert launch("torchrun recipe/x/main.py --epochs 1").program == "recipe/x/main.py"


def test_llamafactory_takes_a_config_and_overrides():
    found = launch("llamafactory-cli train a/x.yaml learning_rate=1e-5 bf16=true")

    assert found.configs == ("a/x.yaml",)
    assert [(item.name, item.values) for item in found.args] == [
        ("learning_rate", ("1e-5",)),
        ("bf16", ("true",)),
    ]


@pytest.mark.parametrize(
    ("text", "configs"),
    [
        ("swift sft x.yaml --lr 1", ("x.yaml",)),
        ("swift sft --config x.yaml", ("x.yaml",)),
        ("swift sft x.json", ("x.json",)),
        ("trl sft --config=x.yml", ("x.yml",)),
        ("axolotl train x.yml --lr 1", ("x.yml",)),
        ("python -m verl.trainer.main config=x.yaml a=1", ("x.yaml",)),
        ("swift sft --deepspeed ds.json --dataset d.json", ()),
        ("swift sft --config $CONF", ()),
    ],
)
def test_config_files_are_found(text, configs):
    assert launch(text).configs == configs


def test_the_model_of_vllm_serve_is_an_argument():
    assert args("vllm serve Qwen/Q --max-model-len 8")[0] == ("model", ("Qwen/Q",))


def test_a_launch_carries_its_environment_and_whether_it_is_complete():
    found = launch("source a.sh\nexport A=1\nB=2 swift sft")

    assert {item.name: item.value for item in found.env} == {"A": "1", "B": "2"}
    assert not found.env_complete


def test_a_launch_names_only_its_own_unread_words():
    first, second = find_launches(read_script("swift sft --a $X\nswift pt --b $Y --c $X", "l.sh"))

    assert [item.reason.split()[0] for item in first.unread] == ["$X"]
    assert [item.reason.split()[0] for item in second.unread] == ["$X", "$Y"]


def test_a_launch_carries_the_defects_of_its_lines():
    text = "MAX_PIXELS=1\nswift sft \\\n --a 1 \\ \n --b 2\nswift pt \\\n\n --c 1\n"
    first, second = find_launches(read_script(text, "l.sh"))

    assert [item.id for item in first.defects] == [
        "variable-not-exported",
        "space-after-backslash",
        "continuation-broken",
    ]
    assert [(item.id, item.line) for item in second.defects] == [
        ("variable-not-exported", 1),
        ("continuation-broken", 7),
    ]


_NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(lambda name: name != "config")
_VALUES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_./:,-]{0,8}|-?[0-9]{1,4}(\.[0-9])?", fullmatch=True)


@given(st.lists(st.tuples(_NAMES, st.lists(_VALUES, max_size=3)), max_size=8))
def test_flags_written_out_are_read_back(flags):
    words = [word for name, values in flags for word in (f"--{name}", *values)]

    assert args(" ".join(["swift", "sft", *words])) == [
        (name, tuple(values)) for name, values in flags
    ]
