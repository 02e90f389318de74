"""vLLM, which serves models: https://github.com/vllm-project/vllm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawLaunch, Role
from trainrx.model.pattern import late


class Vllm(Framework):
    """`vllm serve`, and the servers' modules."""

    name = "vllm"
    folders = ("vllm",)
    library = True
    lends_names = True
    programs = ("vllm",)
    commands = frozenset({"serve"})
    path = late(r"(?:.*[./])?vllm[./]entrypoints[./][\w./]+")
    is_engine = True
    runs_engine = True
    positional = "model"
    parser = "argparse"
    command_roles: ClassVar[Mapping[str, Role]] = {"serve": "inference"}
    servers = frozenset({"serve"})

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a server's module."""
        if self.matched(entry) is None:
            return None
        return self.by_command(entry.args) or self.launch("serve", entry.args)

    stands_by = ("torch",)

    def takes_only_listed(self, launch: RawLaunch) -> bool:
        """Its parser stops on an argument it does not know."""
        return True


FRAMEWORK = Vllm()
