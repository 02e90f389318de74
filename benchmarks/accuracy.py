"""Run the command line on labelled cases and say how often it names what worked.

    python benchmarks/accuracy.py tests/cases/threads/SET... [--all] [--no-note] [--told WAY]
        [--since DATE] [--misses] [--json OUT]

A case is a YAML file: what a person had (framework, cmd, config, env, log, versions, hardware,
observed) and what the thread says (symptom: the family; fixes: what worked). By default only cases
whose label is strict count: `confidence` confirmed, maintainer or reporter. Printed are

    symptom   the family of the first cause (if none: of the first root symptom) is the label
    hit@k     a fix that worked stands among the changes of the first k causes: the same parameter,
              variable or package. A change that writes NEW instead of OLD is the same as a label
              that sets NEW "in place of OLD", where the answer carries both names.
              Advice in prose, and what is in place already, do not count.
    Brier     mean of (probability of the first cause - hit@1)^2, 0 where no cause is named
    likely    how many first causes are called likely; right: of these, those whose changes hold a
              fix that worked, and their share (precision); wrong: the others

the same for cases before and since a date (--since; else the one that halves them).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml
from accuracy_table import Outcome, missed, table

from trainrx.catalog.framework_choice import known_names
from trainrx.knowledge.load import load

RETOLD = Path(__file__).resolve().parents[1] / "tests" / "cases" / "notes" / "retold.jsonl"
STRICT = ("confirmed", "maintainer", "reporter")
REPEATED = ("config", "log")
NUMBERS = ("gpus", "nodes")
NO_VALUE = ("", "null", "none")
IN_PLACE_OF = re.compile(r"\bin place of ([\w.-]+)")


def main() -> int:
    """Run, print, and give 1 when a case could not be run at all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--all", action="store_true", help="inferred labels too")
    parser.add_argument("--no-note", action="store_true", help="without what the user saw")
    parser.add_argument(
        "--told", choices=("same", "other"), help="notes in other words, or in the other language"
    )
    parser.add_argument("--since", metavar="DATE", help="where newer cases begin: 2026-04-01")
    parser.add_argument("--misses", action="store_true", help="list the cases that are not hit@3")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    said = parser.parse_args()
    cases = [case for folder in said.folders for case in read_cases(folder, strict=not said.all)]
    if said.told:
        cases = retold(cases, said.told)
    if not cases:
        print("no case (*.yaml with the keys symptom and fixes)", file=sys.stderr)
        return 2
    names = Names()
    with ThreadPoolExecutor(said.jobs) as pool:
        answers = list(pool.map(lambda case: run(case, note=not said.no_note), cases))
    found = [judge(case, answer, names) for case, answer in zip(cases, answers, strict=True)]
    print("\n".join(table(found, said.since)))
    if said.misses:
        print("\n".join(missed(item) for item in found if not (item.hit[1] and item.symptom)))
    if said.json:
        said.json.write_text(json.dumps([item._asdict() for item in found], indent=1))
    return 0


