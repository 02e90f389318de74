"""The files of a framework, and what a run takes back of them; what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from trainrx.frameworks.common.saved import Loaded
    from trainrx.model.job import RawArg, RawLaunch


class FileTraits:
    """The part of the protocol that reads configurations and saved arguments."""

    __slots__ = ()
    default_command: ClassVar[str]

    telling_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys only its configuration has."""
    usual_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that stand in its configuration, and in others."""
    keeps_arguments: ClassVar[bool] = False
    """Writes all its arguments beside what it trains: args.json."""
    environment_key: ClassVar[str] = ""
    """The key of its file below which variables stand."""

    def parents(self, args: Iterable[RawArg]) -> Iterable[str]:
        """Give the files a configuration builds on."""
        return ()

    def brings_file(self, launch: RawLaunch) -> bool:
        """Tell whether the file Hydra starts from lies in its package, not in a repository."""
        return False

    def in_order(self, texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        """Give files in the order their values count, the decisive last."""
        return texts.items()

    def shell_first(self, version: str | None) -> bool:
        """Tell whether variables of the shell go before those of its file."""
        return False

    def appended_file(self, launch: RawLaunch, version: str | None) -> str:
        """Name the file whose values are put behind the command line, "" for none."""
        return ""

    def takes_config(self, launch: RawLaunch, version: str | None) -> bool:
        """Tell whether `--config` is taken before its parser sees it."""
        return True

    def command_in_file(self, args: Sequence[RawArg]) -> str:
        """Give the command a configuration is for, "" where it does not tell."""
        return self.default_command

    def command_with_files(self, launch: RawLaunch, args: Sequence[RawArg]) -> str:
        """Give the command, with what the files say of it."""
        return launch.command

    def is_part(self, launch: RawLaunch, args: Sequence[RawArg], files: Collection[str]) -> bool:
        """Tell whether the files at hand are less than what the program needs to begin."""
        return False

    def run_folders(self, launch: RawLaunch, version: str | None) -> tuple[str, ...]:
        """Give the folders whose saved arguments a launch takes back, in the order it looks."""
        return ()

    def loaded_back(
        self, launch: RawLaunch, saved: Sequence[RawArg], version: str | None
    ) -> Loaded:
        """Choose what of saved arguments a launch takes back."""
        from trainrx.frameworks.common.saved import Loaded

        return Loaded()

    def saved_beyond(self, args: Sequence[RawArg]) -> tuple[RawArg, ...]:
        """Give what saved arguments hold inside of others."""
        return ()

    def takes_file_first(self, version: str | None) -> bool:
        """Tell whether a file must be the first argument, without a flag."""
        return False
