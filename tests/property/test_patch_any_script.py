"""Any script with any change: bash itself starts the command with what was wanted, else as before.

The scripts are generated with what they mean known from the start; bash runs them before and after
with a `swift` that writes down its words and its environment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples import examples
from trainrx.fix.patch import patch_launch, unified_diff
from trainrx.launch.find import find_launches
from trainrx.model.result import Change
from trainrx.shell import read_script

BASH = shutil.which("bash")
NAMES = ("max_length", "lora_rank", "packing", "target_modules", "learning_rate", "seed", "system")
VARIABLES = ("MAX_PIXELS", "NPROC_PER_NODE", "OMP_NUM_THREADS")
ROOMY = settings(
    examples(40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
STUB = """#!/bin/bash
printf 'run\\0' >> "$SEEN"
printf 'word %s\\0' "$@" >> "$SEEN"
for name in MAX_PIXELS NPROC_PER_NODE OMP_NUM_THREADS; do
  if [[ -v $name ]]; then printf 'env %s=%s\\0' "$name" "${!name}" >> "$SEEN"; fi
done
"""


class Written(NamedTuple):
    """A script, and the arguments and variables its command gets."""

    text: str
    args: dict[str, tuple[str, ...]]
    env: dict[str, str]


words = st.sampled_from(["2048", "1e-4", "true", "q_proj", "a/b.c", "x:y", "all-linear", "p=q"])
phrases = st.sampled_from(["a b", "it's", 'say "x"', "50%", "cost$", "a;b", "zh 中文", "*"])


@st.composite
def scripts(draw: st.DrawFn) -> Written:
    """Write a script in one of many styles."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    args = {name: tuple(draw(st.lists(words, max_size=2))) for name in names}
    env = {
        name: draw(st.sampled_from(["1", "0,1", "602112"]))
        for name in draw(st.lists(st.sampled_from(VARIABLES), max_size=2, unique=True))
    }
    front: list[str] = []
    flags = [_flag(draw, name, values, front) for name, values in args.items()]
    body = draw(
        st.sampled_from(
            [_plain, _continued, _array, _in_variable, _in_string, _in_function, _in_branch]
        )
    )
    command = body(draw, flags, front)
    command = _with_env(draw, env, command, front)
    noise = draw(st.sampled_from(["", "# a comment with --seed 5\n", "set -e\n", "echo start\n\n"]))
    behind = draw(
        st.sampled_from(["", "\n", "\necho done\n", "\n# swift sft --seed 9\n", " 2>&1\n"])
    )
    lines = [draw(st.sampled_from(["", "#!/bin/bash\n"])), noise, *front, command, behind]
    return Written("".join(lines), args, env)


def _flag(draw: st.DrawFn, name: str, values: tuple[str, ...], front: list[str]) -> str:
    quote = draw(st.sampled_from(["", "'", '"']))
    shown = [f"{quote}{value}{quote}" for value in values]
    if len(values) == 1:
        how = draw(st.sampled_from(["word", "equals", "variable", "braces", "default"]))
        if how == "equals":
            return f"--{name}={shown[0]}"
        if how in ("variable", "braces"):
            front.append(f"V_{name}={shown[0]}\n")
            return f"--{name} " + (f"$V_{name}" if how == "variable" else f'"${{V_{name}}}"')
        if how == "default":
            return f"--{name} ${{U_{name}:-{values[0]}}}"
    return " ".join([f"--{name}", *shown])


def _plain(_draw: st.DrawFn, flags: list[str], _front: list[str]) -> str:
    return f"swift sft {' '.join(flags)}"


def _continued(draw: st.DrawFn, flags: list[str], _front: list[str]) -> str:
    indent = draw(st.sampled_from(["  ", "    ", "\t", ""]))
    first = draw(st.booleans())
    gap = f" \\\n{indent}"
    return f"swift sft{' ' if first else gap}{gap.join(flags)}"


def _array(draw: st.DrawFn, flags: list[str], front: list[str]) -> str:
    comment = draw(st.sampled_from(["", "  # why"]))
    lines = "".join(f"  {flag}{comment}\n" for flag in flags)
    front.append(draw(st.sampled_from([f"ARGS=(\n{lines})\n", f"ARGS=({' '.join(flags)})\n"])))
    return 'swift sft "${ARGS[@]}"'


def _in_variable(draw: st.DrawFn, flags: list[str], front: list[str]) -> str:
    if any(c in flag for flag in flags for c in "\"'$"):
        return _plain(draw, flags, front)
    joint = draw(st.sampled_from([" ", " \\\n    ", "\n  "]))
    front.append(f'OPTS="{joint.join(flags)}"\n')
    return "swift sft $OPTS"


def _in_string(draw: st.DrawFn, flags: list[str], front: list[str]) -> str:
    if any(c in flag for flag in flags for c in "\"'$"):
        return _continued(draw, flags, front)
    return f'bash -c "swift sft {" ".join(flags)}"'


