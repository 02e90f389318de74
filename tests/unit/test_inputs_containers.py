"""One content gives several inputs, wherever it came from."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from trainrx.inputs.content import Found
from trainrx.inputs.files import read_path, read_stdin

POST = """\
My job stops after a few steps, how can I go on?

```bash
swift sft --model Qwen/Qwen2.5-7B-Instruct
```

```
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.
```
"""


def as_file(folder: Path) -> Found:
    (folder / "post.md").write_text(POST)
    return read_path(folder / "post.md")


def in_folder(folder: Path) -> Found:
    (folder / "post.log").write_text(POST)
    return read_path(folder)


def in_archive(folder: Path) -> Found:
    (folder / "post.log").write_text(POST)
    with tarfile.open(folder / "run.tgz", "w:gz") as packed:
        packed.add(folder / "post.log", "post.log")
    return read_path(folder / "run.tgz")


def piped(_: Path) -> Found:
    return read_stdin(POST.encode())


@pytest.mark.parametrize("way", [as_file, in_folder, in_archive, piped])
def test_a_post_gives_its_inputs_however_it_comes(
    tmp_path: Path, way: Callable[[Path], Found]
) -> None:
    inputs, unread = way(tmp_path)

    spans = {item.kind: item.spans for item in inputs}
    assert spans == {"note": ((1, 1),), "script": ((4, 4),), "log": ((8, 8),)}
    assert unread == []


def test_a_post_that_is_called_a_log_is_one(tmp_path: Path) -> None:
    (tmp_path / "post.md").write_text(POST)

    (log,), _ = read_path(tmp_path / "post.md", kind="log")

    assert (log.kind, log.spans) == ("log", ())


def test_cells_of_a_program_are_one(tmp_path: Path) -> None:
    cells = (
        "```python\nfrom trl import SFTConfig\nlength = 2048\n```\nand then\n"
        "```python\nargs = SFTConfig(output_dir='x', max_length=length)\n```\n"
    )
    (tmp_path / "post.md").write_text(f"My notebook stops, why?\n{cells}")

    inputs, _ = read_path(tmp_path / "post.md")

    (program,) = (item for item in inputs if item.kind == "script")
    assert program.spans == ((3, 4), (8, 8))


def test_a_failure_that_is_only_shown_as_an_image_is_named_first(tmp_path: Path) -> None:
    text = "My job stops, why?\n\n![error](https://example.org/a.png)\n"
    (tmp_path / "post.md").write_text(text)

    _, unread = read_path(tmp_path / "post.md")

    assert [item.line for item in unread] == [None, 3]
    assert "paste it as text" in unread[0].reason


def test_progress_bars_in_a_fence_are_lines_of_the_log(tmp_path: Path) -> None:
    bars = "".join(f"\rTrain:  {step}%|##   | {step}/100 [00:10<01:20]" for step in range(9))
    (tmp_path / "post.md").write_bytes(POST.replace("torch.Out", f"{bars}\ntorch.Out").encode())

    inputs, _ = read_path(tmp_path / "post.md")

    spans = {item.kind: item.spans for item in inputs}
    assert spans == {"note": ((1, 1),), "script": ((4, 4),), "log": ((8, 9),)}
