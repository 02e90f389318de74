"""What hostile or broken inputs cost a whole process, and what it says of them.

    python benchmarks/budgets.py [NAME ...] [--folder DIR]

Each input is made, `diagnose` is run on it as a child, and what the system counted for the child is
printed beside the last reason it gives. An input passes below 2 s of the processor and 300 MiB,
with no traceback and with what was left out named. Inputs of this size are too slow for tests,
where the same limits hold on small ones.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import zstandard

MOST_SECONDS, MOST_MEBIBYTES = 2.0, 300
PATIENCE = 30
"""Seconds of the processor after which a run is ended."""
MIB = 1 << 20
SCRIPT = "swift sft --model Qwen/Qwen2.5-7B --dataset a.jsonl\n"
ERROR = b"RuntimeError: CUDA error: an illegal memory access was encountered\n"
SYMPTOM = """\
schema: 1
id: own-{name}
role: failure
family: crash_other
title: {{en: x, zh: x}}
since: 0.1.0
updated: "2026-11-23"
patterns:
  - needle: "x "
    regex: '{regex}'
samples: {{match: [x aa, x aaa], near_miss: [y, z]}}
"""

Build = Callable[[Path], list[str]]
"""Makes an input in a folder and gives the arguments of `diagnose`."""
Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
CASES: dict[str, Build] = {}


class Outcome(NamedTuple):
    """What a run took, and what it said."""

    seconds: float
    mebibytes: float
    said: str
    sound: bool


def case(name: str) -> Callable[[Build], Build]:
    """Register an input."""

    def register(build: Build) -> Build:
        CASES[name] = build
        return build

    return register


def log(name: str, data: Callable[[], bytes]) -> None:
    """Register a log."""

    def build(folder: Path) -> list[str]:
        (folder / "train.log").write_bytes(data())
        return ["--log", str(folder / "train.log")]

    CASES[name] = build


def tar_of(entries: Iterator[tuple[str, bytes]], path: Path, pack: Pack = gzip.compress) -> None:
    """Pack members as tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    path.write_bytes(pack(out.getvalue()))


def steps(count: int) -> Iterator[bytes]:
    """Give lines of a log as a training prints them."""
    for step in range(count):
        loss = 0.5 + zlib.crc32(b"%d" % step) % 20_000 / 10_000
        yield (
            b"{'loss': %.4f, 'grad_norm': %.4f, 'learning_rate': 1e-05, 'memory(GiB)': 60.17, "
            b"'train_speed(iter/s)': 0.031, 'epoch': 0.02, 'global_step/max_steps': '%d/100000'}\n"
            % (loss, loss * 3, step)
        )


