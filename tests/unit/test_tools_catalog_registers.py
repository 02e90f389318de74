"""Names that code looks up where its parser takes any text."""

from __future__ import annotations

from catalog.lookups import called_with, keys_of, members, texts_in
from catalog.lookups import tested as compared
from catalog.registers import read_parsed, write_parsed
from catalog.sources import Sources
from catalog.world import World

LOSSES = """
class LossType:
    long = "long-ce"
    scale = "loss_scale"

LOSSES = {LossType.long: 1}
LOSSES["more"] = 2

@register_loss(LossType.scale)
def loss():
    pass

def later(name, function):
    LOSSES[name] = function
"""
LOOKUP = """
def start(self):
    if self.kind == "a" or self.kind.lower() in ("b", "c"):
        pass
    if isinstance(self.kind, str) and self.kind.startswith("pissa"):
        pass
    for name in {name: f"{name}.json" for name in ["zero1", "zero2"]}:
        pass

presets = {name: f"{name}.json" for name in ["zero1", "zero2"]}

def supported():
    return {"lora", "full"} | set(EXTRA)
"""


def _world(**files: str) -> World:
    return World(Sources({f"pack/{name}.py": text for name, text in files.items()}))


def test_keys_of_a_mapping_come_from_its_display_and_from_what_is_added() -> None:
    world = _world(losses=LOSSES)

    assert keys_of(world, "pack/*.py", "LOSSES") == {"long-ce", "more"}


def test_a_mapping_with_a_key_only_a_run_can_tell_is_not_known() -> None:
    world = _world(losses="LOSSES = {make(): 1}\n")

    assert keys_of(world, "pack/*.py", "LOSSES") is None


def test_a_mapping_nobody_writes_is_not_known() -> None:
    assert keys_of(_world(losses=LOSSES), "pack/*.py", "OTHERS") is None


def test_keys_of_a_comprehension_over_a_list_are_that_list() -> None:
    assert keys_of(_world(up=LOOKUP), "pack/*.py", "presets") == {"zero1", "zero2"}


def test_names_given_to_a_function_are_read_also_where_it_decorates() -> None:
    assert called_with(_world(losses=LOSSES), "pack/*.py", "register_loss") == {"loss_scale"}


def test_members_are_the_texts_of_a_class() -> None:
    assert members(_world(losses=LOSSES), "pack/*.py", r"\w*Type") == {"long-ce", "loss_scale"}


def test_what_a_name_is_compared_with_is_found_with_its_beginnings() -> None:
    assert compared(_world(up=LOOKUP), "pack/*.py", "kind") == {"a", "b", "c", "pissa*"}


def test_texts_of_a_function_are_those_it_lists() -> None:
    assert texts_in(_world(up=LOOKUP), "pack/*.py", "supported") == {"lora", "full"}
    assert texts_in(_world(up=LOOKUP), "pack/*.py", "nobody") is None


def test_arguments_read_as_json_are_told_from_those_that_may_be_text() -> None:
    text = (
        "self.model_kwargs: Dict = self.parse_to_dict(self.model_kwargs)\n"
        "self.device_map = json_parse_to_dict(self.device_map, strict=False)\n"
    )

    found = read_parsed(Sources({"swift/llm/argument/base_args.py": text}))

    assert found == {"model_kwargs": "strict", "device_map": "lax"}


def test_a_release_that_mends_json_is_written_apart_from_one_that_does_not() -> None:
    written = write_parsed({"1.0": {"a": "strict"}, "2.0": {"a": "repaired"}}).splitlines()

    assert written == [
        b'{"name":"a","spans":[["2.0",null]],"strict":true,"repaired":true}',
        b'{"name":"a","spans":[["1.0","2.0"]],"strict":true}',
    ]