def _in_function(_draw: st.DrawFn, flags: list[str], front: list[str]) -> str:
    front.append('train() {\n  swift sft "$@"\n}\n')
    return f"train {' '.join(flags)}"


def _in_branch(draw: st.DrawFn, flags: list[str], front: list[str]) -> str:
    front.append("GO=1\n")
    inner = _continued(draw, flags, front)
    return f'eval "if true; then echo; fi"\nif [ $GO = 1 ]; then\n  {inner}\nfi'


def _with_env(draw: st.DrawFn, env: dict[str, str], command: str, front: list[str]) -> str:
    how = draw(st.sampled_from(["prefix", "lines", "export", "env"]))
    if not command.startswith(("swift", "bash")):
        how = "export"
    pairs = [f"{name}={value}" for name, value in env.items()]
    if how == "export":
        front += [f"export {pair}\n" for pair in pairs]
        return command
    if how == "env":
        return " ".join(["env", *pairs, command]) if pairs else command
    joint = " " if how == "prefix" else " \\\n"
    return "".join(pair + joint for pair in pairs) + command


@st.composite
def changes(draw: st.DrawFn, written: Written) -> Change:
    """Ask for one thing."""
    kind = draw(st.sampled_from(["set", "add", "remove", "env", "env-remove", "rename"]))
    value = draw(st.one_of(st.just("77001"), st.just("true"), phrases))
    if kind in ("env", "env-remove"):
        name = draw(st.sampled_from(VARIABLES))
        to = None if kind == "env-remove" else value
        return Change(
            kind="env",
            param=name,
            canonical="",
            action="set" if to else "remove",
            to=to,
            spelled=f"{name}={to}",
        )
    if kind == "rename":
        old = draw(st.sampled_from(sorted(written.args)))
        return Change(
            kind="arg",
            param=f"right_{old}",
            canonical="",
            action="switch",
            from_=old,
            to=f"right_{old}",
            spelled=f"right_{old}",
        )
    name = "new_name" if kind == "add" else draw(st.sampled_from(sorted(written.args)))
    to = None if kind == "remove" else value
    action = "set" if to else "remove"
    return Change(kind="arg", param=name, canonical="", action=action, to=to, spelled="")


class Seen(NamedTuple):
    """What the command got when bash ran the script."""

    args: dict[str, tuple[str, ...]]
    env: dict[str, str]


