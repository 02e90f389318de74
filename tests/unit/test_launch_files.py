from __future__ import annotations

from pathlib import Path

from trainrx.launch.facts import counted
from trainrx.launch.files import config_texts
from trainrx.launch.find import find_launches
from trainrx.launch.places import only_below
from trainrx.model.job import Input
from trainrx.shell import read_script

ZERO3 = '{"zero_optimization": {"stage": 3}}'


def launch_of(text: str):
    return find_launches(read_script(text, "launch.sh"))[0]


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def texts(command: str, folder: Path | None, *given: Input, version: str | None = None):
    return config_texts(launch_of(command), given, folder, version)


def test_a_file_beside_the_script_is_read(tmp_path):
    put(tmp_path, "conf/x.yaml", "stage: sft")

    assert texts("llamafactory-cli train conf/x.yaml", tmp_path).texts == {
        "conf/x.yaml": "stage: sft"
    }


def test_a_path_from_a_folder_above_is_followed(tmp_path):
    put(tmp_path, "ds/z3.json", ZERO3)

    found = texts("swift sft --deepspeed examples/train/ds/z3.json", tmp_path)

    assert found.texts == {"examples/train/ds/z3.json": ZERO3}


def test_the_only_such_file_below_is_found(tmp_path):
    put(tmp_path, "LLaMA-Factory/examples/x.yaml", "stage: sft")

    found = texts("cd LLaMA-Factory\nllamafactory-cli train examples/x.yaml", tmp_path)

    assert found.texts == {"examples/x.yaml": "stage: sft"}


def test_one_of_several_is_not_guessed(tmp_path):
    put(tmp_path, "a/x.yaml", "stage: sft")
    put(tmp_path, "b/x.yaml", "stage: pt")

    found = texts("llamafactory-cli train x.yaml", tmp_path)

    assert found.texts == {}
    assert "x.yaml is not at hand" in found.unread[0].reason


def test_files_named_in_files_are_followed(tmp_path):
    put(tmp_path, "x.yaml", "stage: sft\ndeepspeed: examples/deepspeed/ds_z3.json\n")
    put(tmp_path, "ds_z3.json", ZERO3)

    found = texts("llamafactory-cli train x.yaml", tmp_path)

    assert set(found.texts) == {"x.yaml", "examples/deepspeed/ds_z3.json"}


def test_what_the_user_gives_goes_first(tmp_path):
    put(tmp_path, "x.yaml", "stage: pt")
    given = Input(kind="config", name="/elsewhere/x.yaml", text="stage: sft")

    found = texts("llamafactory-cli train conf/x.yaml", tmp_path, given)

    assert found.texts == {"/elsewhere/x.yaml": "stage: sft"}


def test_nothing_outside_the_folder_is_read(tmp_path):
    inside = tmp_path / "job"
    inside.mkdir()
    put(tmp_path, "secret.yaml", "stage: sft")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")

    for name in ("../secret.yaml", f"{tmp_path}/secret.yaml", "~/secret.yaml", "link.yaml"):
        assert texts(f"llamafactory-cli train {name}", inside).texts == {}


def test_a_file_the_script_writes_is_read_and_placed(tmp_path):
    script = read_script("llamafactory-cli train x.yaml\n", "launch.sh")
    launch = find_launches(script)[0].__class__(
        framework="llamafactory",
        command="train",
        args=(),
        env=(),
        origin=find_launches(script)[0].origin,
        configs=("x.yaml",),
        written=(("./x.yaml", "stage: sft\n", 7),),
    )

    found = config_texts(launch, (), tmp_path)

    assert found.texts == {"x.yaml": "stage: sft\n"}
    assert str(found.places["x.yaml"]) == "launch.sh:7"


def test_the_configuration_hydra_names_is_read(tmp_path):
    put(tmp_path, "config/grpo.yaml", "data:\n  x: 1\n")

    command = "python -m verl.trainer.main_ppo --config-path config --config-name grpo a.b=1"
    found = texts(command, tmp_path)

    assert found.texts == {"config/grpo.yaml": "data:\n  x: 1\n"}


def test_arguments_of_the_run_that_is_loaded_are_read(tmp_path):
    put(tmp_path, "output/v0/checkpoint-9/args.json", "{}")
    put(tmp_path, "args.json", '{"other": 1}')

    loaded = texts("swift infer --adapters output/v0/checkpoint-9", tmp_path, version="3.5.0")
    other = texts("swift infer --adapters gone/c", tmp_path, version="3.5.0")

    assert loaded.texts == {"output/v0/checkpoint-9/args.json": "{}"}
    assert other.texts == {}


def test_of_two_files_of_a_name_below_neither_is_taken(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "zero3.json").write_text("{}")

    assert only_below("conf/zero3.json", tmp_path) is None
    assert only_below("b/zero3.json", tmp_path) == tmp_path / "b" / "zero3.json"


def test_items_of_an_argument_are_counted_in_lists_and_between_commas():
    found = [
        [item.value for item in counted("reward_funcs", value, how="given")]
        for value in ("a,b,c", "a", ["a", "b"], "", [])
    ]

    assert found == [[3], [1], [2], [], []]
