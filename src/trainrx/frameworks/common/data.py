"""Which arguments of a framework name its data, and how; what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from trainrx.model.formats import DataLayout


class DataTraits:
    """The part of the protocol that tells where the data of a launch lies."""

    __slots__ = ()

    train_data: ClassVar[tuple[str, ...]] = ()
    """Arguments that name what is trained on."""
    eval_data: ClassVar[tuple[str, ...]] = ()
    data_index: ClassVar[tuple[str, str]] = ("", "")
    """The argument that names a folder, and the file in it that lists data sets by name."""
    resume_arguments: ClassVar[tuple[str, ...]] = ("resume_from_checkpoint",)
    """Arguments that name a checkpoint whose run goes on."""
    adapter_arguments: ClassVar[tuple[str, ...]] = ()
    """Arguments that name an adapter to begin with."""
    image_folder: ClassVar[str] = ""
    """The argument that names the folder images lie in."""
    column_names: ClassVar[str] = ""
    """The argument that maps columns to the names the framework has for them."""

    reward_plugins: ClassVar[str] = ""
    """The argument that names files which register rewards by name."""

    def reward_inputs(self, columns: Sequence[str]) -> frozenset[str] | None:
        """Give what a reward function is handed for data with these columns; None: not known."""
        return None

    def untold_tags(self, entry: Mapping[str, object]) -> tuple[str, ...]:
        """Name what an entry of a list of data sets must say as well, as it says other such."""
        return ()

    def refused_entry(self, entry: Mapping[str, object], stage: str) -> tuple[str, str]:
        """Say what an entry of a list of data sets lacks for a stage, and what it has too much."""
        return ("", "")

    def data_path(self, word: str) -> str:
        """Give the path a word of these arguments names, without what is said beside it."""
        return word

    def indexed_layout(
        self, entry: Mapping[str, object], layouts: Mapping[str, DataLayout]
    ) -> DataLayout | None:
        """Give the layout an entry of the index asks for."""
        return None

    def described_entry(
        self, entry: Mapping[str, object], rows: Sequence[Mapping[str, object]], stage: str
    ) -> Mapping[str, object] | None:
        """Give what an entry must say of a data set with these rows; None where that is open."""
        return None
