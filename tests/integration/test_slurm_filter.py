"""The filter for Slurm's command line, run by the Lua releases Slurm is built with."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("lupa")

FILTER = Path(__file__).parents[2] / "integrations" / "slurm" / "cli_filter.lua"
GOOD = "#!/bin/bash\nswift sft --model m --dataset d --lora_rank 8\n"
BAD = GOOD.replace("rank", "rnak")
SUCCESS, ERROR = 0, -1
LUAS = ("lua51", "lua52", "lua53", "lua54")
FAILING = ("no-such-program", "exit 1;", "exit 2;", "sleep 50;", "kill -SEGV $$;")
NAMES = ("log_error", "log_info", "log_verbose")


class Pipe:
    """What `io.popen` gives: the Lua releases at hand are built without it."""

    def __init__(self, command: str) -> None:
        self._done = subprocess.run(
            ["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True, check=False
        )

    def read(self, what: str) -> str:
        assert what == "*a"
        return self._done.stdout

    def close(self) -> None:
        self._done = None


class Slurm:
    """The table `slurm` of the plugin, and the three functions it asks for."""

    def __init__(self, name: str) -> None:
        self.lua = import_module(f"lupa.{name}").LuaRuntime()
        self.said: list[tuple[str, str]] = []
        make = self.lua.eval(
            "function(tell) return {SUCCESS = 0, ERROR = -1,"
            + ",".join(f"{n} = function(...) tell('{n}', string.format(...)) end" for n in NAMES)
            + "} end"
        )
        self.lua.globals().slurm = make(lambda level, text: self.said.append((level, text)))
        bind = self.lua.eval(
            "function(make) io.popen = function(command) local pipe = make(command)"
            " return {read = function(_, what) return pipe.read(what) end,"
            " close = function() pipe.close() end} end end"
        )
        bind(Pipe)
        self.lua.execute(FILTER.read_text(encoding="utf-8"))

    def submit(self, kind: str = "sbatch", offset: float = 0.0, argv=(), **options) -> int:
        table = self.lua.table_from({"type": kind, **options})
        table.argv = self.lua.table_from([str(word) for word in argv])
        return int(self.lua.globals().slurm_cli_pre_submit(table, offset))

    def levels(self) -> set[str]:
        return {level for level, _ in self.said}


@pytest.fixture(params=LUAS)
def slurm(request, monkeypatch):
    monkeypatch.setenv("TRAINRX_LINT", f"{Path(sys.executable).parent / 'diagnose'} lint")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return Slurm(request.param)


@pytest.fixture
def scripts(tmp_path):
    (tmp_path / "good.sh").write_text(GOOD)
    (tmp_path / "it's bad.sh").write_text(BAD)
    return tmp_path


def test_a_script_without_errors_is_submitted(slurm, scripts):
    assert slurm.submit(argv=[scripts / "good.sh", "--x"]) == SUCCESS
    assert slurm.said == []


def test_a_script_with_errors_is_refused(slurm, scripts):
    assert slurm.submit(argv=[scripts / "it's bad.sh"]) == ERROR
    assert slurm.levels() == {"log_info", "log_error"}
    assert any("did you mean --lora_rank?" in text for _, text in slurm.said)


@pytest.mark.parametrize(("word", "status"), [("rank", SUCCESS), ("rnak", ERROR)])
def test_a_wrapped_command_is_checked(slurm, word, status):
    wrapped = f"swift sft --model 'm%s' --dataset d --lora_{word} 8"

    assert slurm.submit(wrap=wrapped) == status


@pytest.mark.parametrize(
    "job",
    [
        {"kind": "srun", "argv": ["it's bad.sh"]},
        {"kind": "salloc"},
        {"argv": ["it's bad.sh"], "offset": 1.0},
        {"argv": ["missing.sh"]},
        {},
    ],
)
def test_what_is_no_batch_script_is_left_alone(slurm, scripts, job):
    job = {**job, "argv": [scripts / name for name in job.get("argv", ())]}

    assert slurm.submit(**job) == SUCCESS


def test_it_is_skipped_on_demand(slurm, scripts, monkeypatch):
    monkeypatch.setenv("TRAINRX_SKIP", "1")

    assert slurm.submit(argv=[scripts / "it's bad.sh"]) == SUCCESS


@pytest.mark.parametrize("name", LUAS)
@pytest.mark.parametrize("check", FAILING)
def test_a_check_that_fails_stops_nothing(scripts, monkeypatch, name, check):
    program = scripts / "check"
    program.write_text(f"#!/bin/sh\n{check}\n")
    program.chmod(0o755)
    monkeypatch.setenv("TRAINRX_LINT", str(program) if ";" in check else check)
    monkeypatch.setenv("TRAINRX_TIMEOUT", "0.3")
    slurm = Slurm(name)

    assert slurm.submit(argv=[scripts / "it's bad.sh"]) == SUCCESS
    assert slurm.levels() == {"log_verbose"}


@pytest.mark.parametrize("name", LUAS)
def test_an_error_of_the_filter_itself_stops_nothing(name):
    slurm = Slurm(name)

    assert int(slurm.lua.globals().slurm_cli_pre_submit(None, 0)) == SUCCESS


def test_the_functions_slurm_asks_for_are_there(slurm):
    there = slurm.lua.globals()

    assert int(there.slurm_cli_setup_defaults(slurm.lua.table(), True)) == SUCCESS
    assert int(there.slurm_cli_post_submit(0, 7, 1)) == SUCCESS
