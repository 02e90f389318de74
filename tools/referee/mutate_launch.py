"""A launch as its words, or as a configuration, that can be changed and written again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Launch:
    """One command; `options` are (name, values as written), `config` tells that they are a YAML."""

    env: tuple[tuple[str, str], ...]
    command: str
    options: tuple[tuple[str, tuple[str, ...]], ...]
    config: bool = False

    def value(self, name: str) -> str | None:
        """Give the first value of an option."""
        return next((v[0] for n, v in self.options if n == name and v), None)

    def without(self, name: str) -> Launch:
        """Leave an option out."""
        return replace(self, options=tuple(item for item in self.options if item[0] != name))

    def given(self, name: str, value: str) -> Launch:
        """Give an option a value, in its place when it is there."""
        new = (
            (name, (value,))
            if self.config
            else (name, tuple(shlex.quote(v) for v in _parts(value)))
        )
        if any(item[0] == name for item in self.options):
            changed = tuple(new if item[0] == name else item for item in self.options)
            return replace(self, options=changed)
        return replace(self, options=(*self.options, new))

    def renamed(self, old: str, new: str) -> Launch:
        """Spell the name of an option otherwise."""
        changed = tuple((new if n == old else n, v) for n, v in self.options)
        return replace(self, options=changed)

    def with_env(self, name: str, value: str | None) -> Launch:
        """Set a variable, or take it away."""
        kept = tuple(item for item in self.env if item[0] != name)
        return replace(self, env=kept if value is None else (*kept, (name, value)))

    def lines(self) -> list[str]:
        """Write the lines of the command, without what joins them."""
        program = "llamafactory-cli" if self.command == "train" else "swift"
        head = [f"{name}={value}" for name, value in self.env]
        if self.config:
            return [*head, f"{program} {self.command} train.yaml"]
        rows = ["    " + " ".join([f"--{name}", *values]) for name, values in self.options]
        return [*head, f"{program} {self.command}", *rows]

    def files(self, lines: list[str] | None = None) -> dict[str, str]:
        """Write the files of the launch; other `lines` when they are given."""
        files = {"launch.sh": " \\\n".join(lines or self.lines()) + "\n"}
        if self.config:
            rows = [f"{name}: {values[0]}\n" for name, values in self.options]
            files["train.yaml"] = "".join(rows)
        return files


def _parts(value: str) -> list[str]:
    return [value] if value[:1] in "{[" or not value else value.split(" ")


def read_shell(text: str) -> Launch:
    """Read a launch as `mutate_bases.py` writes it."""
    env, command, options = [], "", []
    for line in text.replace(" \\\n", "\n").strip().split("\n"):
        words = line.split()
        if line.startswith("    --"):
            options.append((words[0][2:], tuple(shlex.quote(w) for w in shlex.split(line)[1:])))
        elif words[0] in {"swift", "llamafactory-cli"}:
            command = words[1]
        else:
            name, _, value = line.partition("=")
            env.append((name, value))
    return Launch(tuple(env), command, tuple(options))


def read_yaml(files: dict[str, str]) -> Launch:
    """Read a launch whose options are a flat YAML."""
    pairs = [line.partition(": ") for line in files["train.yaml"].strip().split("\n")]
    head = read_shell(files["launch.sh"])
    return Launch(head.env, head.command, tuple((n, (v,)) for n, _, v in pairs), config=True)
