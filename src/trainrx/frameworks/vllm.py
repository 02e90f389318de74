"""vLLM, which serves models: https://github.com/vllm-project/vllm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import PRINTED
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawLaunch, Role
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm, Kind

_API_SERVER = late(r"api_server\.py|vLLM API server")


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
    usage_names: ClassVar[Mapping[str, str]] = {"vllm": "serve", "api_server.py": "serve"}
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

    def dumps(self) -> Iterable[DumpForm]:
        """Give what the server prints (vllm/entrypoints/utils.py), and the engine."""
        from trainrx.frameworks.common.dumps import DumpForm, read_dict, read_engine

        yield DumpForm(
            b"non-default args: {",
            lambda text, _: read_dict(text[18:], self.name, "serve", "arguments"),
        )
        yield DumpForm(b"with config: model=", lambda text, _: read_engine(text[13:], self.name))

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """A server prints the namespace of its parser."""
        own = name == "Namespace" and PRINTED.search(before) and _API_SERVER.search(before)
        return ("serve", "arguments") if own else None


FRAMEWORK = Vllm()
