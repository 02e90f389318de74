"""Packages a launch asks for that a whole list of its environment does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.knowledge.packages import needed_package
from trainrx.linter.finders.conditions import place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.model.job import Setting
from trainrx.versions.listing import is_whole
from trainrx.versions.ranges import in_range

_ALSO = {
    "flash-attn": ("flash-attn-3", "kernels", "flash-attn-4", "torch-npu"),
    "bitsandbytes": ("bitsandbytes-rocm", "torch-npu"),
}
"""What serves in the place of a package."""


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each setting of the launch whose package is not there."""
    there = {*job.versions, *(job.facts.text("packages.unversioned") or "").split()}
    if job.launch.role != "trainer" or not is_whole(job.versions.keys()):
        return
    yield from _switched(job, there)
    told: set[str] = set()
    for package in _of_command(job):
        told.add(package)
        if package not in there:
            flag = f"{job.launch.framework} {job.version} {job.launch.command}"
            at = job.texts.whole(job.launch.origin)
            yield RuleHit("package-not-listed", at, {"flag": flag, "package": package})
    for name, setting in job.resolved.settings.items():
        package = _wanted(name, setting, job)
        serving = {package, *_ALSO.get(package, ())}
        if not package or package in told or not there.isdisjoint(serving):
            continue
        told.add(package)
        flag = f"{setting.spelled_as} {setting.text}".strip()
        held = [item for item in [job.facts.get(name)] if item is not None]
        yield RuleHit("package-not-listed", place(held, job), {"flag": flag, "package": package})


def _of_command(job: LintedJob) -> Iterator[str]:
    """Give what a release imports for a command, whatever is asked of it."""
    for versions, command, package in job.framework.command_packages:
        if command == job.launch.command and in_range(job.version or "", versions) is True:
            yield package


def _switched(job: LintedJob, there: set[str]) -> Iterator[RuleHit]:
    """Give each switch of a framework's own whose package is not there."""
    for name, package in job.framework.switch_packages.items():
        arg = job.written(name)
        if arg is None or package in there:
            continue
        if [value.lower() for value in arg.values or ()] == ["true"]:
            flag = f"{name} true"
            yield RuleHit(
                "package-not-listed", job.texts.flag(arg), {"flag": flag, "package": package}
            )


def _wanted(name: str, setting: Setting, job: LintedJob) -> str:
    """Name the package a setting of the launch needs; "" where another may serve, or none."""
    param = job.params.get(name)
    if param is None or setting.how != "read" or setting.value is None:
        return ""
    method = job.facts.text("tuner.quant_method")
    if name == "tuner.quant_bits" and method not in (None, "bnb"):
        return ""
    strict = job.framework.training_arguments and not job.framework.does_without_flash
    if name == "train.attention" and (not strict or job.launch.command.startswith("megatron")):
        return ""
    return needed_package(param, setting.value)
