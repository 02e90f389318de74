"""Take the evidence of a job on other machines: `diagnose collect` runs there."""

from __future__ import annotations

import shlex
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from trainrx.collect.bundle import Bundle, merged, unpacked, with_gaps
from trainrx.collect.commands import NOT_FOUND, TIMED_OUT, CommandOutput, Runner
from trainrx.collect.processes import WantedJob, find_job
from trainrx.collect.take import Collected, TakeOptions, saved, take
from trainrx.model.bundle import BundleGap
from trainrx.model.errors import UsageError

AT_ONCE = 16
MACHINE_LIMIT = 60.0
"""Seconds a machine has besides the rounds."""
LOOKED_UP = 15.0


class Via(msgspec.Struct, frozen=True, kw_only=True):
    """How other machines are reached: the command, and the machines or pods by name."""

    command: str
    names: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Via:
        """Read `ssh=node1,node2`; srun may leave the names out.

        Raises:
            UsageError: the command is none of those that are known, or names are missing.
        """
        command, _, listed = text.partition("=")
        names = tuple(name.strip() for name in listed.split(",") if name.strip())
        if command not in REACHED:
            known = ", ".join(REACHED)
            raise UsageError(f"--via {text}: expected one of {known}, e.g. ssh=node1,node2")
        if not names and command != "srun":
            raise UsageError(f"--via {text}: expected names, e.g. {command}=node1,node2")
        wrong = next((name for name in names if name.startswith("-")), None)
        if wrong is not None:
            raise UsageError(f"--via {text}: {wrong} is no name")
        return cls(command=command, names=names)


def _srun(name: str, wanted: WantedJob, command: Sequence[str]) -> tuple[str, ...]:
    job = (f"--jobid={wanted.slurm}",) if wanted.slurm else ()
    return ("srun", "--overlap", *job, "--nodes=1", "--ntasks=1", f"--nodelist={name}", *command)


def _kubectl(name: str, _wanted: WantedJob, command: Sequence[str]) -> tuple[str, ...]:
    space, _, pod = name.rpartition("/")
    return ("kubectl", "exec", *(("-n", space) if space else ()), pod, "--", *command)


def _ssh(name: str, _wanted: WantedJob, command: Sequence[str]) -> tuple[str, ...]:
    options = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
    return ("ssh", *options, name, shlex.join(command))


REACHED: Mapping[str, Callable[[str, WantedJob, Sequence[str]], tuple[str, ...]]] = {
    "srun": _srun,
    "kubectl": _kubectl,
    "ssh": _ssh,
}


def collect_job(
    wanted: WantedJob, options: TakeOptions, via: Via | None = None, command: Sequence[str] = ()
) -> Collected:
    """Take the evidence of a job here and, where it is said how, on its other machines at once.

    Args:
        wanted: the job.
        options: how it is taken here.
        via: how other machines are reached.
        command: what collects there and writes its bundle to standard output.

    Raises:
        UsageError: no process of the job is found anywhere, or the bundle cannot be written.
    """
    if via is None:
        return take(find_job(wanted), options)
    began = time.time()
    host = socket.gethostname().partition(".")[0]
    names = [name for name in via.names or _nodes(wanted, options.run) if name != host]
    seconds = options.rounds * options.interval

    def there(name: str) -> Bundle | BundleGap:
        argv = REACHED[via.command](name, wanted, command)
        return _bundle(name, argv[0], options.run(argv, MACHINE_LIMIT + seconds))

    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(names)))) as pool:
        coming = [pool.submit(there, name) for name in names]
        here, problem = _here(wanted, options)
        came = [one.result() for one in coming]
    bundles = [*here, *(one for one in came if isinstance(one, Bundle))]
    gaps = [one for one in came if isinstance(one, BundleGap)]
    if not bundles:
        said = "; ".join(f"{gap.host}: {gap.name} {gap.detail}".strip() for gap in gaps)
        raise UsageError(f"no machine gave a bundle: {problem or said}")
    bundle = with_gaps(merged(bundles), gaps)
    path = None if options.out is None else saved(bundle, options.out)
    return Collected(bundle=bundle, path=path, seconds=time.time() - began)


def _here(wanted: WantedJob, options: TakeOptions) -> tuple[list[Bundle], str]:
    """Take the evidence on this machine, which may have no part of the job."""
    try:
        job = find_job(wanted)
    except UsageError as error:
        return [], str(error)
    return [take(job, msgspec.structs.replace(options, out=None)).bundle], ""


def _bundle(name: str, program: str, done: CommandOutput) -> Bundle | BundleGap:
    said = done.error.strip().splitlines()[-1:] or [f"status {done.status}"]
    gap = BundleGap(kind="stacks", reason="failed", name=program, host=name, detail=said[0][:200])
    if done.status == TIMED_OUT:
        return msgspec.structs.replace(gap, reason="too-slow", detail="")
    if done.status == NOT_FOUND:
        return msgspec.structs.replace(gap, reason="not-installed")
    try:
        return unpacked(done.out, name)
    except UsageError:
        return gap


def _nodes(wanted: WantedJob, run: Runner) -> tuple[str, ...]:
    """Ask Slurm for the nodes of a job."""
    listed = run(("squeue", "--noheader", f"--jobs={wanted.slurm}", "--format=%N"), LOOKED_UP)
    nodes = listed.text.split()[:1] if wanted.slurm else []
    shown = run(("scontrol", "show", "hostnames", nodes[0]), LOOKED_UP) if nodes else listed
    names = tuple(shown.text.split()) if nodes else ()
    if not names:
        raise UsageError(
            "--via srun: the nodes of the job cannot be told; give its number with --job, or name "
            "them: --via srun=node1,node2"
        )
    return names