def read_cases(folder: Path, *, strict: bool) -> list[dict[str, Any]]:
    """Read the cases of a folder in the order of their names."""
    read = (yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yaml")))
    cases = [case for case in read if isinstance(case, dict) and "symptom" in case]
    cases = [case | {"set": folder.name} for case in cases]
    return [case for case in cases if not strict or case.get("confidence") in STRICT]


def retold(cases: Iterable[dict[str, Any]], way: str) -> list[dict[str, Any]]:
    """Give the cases whose notes were told again, with those notes: what hangs on their wording."""
    told = {told["id"]: told for told in map(json.loads, RETOLD.read_text().splitlines())}
    return [{**case, "observed": told[case["id"]][way]} for case in cases if case["id"] in told]


def run(case: dict[str, Any], *, note: bool) -> dict[str, Any]:
    """Give a case to `diagnose --format json` as its reporter could have."""
    with tempfile.TemporaryDirectory() as name:
        words = arguments(case, Path(name), note=note)
        command = [sys.executable, "-m", "trainrx.cli", *words, "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:  # refused its input: nothing is answered
        print(f"{case['id']}: {done.stderr.strip()}", file=sys.stderr)
        return {"symptoms": [], "causes": [], "verdict": "unknown"}
    if done.returncode or not done.stdout:
        raise RuntimeError(f"{case['id']}: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def arguments(case: dict[str, Any], folder: Path, *, note: bool) -> list[str]:
    """Write the inputs of a case below a folder and give the words of the command line."""
    words: list[str] = []
    for option, name, text in _texts(case):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        words += [option, str(path)]
    hardware = case.get("hardware") or {}
    card = hardware.get("gpu") or (hardware.get("gpu_mem_gib") and f"{hardware['gpu_mem_gib']}GiB")
    words += ["--gpu", str(card)] if card else []
    framework = case["framework"]
    words += ["--framework", framework] if framework in known_names() else []
    for key in ("gpus", "nodes"):
        words += [f"--{key}", str(hardware[key])] if hardware.get(key) else []
    return [*words, "--note", case["observed"]] if note and case.get("observed") else words


def asked(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Give the inputs of a case as `trainrx.diagnose` takes them, their files below a folder."""
    words = arguments(case, folder, note=True)
    given: dict[str, Any] = {}
    for option, text in zip(words[::2], words[1::2], strict=True):
        name = option.removeprefix("--")
        if name in REPEATED:
            given.setdefault("logs" if name == "log" else name, []).append(text)
        else:
            given[name] = int(text) if name in NUMBERS else text
    return given


def _texts(case: dict[str, Any]) -> Iterable[tuple[str, str, str]]:
    versions = {name: str(text) for name, text in (case.get("versions") or {}).items()}
    framework = case["framework"]
    if case.get("framework_version"):
        versions.setdefault(framework, re.sub(r"\.x$", "", str(case["framework_version"])))
    if (case.get("cmd") or "").strip():
        yield "--cmd", "launch.sh", case["cmd"]
    for name, text in (case.get("config") or {}).items():
        yield "--config", f"configs/{name}", text
    if case.get("env"):
        yield "--env", "job.env", "".join(f"{k}={v}\n" for k, v in case["env"].items())
    if versions:
        yield "--versions", "versions.txt", "".join(f"{k}=={v}\n" for k, v in versions.items())
    if (case.get("log") or "").strip():
        yield "--log", "train.log", case["log"]


class Names:
    """Which canonical parameters a spelling means."""

    def __init__(self) -> None:
        self._canonical: dict[str, set[str]] = {}
        for param in load().params.values():
            for spelling in (one for many in param.spelled.values() for one in many):
                for name in (spelling.arg, spelling.env, *spelling.also):
                    self._canonical.setdefault(plain(name), set()).add(param.id)

    def of(self, name: str) -> set[str]:
        """Give all parameters a name, in full or its last part, stands for."""
        full = plain(name)
        return self._canonical.get(full, set()) | self._canonical.get(_last(full), set())


def plain(name: str) -> str:
    """Write a name without dashes in front, lower case, with underscores."""
    return name.strip().lstrip("-").lower().replace("-", "_")


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def judge(case: dict[str, Any], answer: dict[str, Any], names: Names) -> Outcome:
    """Compare an answer with the label."""
    causes = answer["causes"]
    roots = [s["family"] for s in answer["symptoms"] if s["family"] and not s.get("echo_of")]
    named = causes[0]["family"] if causes else (roots[0] if roots else "")
    hits = tuple(any(holds(c, case["fixes"], names) for c in causes[:k]) for k in (1, 3))
    return Outcome(
        case=case["id"],
        set=case.get("set", ""),
        date=str(case.get("date") or ""),
        family=case["symptom"],
        named=named,
        verdict=answer["verdict"],
        likely=bool(causes) and causes[0]["verdict"] == "likely",
        probability=causes[0]["probability"] if causes else 0.0,
        symptom=named == case["symptom"],
        hit=(hits[0], hits[1]),
        causes=tuple(f"{c['id']}:{c['probability']:.2f}" for c in causes[:3]),
    )


def holds(cause: dict[str, Any], fixes: Iterable[dict[str, Any]], names: Names) -> bool:
    """Tell whether one of the fixes that worked stands among the changes of a cause."""
    changes = [change for fix in cause["fixes"] for change in fix["changes"]]
    return any(_same(fix, change, names) for fix in fixes for change in changes)


def _same(fix: dict[str, Any], change: dict[str, Any], names: Names) -> bool:
    wanted, offered = plain(str(fix["param"])), plain(change["param"])
    if wanted == offered or _last(wanted) == _last(offered):
        return True
    if _is_renaming(fix, change):
        return True
    return bool(change["canonical"]) and change["canonical"] in names.of(wanted)


def _is_renaming(fix: dict[str, Any], change: dict[str, Any]) -> bool:
    """Tell whether both write the same new name instead of the same old one."""
    told = IN_PLACE_OF.search(str(fix.get("value") or ""))
    if told is None or change["action"] != "switch" or not change["to"]:
        return False
    names = plain(str(fix["param"])), plain(told[1])
    return names == (plain(change["to"]), plain(change["param"]))


if __name__ == "__main__":
    sys.exit(main())