def run(text: str, folder: Path) -> Seen:
    """Run a script with a `swift` that notes its words."""
    seen = folder / "seen"
    seen.unlink(missing_ok=True)
    if not (folder / "swift").exists():
        (folder / "swift").write_text(STUB)
        (folder / "swift").chmod(0o755)
    done = subprocess.run(
        ["bash", "-s"],
        check=False,
        input=text.encode(),
        capture_output=True,
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin", "SEEN": str(seen), "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, (done.stderr, text)
    args: dict[str, tuple[str, ...]] = {}
    env: dict[str, str] = {}
    name = ""
    lines = seen.read_bytes().decode().split("\0")[:-1]
    assert lines.count("run") == 1
    for line in lines[1:]:
        kind, _, shown = line.partition(" ")
        if kind == "env":
            key, _, env[key] = shown.partition("=")
        elif flag := re.fullmatch(r"--(\w+)(?:=(.*))?", shown, re.DOTALL):
            name = flag[1]
            assert name not in args
            args[name] = () if flag[2] is None else (flag[2],)
        elif name:
            args[name] += (shown,)
    return Seen(args, env)


def expected(written: Written, wanted: Change) -> Seen:
    """Work out what the command is to get, from what was generated alone."""
    args, env = dict(written.args), dict(written.env)
    if wanted.kind == "env":
        env.pop(wanted.param, None)
        if wanted.to is not None:
            env[wanted.param] = wanted.to
    elif wanted.action == "switch":
        args[wanted.param] = args.pop(wanted.from_ or "")
    elif wanted.to is None:
        del args[wanted.param]
    else:
        args[wanted.param] = (wanted.to,)
    return Seen(args, env)


def patch(text: str, *wanted: Change) -> str:
    """Give the patched script, as it was where a change found no place."""
    script = read_script(text, "run.sh")
    done = patch_launch(find_launches(script)[0], script, {"run.sh": text}, wanted)
    return done.files[0].after if done.files else text


@pytest.mark.skipif(BASH is None, reason="bash runs the scripts")
@ROOMY
@given(data=st.data())
def test_bash_starts_the_command_with_exactly_what_was_wanted(
    data: st.DataObject, tmp_path: Path
) -> None:
    written = data.draw(scripts())
    wanted = data.draw(changes(written))
    assert run(written.text, tmp_path) == Seen(written.args, written.env)

    script = read_script(written.text, "run.sh")
    launch = find_launches(script)[0]
    done = patch_launch(launch, script, {"run.sh": written.text}, [wanted])

    after = done.files[0].after if done.files else written.text
    meant = expected(written, wanted)
    # a switch that is on already needs no value
    if wanted.kind == "arg" and wanted.to == "true" and after == written.text:
        meant = Seen(written.args, written.env)
    found = run(after, tmp_path)
    assert found == (Seen(written.args, written.env) if done.left else meant)
    # what is left is what these scripts cannot hold: a phrase within the quotes of another
    assert not done.left or wanted.to not in ("77001", "true", None)


@pytest.mark.skipif(BASH is None, reason="bash runs the scripts")
@ROOMY
@given(data=st.data())
def test_several_changes_are_made_one_after_the_other(data: st.DataObject, tmp_path: Path) -> None:
    written = data.draw(scripts())
    one = changes(written).filter(lambda wanted: wanted.to != "true")
    wanted = data.draw(st.lists(one, min_size=2, max_size=4, unique_by=_of))

    script = read_script(written.text, "run.sh")
    launch = find_launches(script)[0]
    done = patch_launch(launch, script, {"run.sh": written.text}, wanted)

    meant = Seen(written.args, written.env)
    left = [item.change for item in done.left]
    for item in wanted:
        if item not in left:
            meant = expected(Written("", *meant), item)
    assert run(done.files[0].after if done.files else written.text, tmp_path) == meant
    assert all(item.to not in ("77001", None) for item in left)


@ROOMY
@given(data=st.data())
def test_nothing_but_the_place_of_the_change_is_different(data: st.DataObject) -> None:
    written = data.draw(scripts())
    wanted = data.draw(changes(written))

    after = patch(written.text, wanted)

    old, new = _middle(written.text, after)
    name, value = re.escape(wanted.param), re.escape(wanted.to or "")
    blank = r"[\s\\]*"
    known = {"export", "env", wanted.param, wanted.from_ or ""}
    given_words = set(re.findall(r"\w+", old)) - known
    own = written.env.get(wanted.param) if wanted.kind == "env" else None
    shown = " ".join([*(written.args.get(wanted.param, ())), own or "", wanted.param])
    assert given_words <= set(re.findall(r"\w+", shown)) | {f"V_{name}", f"U_{name}"}
    if wanted.to is None:
        assert re.fullmatch(blank, new)
    assert len(new) <= len(value) + 60


@ROOMY
@given(data=st.data())
def test_line_ends_of_windows_are_kept_and_the_rest_is_the_same(data: st.DataObject) -> None:
    written = data.draw(scripts())
    wanted = data.draw(changes(written))

    after = patch(written.text.replace("\n", "\r\n"), wanted)

    assert "\n" not in after.replace("\r\n", "")


@ROOMY
@given(data=st.data())
def test_same_changes_again_change_nothing_more(data: st.DataObject) -> None:
    written = data.draw(scripts())
    wanted = data.draw(st.lists(changes(written), min_size=1, max_size=3, unique_by=_about))
    once = patch(written.text, *wanted)

    again = patch(once, *wanted)

    assert again == once


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch applies the diff")
@ROOMY
@given(data=st.data())
def test_diff_of_any_change_is_applied_by_patch(data: st.DataObject, tmp_path: Path) -> None:
    written = data.draw(scripts())
    wanted = data.draw(changes(written))
    script = read_script(written.text, "run.sh")
    done = patch_launch(find_launches(script)[0], script, {"run.sh": written.text}, [wanted])
    place = tmp_path / "run.sh"
    place.write_bytes(written.text.encode())

    if done.files:
        diff = unified_diff(done).encode()
        subprocess.run(["patch", "-p1", "--silent"], input=diff, cwd=tmp_path, check=True)

    assert place.read_bytes().decode() == (done.files[0].after if done.files else written.text)


@ROOMY
@given(text=st.text(alphabet="sw if\\\n\t\"'$(){}<>|&;#-=xA1 \r", max_size=200))
def test_no_text_makes_it_fail(text: str) -> None:
    whole = f"{text}\nswift sft --model m --max_length 5\n"
    script = read_script(whole, "run.sh")
    wanted = [
        Change(kind="arg", param="max_length", canonical="", action="set", to="4", spelled=""),
        Change(kind="env", param="A", canonical="", action="add", to="4", spelled="A=4"),
    ]

    for launch in find_launches(script)[:1]:
        done = patch_launch(launch, script, {"run.sh": whole}, wanted)
        assert len(done.files) <= 1


def _of(wanted: Change) -> str:
    return wanted.from_ or wanted.param


def _about(wanted: Change) -> tuple[str, str]:
    """Two changes of one thing contradict one another, and so do a new name and the old one."""
    return ("arg", "") if wanted.kind == "arg" else ("env", wanted.param)


def _middle(old: str, new: str) -> tuple[str, str]:
    """Cut off the words that two texts begin and end with."""
    one, other = (re.findall(r"\s+|[\"'()]|[^\s\"'()]+", text) for text in (old, new))
    while one and other and one[-1] == other[-1]:
        del one[-1], other[-1]
    while one and other and one[0] == other[0]:
        del one[0], other[0]
    return "".join(one), "".join(other)
