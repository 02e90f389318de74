"""The protocol of a framework: all that sets one apart, with what holds where it says nothing.

One module or folder of `trainrx.frameworks` per framework makes a subclass of `Framework` and its
only instance, `FRAMEWORK`. What can be said as data is an attribute; a method takes plain values or
records of lower floors. Everything that is not said is unknown or not so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from trainrx.frameworks.common.arguments import ArgumentTraits
from trainrx.frameworks.common.data import DataTraits
from trainrx.frameworks.common.files import FileTraits
from trainrx.frameworks.common.layout import LayoutTraits
from trainrx.frameworks.common.memory import MemoryTraits
from trainrx.frameworks.common.start import StartTraits

T = TypeVar("T")


class Framework(StartTraits, ArgumentTraits, FileTraits, DataTraits, LayoutTraits, MemoryTraits):
    """What trains, or is served, under a name of its own."""

    __slots__ = ()

    # What it is -----------------------------------------------------------------------------------
    spelled: ClassVar[bool] = False
    """Its arguments are spelled in kb/params; of the others knowledge speaks by name only."""
    library: ClassVar[bool] = False
    """Others install it as a library, so that its release may matter to any job."""
    lends_names: ClassVar[bool] = False
    """Its arguments reach programs of many hands: such a name tells nothing of what runs."""
    fork_of: ClassVar[str] = ""
    """What it goes on from: its logs and files show that one too."""
    installed_as: ClassVar[str] = ""
    """The framework under whose name it is installed, as a fork may be."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """Frameworks whose names it takes beside its own."""

    repository: ClassVar[str] = ""
    """Its place on GitHub, where the address does not name it."""

    # How it is installed --------------------------------------------------------------------------
    checkout: ClassVar[tuple[str, str] | None] = None
    """Where its source is, and what installs it again after a pull: it runs from its source. The
    package index does not have it, or under its name an empty package 0.0.0."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Its modules, and folders of a checkout: what a path of its code has in it."""
    plain_folders: ClassVar[bool] = False
    """Folders of anybody's own may be called so."""

    # What follows from the above ------------------------------------------------------------------
    @property
    def only_trains(self) -> bool:
        """It is installed for nothing but training."""
        return self.spelled and not self.library

    @property
    def only_named(self) -> bool:
        """People train with it and knowledge speaks of it; its arguments are not listed."""
        return bool(self.name) and not self.spelled and not self.library

    @property
    def owns_names(self) -> bool:
        """Its names mean nothing to other frameworks."""
        return bool(self.name) and not self.lends_names

    @property
    def is_lent(self) -> bool:
        """Other frameworks install it as a library, though its names are its own."""
        return self.library and self.owns_names

    def own_versions(self, versions: Mapping[str, T]) -> dict[str, T]:
        """Give versions in which a fork is called by its own name, not by that of its origin.

        Its releases are no releases of the origin: verl 0.3.2 of EasyR1 is not verl.
        """
        named = dict(versions)
        if self.installed_as in named:
            own = named.pop(self.installed_as)
            named.setdefault(self.name, own)
        return named
