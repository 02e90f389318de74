# ruff: noqa: ARG001 - all makers are called alike
"""The kinds of mutation: each makes one change to a launch, by chance; None when it has nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mutate_launch import Launch

Files = dict[str, str]
Fields = Mapping[str, Mapping[str, Any]]
Maker = Callable[[Launch, Fields, Mapping[str, Any], random.Random], "Files | None"]
WRONG = {
    "int": ("2.5", "two", "1e3", "8k", "''", "1,2", "None"),
    "float": ("high", "1e-4x", "0,1", "''", "1e", "None"),
    "bool": ("maybe", "enable", "2", "ture", "None", "''"),
}
FOREIGN = (
    ("finetuning_type", "lora"),
    ("lora_target", "all"),
    ("cutoff_len", "2048"),
    ("model_name_or_path", "./tiny"),
    ("stage", "sft"),
    ("quantization_bit", "4"),
    ("lora_r", "8"),
    ("gradient_accumulation_step", "4"),
    ("global_batch_size", "16"),
    ("micro_batch_size", "2"),
    ("lr", "1e-5"),
    ("epochs", "3"),
    ("num_epochs", "3"),
    ("max_seq_len", "2048"),
    ("tensor_model_parallel_size", "2"),
    ("use_flash_attention", "true"),
)


def misspelt(word: str, chance: random.Random) -> str:
    """Write a word wrongly, as a finger slips."""
    at = chance.randrange(1, len(word) - 1)
    ways = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
        word + "s",
        word[:at] + chance.choice("aeiou") + word[at + 1 :],
        word.replace("_", "", 1),
        word.capitalize(),
        word.replace("_", ".", 1),
    )
    return chance.choice(ways)


def misspelt_name(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Misspell the name of an option."""
    old = chance.choice(launch.options)[0]
    new = misspelt(old, chance)
    return None if new == old else launch.renamed(old, new).files()


def of_other_release(
    launch: Launch, own: Fields, others: Mapping[str, Any], chance: random.Random
) -> Files | None:
    """Add an argument that only other releases take."""
    found = {
        name: field
        for key, commands in sorted(others.items())
        if key.startswith("ms-swift")
        for name, field in (commands.get(launch.command) or commands.get("sft")).items()
        if name not in own
    }
    if not found:
        return None
    name = chance.choice(sorted(found))
    return launch.given(name, _some_value(found[name], chance)).files()


def _some_value(field: Mapping[str, Any], chance: random.Random) -> str:
    good = [choice for choice in field["choices"] if choice != "None"]
    if good:
        return chance.choice(good)
    return {"int": "2", "float": "0.5", "string_to_bool": "true"}.get(_type(field), "x")


def _type(field: Mapping[str, Any]) -> str:
    told = str(field["type"])
    return "bool" if "bool" in told else told if told in {"int", "float"} else "str"


def of_other_framework(
    launch: Launch, own: Fields, _: object, chance: random.Random
) -> Files | None:
    """Add an argument of another framework."""
    name, value = chance.choice([item for item in FOREIGN if item[0] not in own])
    return launch.given(name, value).files()


