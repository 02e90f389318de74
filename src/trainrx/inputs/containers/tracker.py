"""What an experiment tracker keeps of a run: W&B (`wandb/run-*/files`), SwanLab (`swanlog/run-*`).

`config.yaml` holds the resolved arguments, each as a mapping with its value and a description;
`wandb-metadata.json` and `swanlab-metadata.json` the words the program was given, the cards and a
few versions. W&B names the fields of its metadata in wandb_internal.proto (EnvironmentRecord,
GpuNvidiaInfo); up to 0.18 it wrote `gpu_devices` and `cuda`.
https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto
https://github.com/SwanHubX/SwanLab
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainrx.inputs.content import Content, Found
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind, RawArg
from trainrx.model.pattern import late

CERTAIN = True
_CONFIG = late(
    r"(?:[^\S\n]*(?:#[^\n]*)?\n|wandb_version:[^\n]*\n)*"
    r"[\w./\"'-]+:\s*\n[ ]{1,4}(?:desc|sort|value):"
)
_METADATA = ('"startedAt"', '"swanlab"')
"""Keys only the metadata of W&B, and of SwanLab, have."""
_LOOK = 1 << 16
_OWN_KEYS = frozenset({"_wandb", "wandb_version"})
_ADAPTER = {
    "r": "lora_r",
    "lora_alpha": "lora_alpha",
    "lora_dropout": "lora_dropout",
    "target_modules": "lora_target_modules",
}
"""Fields of `peft_config`, and the arguments that set them."""

Mapped = Mapping[str, object]


class _Stated(NamedTuple):
    """A line of an input, and the key of the metadata that states it."""

    kind: InputKind
    text: str
    key: str


def contained(content: Content) -> Found | None:
    """Read the arguments or the metadata of a run; None for any other file."""
    head = content.head[:_LOOK]
    if _CONFIG.match(head):
        return _arguments(content)
    if head.lstrip()[:1] == "{" and any(key in head for key in _METADATA):
        return _metadata(content)
    return None


def _arguments(content: Content) -> Found | None:
    from trainrx.inputs.config import read_config

    args, unread = read_config(content.text, content.name, whole=True)
    found = dict(_values(args))
    if not found:
        return ([], [*unread]) if unread else None
    text = _as_object(found, content.text.split("\n"))
    return [Input(kind="config", name=content.name, path=content.path, text=text)], [*unread]


def _values(args: Iterable[RawArg]) -> Iterator[tuple[str, tuple[object, int]]]:
    """Give the arguments with their lines, under the names a launch has for them too."""
    for arg in args:
        held = _mapping(arg.values[0]) if arg.values else None
        if held is None or "value" not in held or arg.name in _OWN_KEYS:
            continue
        value, line = held["value"], arg.origin.line or 1
        yield arg.name, (value, line)
        if arg.name == "_name_or_path":
            yield "model_name_or_path", (value, line)
        if arg.name == "peft_config" and isinstance(value, dict):
            adapter = value.get("default")
            fields = adapter.items() if isinstance(adapter, dict) else ()
            yield from ((_ADAPTER[key], (of, line)) for key, of in fields if key in _ADAPTER)


def _mapping(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _as_object(found: Mapping[str, tuple[object, int]], lines: list[str]) -> str:
    """Write arguments as one JSON object, each in the line its value stands in."""
    rows: dict[int, list[str]] = {}
    for name, (value, line) in found.items():
        rows.setdefault(_value_line(lines, line), []).append(
            f"{json.dumps(name)}: {json.dumps(value)}"
        )
    last = max(rows)
    return "\n".join(
        ("{" if number == 1 else "")
        + ", ".join(rows.get(number, ()))
        + ("," if number in rows and number != last else "")
        + ("}" if number == last else "")
        for number in range(1, last + 1)
    )


def _value_line(lines: list[str], line: int) -> int:
    """Find the line below a key that holds its value."""
    for number in range(line, min(line + 4, len(lines))):
        if lines[number].lstrip().startswith("value:"):
            return number + 1
    return line


def _metadata(content: Content) -> Found | None:
    data = _mapping(content.text)
    if data is None:
        reason = (
            "is the metadata of a run, but no whole JSON: give the file as the tracker wrote it"
        )
        return [], [Unread(source=content.name, reason=reason)]
    lines = content.text.split("\n")
    stated = [*_stated({**data, **_inside(data, "runtime")})]
    inputs = [_cited(content, lines, item) for item in stated]
    return (inputs, []) if inputs else None


def _inside(data: Mapped, key: str) -> Mapped:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _stated(data: Mapped) -> Iterator[_Stated]:
    """Give what the metadata says of the launch, the cards and the versions."""
    program, args, command = data.get("program"), data.get("args"), data.get("command")
    if isinstance(program, str):
        words = [str(arg) for arg in args] if isinstance(args, list) else []
        yield _Stated(
            "argv", shlex.join(["python", program, *words]), "args" if words else "program"
        )
    elif isinstance(command, str):
        yield _Stated("argv", command, "command")
    for text, key in _versions(data):
        yield _Stated("versions", text, key)
    for name, value in _inside(data, "slurm").items():
        if isinstance(value, (str, int)):
            yield _Stated("env", f"SLURM_{str(name).upper()}={value}", str(name))


def _versions(data: Mapped) -> Iterator[tuple[str, str]]:
    python = data.get("python") or data.get("python_version")
    if isinstance(python, str):
        yield f"Python version: {python.removeprefix('CPython ')}", "python"
    if isinstance(toolkit := data.get("cuda"), str):
        yield f"CUDA runtime version: {toolkit}", "cuda"
    if isinstance(newest := data.get("cudaVersion"), str):
        yield f"CUDA Version: {newest}", "cudaVersion"
    own = _inside(data, "swanlab").get("version")
    if isinstance(own, str):
        yield f"swanlab=={own}", "swanlab"
    yield from _cards(data)


def _cards(data: Mapped) -> Iterator[tuple[str, str]]:
    """Give the cards: W&B names them at the top, SwanLab by vendor."""
    gpu = data.get("gpu")
    if isinstance(gpu, str):
        yield f"GPU 0: {gpu}", "gpu"
    vendors = [*gpu.values()] if isinstance(gpu, dict) else []
    accelerators = _inside(data, "hardware").get("accelerators")
    vendors += accelerators if isinstance(accelerators, list) else []
    for vendor in vendors:
        if not isinstance(vendor, dict):
            continue
        named = vendor.get("type") or vendor.get("devices")
        first = named[0] if isinstance(named, list) and named else None
        name = first.get("name") if isinstance(first, dict) else first
        if isinstance(name, str):
            yield f"GPU 0: {name}", "type" if "type" in vendor else "name"
        for key, label in (("driver", "Driver Version"), ("version", "Driver Version")):
            if isinstance(version := vendor.get(key), str):
                yield f"{label}: {version}", key
        for key in ("cuda", "cuda_version"):
            if isinstance(version := vendor.get(key), str):
                yield f"CUDA Version: {version}", key


def _cited(content: Content, lines: list[str], item: _Stated) -> Input:
    """Make an input whose only line is the one its key stands in."""
    needle = f'"{item.key}"'
    at = next((number for number, line in enumerate(lines) if needle in line), 0)
    text = "\n" * at + " ".join(item.text.split("\n")) + "\n"
    return Input(kind=item.kind, name=content.name, path=content.path, text=text)
