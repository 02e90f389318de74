"""Speed of reading a launch: catalog loads, a 40-flag script resolved, whole processes.

    python benchmarks/resolve.py [--runs 9]

Beside each figure stands that of a named peer on the same machine in the same run; compare the
ratios, not the milliseconds. Each load and each first call is in a process of its own; imports are
not counted in them. Every script's flags must be found, resolved and known, else this exits 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import yaml
from resolve_scripts import FLAGS, SCRIPTS, Launch, script

from trainrx.catalog.catalog import catalog
from trainrx.knowledge.load import load
from trainrx.knowledge.places import data_folder
from trainrx.launch.find import find_launches
from trainrx.launch.resolve import resolve
from trainrx.model.parts import Param
from trainrx.shell import read_script

DIAGNOSE = str(Path(sys.executable).with_name("diagnose"))
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = (
    ROOT / "examples" / "01-vl7b-grpo-2xA800-80g" / "launch.sh",
    ROOT / "examples" / "01-vl7b-grpo-8xA30-24g" / "launch.sh",
)
CATALOG_MS = 15
SCRIPT_MS = 10


def median(run: Callable[[], object], runs: int) -> float:
    """Give the median time of some calls, milliseconds."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1e3


def read(launch: Launch, framework: str) -> dict[str, object]:
    """Resolve a launch once; gives the milliseconds, the catalogs' load apart, and what came."""
    import tree_sitter_bash  # noqa: F401  # an import too, put off until the first script

    params = load(launches=True).params
    text = script(launch)
    start = time.perf_counter()
    parents = catalog(framework).contents.inherits.values()
    for package in {parent.package for found in parents for parent in found}:
        catalog(package)
    loaded = time.perf_counter()
    found = find_launches(read_script(text, "launch.sh"))
    resolved = resolve(found[0], params=params, versions={framework: launch.version})
    done = time.perf_counter()
    return {
        "catalogs": (loaded - start) * 1e3,
        "ms": (done - loaded) * 1e3,
        "framework": found[0].framework,
        "flags": len(found[0].args),
        "unknown": [arg.name for arg in resolved.unknown_flags],
        "arguments": len(resolved.arguments),
    }


def load_catalog(package: str) -> dict[str, object]:
    """Load a catalog once."""
    start = time.perf_counter()
    found = catalog(package)
    took = (time.perf_counter() - start) * 1e3
    return {"ms": took, "releases": len(found.releases)}


def load_json(package: str) -> dict[str, object]:
    """Read the same file line by line with `json`."""
    path = Path(data_folder("catalogs")) / f"{package}.jsonl"
    start = time.perf_counter()
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {"ms": (time.perf_counter() - start) * 1e3, "rows": len(rows)}


def fresh(task: str, name: str) -> dict[str, object]:
    """Run one task in a process of its own."""
    command = [sys.executable, __file__, "--task", task, name]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment())
    answer: dict[str, object] = json.loads(ran.stdout)
    return answer


def middle(answers: Sequence[dict[str, object]], key: str = "ms") -> float:
    """Give the median of a figure of some answers."""
    return statistics.median(float(str(answer[key])) for answer in answers)


def catalogs(runs: int) -> bool:
    """Time the catalogs; True when each was loaded."""
    print(
        f"{'catalog load':14} {'ms':>6} {'json ms':>8} {'x json':>7} {'yaml ms':>8} {'x yaml':>7}"
    )
    good = True
    for package in (*SCRIPTS, "transformers"):
        pairs = [(fresh("catalog", package), fresh("json", package)) for _ in range(runs)]
        good &= all(own["releases"] for own, _ in pairs)
        own, peer = middle([one for one, _ in pairs]), middle([one for _, one in pairs])
        slow = as_yaml(package)
        row = f"{own:6.1f} {peer:8.1f} {own / peer:7.2f} {slow:8.0f} {own / slow:7.3f}"
        print(f"{package:14} {row}")
    print(f"(target: {CATALOG_MS} ms)\n")
    return good


def as_yaml(package: str) -> float:
    """Give the milliseconds PyYAML takes for the data of a catalog, in C where it can."""
    path = Path(data_folder("catalogs")) / f"{package}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = yaml.dump(rows, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return median(lambda: yaml.load(text, loader), 1)  # noqa: S506  # a safe loader


