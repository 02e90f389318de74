"""Any configuration with any change: a loader reads what was wanted, and the rest is untouched."""

from __future__ import annotations

import copy
import json
import re
from typing import NamedTuple

import yaml
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.fix.patch.configs import config_with
from trainrx.fix.patch.wanted import Want

ROOMY = examples(60)
KEYS = ("cutoff_len", "template", "seed", "lora_target", "bf16", "stage", "output_dir")
SECTIONS = ("fsdp_config", "zero_optimization", "ENV")
scalars = st.one_of(
    st.integers(0, 10**9),
    st.booleans(),
    st.sampled_from(["qwen", "a b", "a/b.c", "x: y", "it's", 'say "x"', "auto", "1e-4", "# no"]),
    st.lists(st.sampled_from(["q_proj", "v_proj"]), min_size=1, max_size=2),
)
values = st.sampled_from(["77001", "true", "a/b", "auto", "x: y", "it's", "# no", "1.5", "a, b"])


class Written(NamedTuple):
    """A text, and what it means."""

    text: str
    meaning: dict[str, object]


@st.composite
def meanings(draw: st.DrawFn) -> dict[str, object]:
    """Give the keys of a file: some plain, some in sections."""
    out: dict[str, object] = draw(
        st.dictionaries(st.sampled_from(KEYS), scalars, min_size=1, max_size=5)
    )
    for name in draw(st.lists(st.sampled_from(SECTIONS), max_size=2, unique=True)):
        plain = scalars.filter(lambda value: not isinstance(value, list))
        out[name] = draw(st.dictionaries(st.sampled_from(KEYS), plain, min_size=1, max_size=3))
    return dict(draw(st.permutations(list(out.items()))))


@st.composite
def yamls(draw: st.DrawFn) -> Written:
    """Write YAML in one of many styles, comments between and behind."""
    meaning = draw(meanings())
    lines = ["### head"] if draw(st.booleans()) else []
    for name, value in meaning.items():
        comment = draw(st.sampled_from(["", "  # why", "   # a: b"]))
        if isinstance(value, dict):
            lines.append(f"{name}:{comment}")
            indent = draw(st.sampled_from(["  ", "    "]))
            lines += [f"{indent}{key}: {_scalar(draw, item)}" for key, item in value.items()]
        elif isinstance(value, list) and draw(st.booleans()):
            lines += [f"{name}:", *(f"  - {item}" for item in value)]
        else:
            gap = draw(st.sampled_from([" ", "   "]))
            lines.append(f"{name}:{gap}{_scalar(draw, value)}{comment}")
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", "# a comment"])))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return Written(end.join(lines) + end * draw(st.booleans()), meaning)


def _scalar(draw: st.DrawFn, value: object) -> str:
    if isinstance(value, str):
        shown = json.dumps(value)
        plain = value in ("qwen", "a b", "a/b.c", "it's", "auto", "1e-4")
        single = "'" + value.replace("'", "''") + "'"
        return draw(st.sampled_from([shown, single, *([value] * plain)]))
    return json.dumps(value)


@st.composite
def jsons(draw: st.DrawFn) -> Written:
    """Write JSON with any indentation."""
    meaning = draw(meanings())
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    text = json.dumps(meaning, indent=indent) + draw(st.sampled_from(["", "\n"]))
    return Written(text.replace('": ', draw(st.sampled_from(['": ', '" : ', '":   ']))), meaning)


@st.composite
def wishes(draw: st.DrawFn, meaning: dict[str, object]) -> Want:
    """Ask for one key, plain or in a section, to be set, added or removed."""
    paths = [
        *(name for name, value in meaning.items() if not isinstance(value, dict)),
        *(f"{n}.{key}" for n, v in meaning.items() if isinstance(v, dict) for key in v),
    ]
    new = ["brand_new", *(f"{n}.brand_new" for n, v in meaning.items() if isinstance(v, dict))]
    name = draw(st.sampled_from([*paths, *new]))
    remove = name in paths and draw(st.booleans())
    return Want("arg", name, None if remove else (draw(values),))


def expected(meaning: dict[str, object], want: Want) -> dict[str, object]:
    """Work out what the file is to mean, by the generated keys alone."""
    out = copy.deepcopy(meaning)
    holder, (*outer, key) = out, want.name.split(".")
    for name in outer:
        holder = holder[name]  # type: ignore[assignment]
    if want.values is not None:
        holder[key] = want.values[0]
        return out
    del holder[key]
    if outer and not holder:
        del out[outer[0]]
    return out


def as_text(value: object) -> object:
    """Give a value as a parser of arguments compares it."""
    if isinstance(value, dict):
        # a section without keys sets nothing
        return {key: as_text(item) for key, item in value.items() if item != {}}
    if isinstance(value, list):
        return as_text(value[0]) if len(value) == 1 else [as_text(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


@ROOMY
@given(data=st.data())
def test_yaml_means_what_was_wanted_and_nothing_else_changed(data: st.DataObject) -> None:
    written = data.draw(yamls())
    want = data.draw(wishes(written.meaning))
    assert yaml.safe_load(written.text) == written.meaning

    after = config_with("x.yaml", written.text, want)

    if after is None:  # nothing is left of the file
        assert want.values is None
        assert len(written.meaning) == 1
        return
    assert as_text(yaml.safe_load(after) or {}) == as_text(expected(written.meaning, want))
    _only_there(written.text, after, want)
    assert config_with("x.yaml", after, want) == after


@ROOMY
@given(data=st.data())
def test_json_means_what_was_wanted_and_nothing_else_changed(data: st.DataObject) -> None:
    written = data.draw(jsons())
    want = data.draw(wishes(written.meaning))

    after = config_with("x.json", written.text, want)

    if after is None:
        assert want.values is None
        assert len(written.meaning) == 1
        return
    assert as_text(json.loads(after)) == as_text(expected(written.meaning, want))
    _only_there(written.text, after, want)
    assert config_with("x.json", after, want) == after


@ROOMY
@given(text=st.text(alphabet="ab:-[]{}\"'&*!|>#, \n\t\r\\x1", max_size=80))
def test_no_text_makes_it_fail(text: str) -> None:
    for body in (text, "seed: 5\n" + text, '{"seed": 5,' + text + "}"):
        for want in (
            Want("arg", "seed", ("7",)),
            Want("arg", "new", ("7",)),
            Want("arg", "a", None),
        ):
            after = config_with("x.yaml", body, want)
            assert after is None or isinstance(after, str)


def _only_there(old: str, new: str, want: Want) -> None:
    """See that one place differs: at most one key with its value went, one came."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    gone, came = old[start : len(old) - end], new[start : len(new) - end]
    if want.name.endswith("brand_new"):
        assert not gone
    if want.values is None:
        assert len(re.findall(r"\w+", came)) <= 1
    assert len(came) <= len(want.name) + 60
