"""Compile kb and rules into the wheel, so that an installed `diagnose` reads one file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKnowledge(BuildHookInterface):  # type: ignore[type-arg]
    """Write `trainrx/_data/knowledge.msgpack` beside the YAML."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile once per wheel; an editable install reads the YAML itself."""
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        import msgspec  # noqa: PLC0415

        from trainrx.kb.load import complete, read_folders  # noqa: PLC0415

        knowledge = complete(read_folders([root / "kb"], [root / "rules"]))
        target = root / "build" / "knowledge.msgpack"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(msgspec.msgpack.encode(knowledge))
        build_data["force_include"][str(target)] = "trainrx/_data/knowledge.msgpack"