log("64 KB of digits", lambda: b"1" * (64 << 10))
log("digits and % signs, 1 MB", lambda: b"1%|" * (MIB // 3))
log("gz of 2 GB, one member", lambda: squeezed(2048, zlib.compressobj(1, zlib.DEFLATED, 31)))
log("gz of 2 GB, many members", lambda: gzip.compress(b"a" * MIB) * 2048)
log("zst of 1 MB", lambda: zstandard.compress(bytes(MIB)) * (MIB // 60))
log("zst of 8 GB, one frame", lambda: squeezed(8192, zstandard.ZstdCompressor().compressobj()))
log("zst of 8 GB, many frames", lambda: zstandard.compress(b"a" * MIB) * 8192)
log("begins with 64 MB of NULs", lambda: bytes(64 * MIB) + ERROR)
log("one line of 200 MB", lambda: b"a" * (200 * MIB) + b"\n" + ERROR)
log("1,000,000 lines of one character", lambda: b"a\n" * 1_000_000 + ERROR)
log("200 MB of carriage returns", lambda: b"\r" * (200 * MIB) + ERROR)
log("200 MB of open brackets", lambda: b"[" * (200 * MIB) + ERROR)
log("xz of 2 GB", lambda: lzma.compress(b"a" * MIB) * 2048)
log("bz2 of 2 GB", lambda: bz2.compress(b"a" * MIB) * 2048)


def squeezed(mebibytes: int, packer: zlib._Compress | zstandard.ZstdCompressionObj) -> bytes:
    """Pack so many MiB of one letter in one stream."""
    parts = [packer.compress(b"a" * MIB) for _ in range(mebibytes)]
    return b"".join((*parts, packer.flush()))


@case("log of 1 GB in 100 MB of gz, error at its end")
def _real(folder: Path) -> list[str]:
    part = gzip.compress(b"".join(steps(60_000)), 6)
    (folder / "train.log.gz").write_bytes(part * (1024 // 11) + gzip.compress(ERROR))
    return ["--log", str(folder / "train.log.gz")]


@case("log of 2 GB in 20 MB of gz, error at its end")
def _repeated(folder: Path) -> list[str]:
    lines = b"".join(steps(60))
    part = gzip.compress(b"".join(lines for _ in range(1000)), 6)
    noise = gzip.compress(os.urandom(4000).hex().encode())
    count = 2 * 1024 // 11
    (folder / "train.log.gz").write_bytes((part + noise * 9) * count + gzip.compress(ERROR))
    return ["--log", str(folder / "train.log.gz")]


@case("folder of 200 gz of 200 MB")
def _many(folder: Path) -> list[str]:
    packed = squeezed(200, zlib.compressobj(9, zlib.DEFLATED, 31))
    for rank in range(200):
        (folder / f"rank{rank}.log.gz").write_bytes(packed)
    return [str(folder)]


@case("folder of 2,000 gz of 10 MB")
def _more(folder: Path) -> list[str]:
    packed = squeezed(10, zlib.compressobj(9, zlib.DEFLATED, 31))
    for rank in range(2000):
        (folder / f"rank{rank}.log.gz").write_bytes(packed)
    return [str(folder)]


@case("tar.gz of 3.1 MB, one log of 3 GB")
def _tar_bomb(folder: Path) -> list[str]:
    info = tarfile.TarInfo("run/train.log")
    info.size = 3 << 30
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    head = packer.compress(info.tobuf())
    (folder / "run.tar.gz").write_bytes(head + squeezed(3072, packer))
    return [str(folder / "run.tar.gz")]


@case("tar.gz of 20,000 logs")
def _tar_many(folder: Path) -> list[str]:
    names = (f"run/rank{number}.log" for number in range(20_000))
    tar_of(((name, b"step 1\n" + ERROR) for name in names), folder / "run.tar.gz")
    return [str(folder / "run.tar.gz")]


@case("tar of 200,000 empty members")
def _tar_empty(folder: Path) -> list[str]:
    names = (f"run/{number}" for number in range(200_000))
    tar_of(((name, b"") for name in names), folder / "run.tar.gz")
    return [str(folder / "run.tar.gz")]


@case("zip of 518 MB in one log")
def _zip(folder: Path) -> list[str]:
    with zipfile.ZipFile(folder / "run.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("run/train.log", bytes(518 * MIB))
    return [str(folder / "run.zip")]


@case("zip of 100,000 members")
def _zip_many(folder: Path) -> list[str]:
    with zipfile.ZipFile(folder / "run.zip", "w") as packed:
        for number in range(100_000):
            packed.writestr(f"{number}.log", b"x")
    return [str(folder / "run.zip")]


@case("zip in zip in zip, 20 deep")
def _zip_deep(folder: Path) -> list[str]:
    data = ERROR
    for number in range(20):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(f"{number}.log", data)
        data = out.getvalue()
    (folder / "run.zip").write_bytes(data)
    return [str(folder / "run.zip")]


def pack(name: str, files: Callable[[Path], object]) -> None:
    """Register a folder of knowledge beside a plain script."""

    def build(folder: Path) -> list[str]:
        place = folder / "pack" / "symptoms" / "crash_other"
        place.mkdir(parents=True)
        files(place)
        (folder / "run.sh").write_text(SCRIPT)
        return ["--kb", str(folder / "pack"), "--cmd", str(folder / "run.sh")]

    CASES[name] = build


DEEP = "a: " + "[" * 100_000 + "]" * 100_000
pack("pack with YAML 100,000 deep", lambda place: (place / "own-deep.yaml").write_text(DEEP))
pack("pack with a FIFO", lambda place: os.mkfifo(place / "own-fifo.yaml"))
pack(
    "pack with the regex (?:a+)+$",
    lambda place: (place / "own-slow.yaml").write_text(
        SYMPTOM.format(name="slow", regex="x (?:a+)+$")
    ),
)
pack(
    "pack with 500 quadratic regexes",
    lambda place: [
        (place / f"own-{n}.yaml").write_text(SYMPTOM.format(name=n, regex=rf"x\s*\s*{n}"))
        for n in range(500)
    ],
)
pack(
    "pack with 2,000 entries of a regex",
    lambda place: [
        (place / f"own-{n}.yaml").write_text(SYMPTOM.format(name=n, regex=f"x a{{1,80}}{n}"))
        for n in range(2000)
    ],
)


@case("damaged archives, 60 of each")
def _damaged(folder: Path) -> list[str]:
    for ending, pack in PACKS.items():
        whole = folder / f"whole.tar.{ending}"
        tar_of((("run/\u8bad.log", line) for line in steps(20)), whole, pack)
        data = whole.read_bytes()
        whole.unlink()
        for number in range(60):
            at = number * len(data) // 60
            torn = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
            (folder / f"{number}.{ending}.log").write_bytes(torn if number % 2 else data[:at])
    (folder / "run.sh").write_text(SCRIPT)
    return [str(folder)]


@case("100,000 files in a folder")
def _files(folder: Path) -> list[str]:
    for number in range(100_000):
        (folder / f"{number}.bin").touch()
    (folder / "train.log").write_bytes(ERROR)
    return [str(folder)]


@case("10,000 logs in a folder")
def _logs(folder: Path) -> list[str]:
    for number in range(10_000):
        (folder / f"{number}.log").write_bytes(ERROR)
    return [str(folder)]


@case("folders 300 deep, 3,000 wide")
def _folders(folder: Path) -> list[str]:
    deep = folder
    for _ in range(300):
        deep /= "f"
    deep.mkdir(parents=True)
    (deep / "lost.log").write_bytes(ERROR)
    for number in range(3000):
        (folder / "wide" / str(number) / "x").mkdir(parents=True)
    (folder / "train.log").write_bytes(ERROR)
    return [str(folder)]


@case("loops of links")
def _loops(folder: Path) -> list[str]:
    (folder / "up").symlink_to(folder)
    (folder / "rank0.log").symlink_to(folder / "rank1.log")
    (folder / "rank1.log").symlink_to(folder / "rank0.log")
    (folder / "train.log").write_bytes(ERROR)
    return [str(folder), "--log", str(folder / "rank0.log")]


@case("a log that grows by 100 MB/s")
def _grows(folder: Path) -> list[str]:
    place = folder / "train.log"
    place.write_bytes(b"".join(steps(1000)))
    writer = "import sys,time\nf=open(sys.argv[1],'ab')\nfor _ in range(300):\n"
    writer += " f.write(b'step\\n'*200000); f.flush(); time.sleep(0.01)\n"
    subprocess.Popen([sys.executable, "-c", writer, str(place)])
    return ["--log", str(place)]


@case("sparse file of 100 GB")
def _sparse(folder: Path) -> list[str]:
    with (folder / "train.log").open("wb") as handle:
        handle.truncate(100 << 30)
        handle.seek(50 << 30)
        handle.write(ERROR)
    return ["--log", str(folder / "train.log")]


@case("sparse file of 100 GB with 10,000 pages")
def _sparse_pages(folder: Path) -> list[str]:
    with (folder / "train.log").open("wb") as handle:
        for page in range(10_000):
            handle.seek(page * 10 * MIB)
            handle.write(b"step\n")
        handle.truncate(100 << 30)
    return ["--log", str(folder / "train.log")]


@case("a file that gives EIO")
def _unreadable(folder: Path) -> list[str]:
    (folder / "train.log").symlink_to("/proc/self/mem")
    (folder / "run.sh").write_text(SCRIPT)
    return [str(folder)]


@case("a FIFO as log")
def _fifo(folder: Path) -> list[str]:
    os.mkfifo(folder / "train.log")
    return ["--log", str(folder / "train.log")]


def device(path: str) -> None:
    """Register what is no file at all."""
    CASES[f"{path} as log"] = lambda _: ["--log", path]


for place in ("/dev/zero", "/dev/stdin", "/dev/full", "/proc/kmsg"):
    device(place)
CASES["/dev/zero as everything"] = lambda _: [
    *("--cmd", "/dev/zero", "--config", "/dev/zero", "--env", "/dev/zero"),
    *("--versions", "/dev/zero", "/dev/zero"),
]


def made_by_child(build: Build, folder: Path) -> list[str]:
    """Make an input in a process of its own: what it took would be counted to the next child."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, json.dumps(build(folder)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        arguments: list[str] = json.loads(pipe.read())
    os.waitpid(child, 0)
    return arguments


def run(arguments: list[str], errors: Path) -> Outcome:
    """Run `diagnose` as a child and take what it cost from the system."""
    command = [sys.executable, "-m", "trainrx.cli", *arguments, "--format", "json"]
    with errors.open("wb") as err, tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        timer = _killed_after(child.pid, 8 * PATIENCE)
        _, status, usage = os.wait4(child.pid, 0)
        with suppress(ProcessLookupError):
            os.kill(timer, signal.SIGKILL)
        os.waitpid(timer, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said, sound = _said(child.returncode, out.read(), errors.read_text(errors="replace"))
    seconds = usage.ru_utime + usage.ru_stime
    return Outcome(seconds, usage.ru_maxrss / 1024, said, sound)


def _killed_after(pid: int, seconds: int) -> int:
    """Start a process that ends another one after some time."""
    timer = os.fork()
    if timer:
        return timer
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


def _said(code: int, out: bytes, err: str) -> tuple[str, bool]:
    if code not in (0, 1, 2) or "Traceback (most recent" in err:
        return f"exit {code}: {err.strip()[-80:]!r}", False
    if code == 2:
        return err.strip().splitlines()[-1], True
    answer = json.loads(out)
    causes = [cause["id"] for cause in answer["causes"][:1]] or [answer["verdict"]]
    unread = answer["unread"]
    reasons = [f"{Path(one['source']).name}: {one['reason']}" for one in unread]
    first = f"{len(unread)} unread: {reasons[-1]}" if reasons else "all read"
    return f"{causes[0]}; {first}", True


def warm() -> None:
    """Make what the first run on a machine keeps: knowledge as it is stored, the linear engine."""
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "train.log").write_bytes(b"".join(steps(10_000)))
        run([made], Path(made) / "errors")


def main() -> None:
    """Print a line per input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, help="where inputs are made; up to 2 GB each")
    given = parser.parse_args()
    wanted = [name for name in CASES if not given.names or any(n in name for n in given.names)]
    failed = 0
    warm()
    print(f"{'input':44} {'CPU s':>6} {'MiB':>5}  what is told")
    for name in wanted:
        with tempfile.TemporaryDirectory(dir=given.folder) as made:
            folder = Path(made) / "input"
            folder.mkdir()
            found = run(made_by_child(CASES[name], folder), Path(made) / "errors")
        good = found.sound and found.seconds < MOST_SECONDS and found.mebibytes < MOST_MEBIBYTES
        failed += not good
        mark = " " if good else "!"
        said = found.said.replace(made, "")[:150]
        print(f"{name:44} {found.seconds:5.2f}{mark} {found.mebibytes:5.0f}  {said}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