def bad_choice(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give an option with choices a value that is none of them."""
    wanted = [name for name, field in own.items() if field["choices"]]
    held = [name for name, _ in launch.options if name in wanted]
    name = chance.choice(held if held and chance.random() < 0.4 else wanted)
    right = chance.choice([c for c in own[name]["choices"] if c != "None"])
    wrong = chance.choice((misspelt(right + "  ", chance).strip(), right.upper(), "auto1", "none1"))
    return None if wrong in own[name]["choices"] else launch.given(name, wrong).files()


def wrong_type(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give a number or a switch a value of another type."""
    wanted = [n for n, f in own.items() if _type(f) in WRONG and not f["choices"]]
    held = [name for name, _ in launch.options if name in wanted]
    name = chance.choice(held if held and chance.random() < 0.6 else wanted)
    value = chance.choice(WRONG[_type(own[name])])
    if launch.config:
        return launch.given(name, value).files()
    return _raw(launch, name, (value,)).files()


def _raw(launch: Launch, name: str, values: tuple[str, ...]) -> Launch:
    kept = launch if any(n == name for n, _ in launch.options) else launch.given(name, "x")
    return replace(kept, options=tuple((n, values if n == name else v) for n, v in kept.options))


def given_twice(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give an option a second time, with the same value or another."""
    name, values = chance.choice(launch.options)
    second = tuple("7" if v.isdigit() and chance.random() < 0.5 else v for v in values)
    return replace(launch, options=(*launch.options, (name, second))).files()


def value_missing(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Leave the value of an option out, anywhere or at the end."""
    at = chance.randrange(len(launch.options))
    name = launch.options[at][0]
    rest = [item for number, item in enumerate(launch.options) if number != at]
    place = len(rest) if chance.random() < 0.3 else at
    return replace(launch, options=(*rest[:place], (name, ()), *rest[place:])).files()


def extra_value(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give an option one value more."""
    name, values = chance.choice(launch.options)
    return _raw(launch, name, (*values, chance.choice(("2", "true", "x")))).files()


def required_missing(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Leave out what a launch cannot do without, sometimes with more."""
    if launch.config:
        names = ("model_name_or_path", "dataset", "output_dir", "template", "stage")
    else:
        names = ("model", "model_id_or_path", "dataset", "model_type")
    held = [name for name, _ in launch.options if name in names]
    name = chance.choice(held)
    changed = launch.without(name)
    if chance.random() < 0.4:
        changed = changed.without(chance.choice(changed.options)[0])
    return changed.files()


def dash_of_print(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Write the dashes of an option as a text processor does."""
    name = chance.choice(launch.options)[0]
    dash = chance.choice(("\N{EN DASH}", "\N{EM DASH}", "-", "\N{EN DASH}\N{EN DASH}"))
    lines = [re.sub(rf"--{re.escape(name)}\b", f"{dash}{name}", line) for line in launch.lines()]
    return launch.files(lines)


def space_after_backslash(
    launch: Launch, _: Fields, __: object, chance: random.Random
) -> Files | None:
    """Let a space follow the backslash at the end of the last line but one."""
    text = launch.files()["launch.sh"]
    cut = text.rindex(" \\\n")
    return {"launch.sh": text[:cut] + " \\ \n" + text[cut + 3 :]}


def ambiguous_name(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Shorten the name of an option to what several begin with."""
    return _shortened(launch, own, chance, lambda count: count > 1)


def short_name(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Shorten the name of an option to what only it begins with: the parser takes it."""
    return _shortened(launch, own, chance, lambda count: count == 1)


def _shortened(
    launch: Launch, own: Fields, chance: random.Random, fits: Callable[[int], bool]
) -> Files | None:
    old = chance.choice([name for name, _ in launch.options if len(name) > 5] or ["dataset"])
    cuts = [old[:end] for end in range(4, len(old))]
    short = [
        cut
        for cut in cuts
        if cut not in own and fits(sum(name.startswith(cut) for name in own)) and cut[-1] != "_"
    ]
    return launch.renamed(old, chance.choice(short)).files() if short else None


def in_other_order(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Shuffle the options."""
    return replace(
        launch, options=tuple(chance.sample(launch.options, len(launch.options)))
    ).files()


def quoted(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Put values in quotes."""
    mark = chance.choice("'\"")
    options = tuple(
        (n, tuple(f"{mark}{x}{mark}" if x[0] not in "'\"" else x for x in v))
        for n, v in launch.options
    )
    return replace(launch, options=options).files()


def with_equals(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Join names and single values with an equals sign."""
    lines = [
        re.sub(r"^(    --\S+) (\S+)$", r"\1=\2", line) if chance.random() < 0.7 else line
        for line in launch.lines()
    ]
    return launch.files(lines)


def switches_otherwise(
    launch: Launch, own: Fields, _: object, chance: random.Random
) -> Files | None:
    """Spell switches in other ways the parser takes."""
    switches = [
        (n, v)
        for n, v in launch.options
        if n in own and _type(own[n]) == "bool" and v and v[0].lower() in {"true", "false"}
    ]
    for name, values in switches:
        ways = (
            ("True", "TRUE", "yes", "1", "t") if values[0] == "true" else ("False", "no", "0", "f")
        )
        launch = _raw(launch, name, (chance.choice(ways),))
    return launch.files() if switches else None


def bare_switch(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give a switch without a value."""
    held = [n for n, v in launch.options if n in own and _type(own[n]) == "bool" and v == ("true",)]
    return _raw(launch, chance.choice(held), ()).files() if held else None


def dashed(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Write names with dashes, which the parser takes as well."""
    options = tuple((n.replace("_", "-"), v) for n, v in launch.options)
    return replace(launch, options=options).files()


def by_variables(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Put values into variables of the shell first."""
    held = [(n, v) for n, v in launch.options if len(v) == 1]
    name, values = chance.choice(held)
    text = _raw(launch, name, ('"$VALUE"',)).files()["launch.sh"]
    return {"launch.sh": f"#!/bin/bash\nset -e\nVALUE={values[0]}\n{text}"}


def exported(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Export the variables before the command."""
    head = "".join(f"export {name}={value}\n" for name, value in launch.env)
    text = replace(launch, env=()).files()["launch.sh"]
    return {"launch.sh": "#!/bin/bash\n" + head + "export OMP_NUM_THREADS=4\n" + text}


def on_one_line(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Write the command on one line."""
    return {"launch.sh": " ".join(line.strip() for line in launch.lines()) + "\n"}


def numbers_otherwise(launch: Launch, own: Fields, _: object, __: random.Random) -> Files | None:
    """Write floats in other ways."""
    held = [(n, v) for n, v in launch.options if n in own and _type(own[n]) == "float" and v]
    for name, values in held:
        launch = _raw(launch, name, (f"{float(values[0]):.6e}",))
    return launch.files() if held else None


def with_array(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Hold the options in an array."""
    rows = "\n".join(line for line in launch.lines() if line.startswith("    --"))
    head = " ".join(line for line in launch.lines() if not line.startswith("    --"))
    return {"launch.sh": f'#!/bin/bash\nARGS=(\n{rows}\n)\n{head} "${{ARGS[@]}}"\n'}


def misspelt_key(
    launch: Launch, own: Fields, others: object, chance: random.Random
) -> Files | None:
    """Misspell a key, which may not be the name of a fixed place."""
    return misspelt_name(launch, own, others, chance)


FOREIGN_KEYS = (
    ("train_type", "lora"),
    ("max_length", "2048"),
    ("model", "./tiny"),
    ("torch_dtype", "bfloat16"),
    ("lora_modules_to_save", "embed_tokens"),
    ("quantization_bits", "4"),
    ("use_flash_attn", "true"),
    ("max_source_length", "512"),
    ("max_target_length", "512"),
    ("overwrite_cach", "true"),
    ("dpo_beta", "0.1"),
    ("dpo_loss", "sigmoid"),
    ("reward_model_checkpoint", "x"),
    ("checkpoint_dir", "x"),
    ("prompt_template", "qwen"),
    ("gradient_checkpointing_kwarg", "{}"),
    ("train_from_scratchs", "true"),
    ("visual_inputs", "true"),
    ("split", "train"),
)


def foreign_key(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Add a key of another release or framework."""
    name, value = chance.choice([item for item in FOREIGN_KEYS if item[0] not in own])
    return launch.given(name, value).files()


def key_given_twice(launch: Launch, _: Fields, __: object, chance: random.Random) -> Files | None:
    """Give a key a second time."""
    return replace(launch, options=(*launch.options, chance.choice(launch.options))).files()


def as_words(launch: Launch, own: Fields, _: object, chance: random.Random) -> Launch | None:
    """Write the configuration as options of the command line."""
    wanted = [(n, v) for n, v in launch.options if v[0] != "null"]
    return replace(launch, config=False, options=tuple(wanted))


def _worded(maker: Maker) -> Maker:
    def make(
        launch: Launch, own: Fields, others: Mapping[str, Any], chance: random.Random
    ) -> Files | None:
        words = as_words(launch, own, others, chance)
        return None if words is None else maker(words, own, others, chance)

    return make


def plain(launch: Launch, _: Fields, __: object, ___: random.Random) -> Files | None:
    """Change nothing."""
    return launch.files()


def yaml_quoted(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Put texts in quotes, and comments behind values."""
    options = tuple(
        (n, (f'"{v[0]}"' if n in own and _type(own[n]) == "str" else f"{v[0]}  # as before",))
        for n, v in launch.options
    )
    return replace(launch, options=options).files()


def overridden(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Override a key on the command line."""
    files = launch.files()
    name, value = chance.choice((("learning_rate", "1e-5"), ("lora_rank", "4"), ("max_steps", "6")))
    files["launch.sh"] = files["launch.sh"].replace("train.yaml", f"train.yaml {name}={value}")
    return files


def overridden_wrongly(
    launch: Launch, own: Fields, _: object, chance: random.Random
) -> Files | None:
    """Override a key that is not there, or in the way of options."""
    files = launch.files()
    word = chance.choice(("learning_rat=1e-5", "--learning_rate 1e-5", "lora_rnk=4", "lr=1e-5"))
    files["launch.sh"] = files["launch.sh"].replace("train.yaml", f"train.yaml {word}")
    return files


KINDS: dict[str, Maker] = {
    "misspelt-name": misspelt_name,
    "of-other-release": of_other_release,
    "of-other-framework": of_other_framework,
    "bad-choice": bad_choice,
    "wrong-type": wrong_type,
    "given-twice": given_twice,
    "value-missing": value_missing,
    "extra-value": extra_value,
    "required-missing": required_missing,
    "dash-of-print": dash_of_print,
    "space-after-backslash": space_after_backslash,
    "ambiguous-name": ambiguous_name,
}
HARMLESS: dict[str, Maker] = {
    "short-name": short_name,
    "in-other-order": in_other_order,
    "quoted": quoted,
    "with-equals": with_equals,
    "switches-otherwise": switches_otherwise,
    "bare-switch": bare_switch,
    "dashed": dashed,
    "by-variables": by_variables,
    "exported": exported,
    "on-one-line": on_one_line,
    "numbers-otherwise": numbers_otherwise,
    "with-array": with_array,
}
YAML_KINDS: dict[str, Maker] = {
    "misspelt-key": misspelt_key,
    "foreign-key": foreign_key,
    "bad-choice": bad_choice,
    "wrong-type": wrong_type,
    "key-given-twice": key_given_twice,
    "required-missing": required_missing,
    "overridden-wrongly": overridden_wrongly,
    "misspelt-name": _worded(misspelt_name),
    "option-bad-choice": _worded(bad_choice),
    "option-wrong-type": _worded(wrong_type),
    "value-missing": _worded(value_missing),
    "extra-value": _worded(extra_value),
    "ambiguous-name": _worded(ambiguous_name),
}
YAML_HARMLESS: dict[str, Maker] = {
    "in-other-order": in_other_order,
    "yaml-quoted": yaml_quoted,
    "overridden": overridden,
    "as-words": _worded(plain),
    "short-name": _worded(short_name),
    "dashed": _worded(dashed),
    "with-equals": _worded(with_equals),
    "numbers-otherwise": _worded(numbers_otherwise),
}
