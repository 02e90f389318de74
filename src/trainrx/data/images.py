"""The images of rows: whether they are there, how large their headers say they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trainrx.model.formats import Columns


class ImageSize(NamedTuple):
    """Width and height in pixels; both 0 where the file is there and no image that can be read."""

    width: int
    height: int

    @property
    def pixels(self) -> int:
        """Give how many there are."""
        return self.width * self.height


def image_names(row: Mapping[str, object], columns: Columns) -> tuple[str | None, ...]:
    """Give the paths of a row's images, None for each that is a link or is in the row itself."""
    held = next((row[name] for name in columns if row.get(name) is not None), None)
    items = held if isinstance(held, list) else [] if held is None else [held]
    return tuple(_name(item) for item in items)


def _name(item: object) -> str | None:
    if isinstance(item, dict):
        item = None if item.get("bytes") else item.get("path")
    return None if not isinstance(item, str) or _is_elsewhere(item) else item


def _is_elsewhere(name: str) -> bool:
    return name.startswith(("http://", "https://", "data:", "s3://", "oss://")) or len(name) > 4096


def find_image(name: str, folders: tuple[Path, ...]) -> Path | None:
    """Find an image by the path a row gives."""
    paths = _paths(name, folders)
    try:
        return next((path for path in paths if path.is_file()), None)
    except (OSError, ValueError):
        return None


def _paths(name: str, folders: tuple[Path, ...]) -> Iterator[Path]:
    if Path(name).is_absolute():
        yield Path(name)
    yield from (folder / name.lstrip("/") for folder in folders)


def image_size(path: Path) -> ImageSize | None:
    """Read the size in the header of an image; None where the library that does is missing."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return None
    try:
        with Image.open(path) as image:
            return ImageSize(*image.size)
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError):
        return ImageSize(0, 0)
