"""Compile kb and rules into the wheel, and index the words of repairs."""

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
        import msgspec

        from trainrx.knowledge import lint, load
        from trainrx.knowledge.repairs import CHANGES, FOLDER, INDEX, WORDS, index_text

        kb, rules = root / "kb", root / "rules"
        (root / "build").mkdir(exist_ok=True)
        # `diagnose lint` reads its own part only
        parts = {
            load.PART: load.compile_knowledge(kb, rules),
            lint.PART: lint.compile_lint([kb], [rules]),
        }
        for name, part in parts.items():
            target = root / "build" / f"{name}.msgpack"
            target.write_bytes(msgspec.msgpack.encode(part))
            build_data["force_include"][str(target)] = f"trainrx/_data/{target.name}"
        # of repairs the wheel carries the index instead of the words
        for changes in sorted((root / "data" / FOLDER).glob(f"*{CHANGES}")):
            index = root / "build" / changes.with_suffix(INDEX).name
            words = changes.with_suffix(WORDS).read_text(encoding="utf-8")
            index.write_text(index_text(words), encoding="utf-8")
            for source in (changes, index):
                build_data["force_include"][str(source)] = (
                    f"trainrx/_data/data/{FOLDER}/{source.name}"
                )
