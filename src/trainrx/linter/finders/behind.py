"""Options behind the config file of LLaMA-Factory, which takes only keys there, or nothing.

`read_args` gives what stands behind the file to OmegaConf (since 0.9.3), to which `--a b` are two
keys of their own; before, a file with anything behind it went to argparse, which takes no file.
https://github.com/hiyouga/LLaMA-Factory/blob/v0.9.3/src/llamafactory/hparams/parser.py
"""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.linter.job import LintedJob, RuleHit
from trainrx.versions.ranges import in_range

_FILES = (".yaml", ".yml", ".json")
_UNCHECKED = "ALLOW_EXTRA_ARGS"


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each option behind the file that no release the job may run takes there."""
    launch = job.launch
    if not job.framework.overrides_since or not launch.program or not job.judged():
        return
    first = launch.configs[0] if launch.configs else ""
    if not first.endswith(_FILES) or any(item.name == _UNCHECKED for item in launch.env):
        return
    merges = in_range(job.version or "", job.framework.overrides_since)
    for arg in launch.args:
        if arg.via != "arg" or arg.name == "config" or (arg.sign == "=" and merges is not False):
            continue
        value = " ".join(arg.values or ())
        shown = arg.name if arg.sign else f"--{arg.name}"
        instead = f"{arg.name}={value}" if merges and value and " " not in value else ""
        values = {"name": shown, "file": first.rpartition("/")[2], "instead": instead}
        yield RuleHit("option-behind-config", job.texts.flag(arg), values)