def scripts(runs: int) -> bool:
    """Time reading and resolving; True when all flags were found and known."""
    print(
        f"{'40-flag script':14} {'first ms':>9} {'+catalogs':>9} {'again ms':>9} {'bash -n':>8} "
        f"{'shlex':>6} {'safe_load':>9} {'first/bash':>10} {'again/bash':>10}"
    )
    params = load(launches=True).params
    good = True
    for framework, launch in SCRIPTS.items():
        firsts = [fresh("script", framework) for _ in range(runs)]
        problem = wrong(firsts[0], framework)
        good &= not problem
        again = median(partial(resolved, launch, framework, params), 3 * runs)
        first, loads = middle(firsts), middle(firsts, "catalogs")
        bash, split, plain = beside(launch, runs)
        print(
            f"{framework:14} {first:9.1f} {loads:9.1f} {again:9.1f} {bash:8.1f} {split:6.1f} "
            f"{plain:9.1f} {first / bash:10.2f} {again / bash:10.2f}{problem}"
        )
    print(f"(target: {SCRIPT_MS} ms)\n")
    return good


def resolved(launch: Launch, framework: str, params: dict[str, Param]) -> None:
    """Read and resolve a launch."""
    for found in find_launches(read_script(script(launch), "launch.sh")):
        resolve(found, params=params, versions={framework: launch.version})


def beside(launch: Launch, runs: int) -> tuple[float, float, float]:
    """Time `bash -n`, `shlex.split` and, of the same settings as YAML, `yaml.safe_load`."""
    text = script(launch)
    config = "\n".join(word.replace("=", ": ", 1) for word in launch.flags.split() if "=" in word)
    bash = median(
        lambda: subprocess.run(["/bin/bash", "-n"], input=text.encode(), check=True), runs
    )
    split = median(lambda: shlex.split(text, comments=True), runs)
    return bash, split, median(lambda: yaml.safe_load(config), runs)


def wrong(seen: dict[str, object], framework: str) -> str:
    """Say what is wrong with an answer, "" when nothing is."""
    if seen["framework"] != framework:
        return f"  WRONG: read as {seen['framework']!r}"
    if seen["flags"] != FLAGS:
        return f"  WRONG: {seen['flags']} flags"
    if seen["unknown"]:
        return f"  WRONG: not known: {seen['unknown']}"
    return "" if int(str(seen["arguments"])) >= FLAGS else "  WRONG: arguments are missing"


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def processes(runs: int) -> bool:
    """Time whole processes, taking turns; True when each ended as it should."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "launch.sh"
        at.write_text(script(SCRIPTS["ms-swift"]), encoding="utf-8")
        good, bad = map(str, EXAMPLES)
        versions = "ms-swift==3.2.1"
        commands: dict[str, tuple[list[str], int]] = {
            'python -c "import typer"': ([sys.executable, "-c", "import typer"], 0),
            "diagnose inspect": ([DIAGNOSE, "inspect", str(at), "--versions", versions], 0),
            "diagnose diff": ([DIAGNOSE, "diff", good, bad, "--versions-good", versions], 1),
            "diagnose --cmd": ([DIAGNOSE, "--cmd", str(at)], 0),
        }
        took, right = _turns(commands, runs)
    peer = statistics.median(took['python -c "import typer"'])
    print(f"{'process':32} {'median ms':>10} {'x import typer':>15}")
    for name, seconds in took.items():
        usual = statistics.median(seconds)
        print(f"{name:32} {usual * 1e3:10.0f} {usual / peer:15.2f}")
    return right


def _turns(
    commands: dict[str, tuple[list[str], int]], runs: int
) -> tuple[dict[str, list[float]], bool]:
    environment = _environment()
    took: dict[str, list[float]] = {name: [] for name in commands}
    right = True
    for turn in range(runs + 1):
        for name, (command, status) in commands.items():
            start = time.perf_counter()
            ran = subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
            if turn:  # the first turn fills the caches
                took[name].append(time.perf_counter() - start)
            right &= ran.returncode == status
    return took, right


def main() -> int:
    """Run the comparison; 1 when an answer is wrong."""
    parser = argparse.ArgumentParser(description="speed of reading a launch")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        task, name = options.task
        if task == "script":
            print(json.dumps(read(SCRIPTS[name], name)))
        else:
            print(json.dumps(load_catalog(name) if task == "catalog" else load_json(name)))
        return 0
    results = [catalogs(options.runs), scripts(options.runs), processes(options.runs)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
