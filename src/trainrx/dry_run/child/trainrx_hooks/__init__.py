"""Make a training job small while it starts: its own code, on the CPU, up to its first steps.

This package runs in the interpreter of the framework, beside whatever releases are installed there:
it imports nothing of trainrx, and nothing but the standard library before the job does. Python 3.8
and later.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Watcher(MetaPathFinder):
    """Change some modules as soon as they have been imported."""

    def __init__(self, changes: dict[str, Callable[[ModuleType], None]]) -> None:
        self.changes = changes
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module as everybody else does, and change it once it is there."""
        change = self.changes.get(fullname)
        if change is None or self._busy:
            return None
        self._busy = True
        try:
            found = _find(fullname, path, target)
        finally:
            self._busy = False
        if found is not None and found.loader is not None:
            found.loader = _Changing(found.loader, change)
        return found


def _find(
    fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if not isinstance(finder, Watcher):
            found = finder.find_spec(fullname, path, target)
            if found is not None:
                return found
    return None


class _Changing(Loader):
    """A loader that calls a change after the module has run."""

    def __init__(self, loader: Loader, change: Callable[[ModuleType], None]) -> None:
        self._loader, self._change = loader, change

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run it, then change it."""
        self._loader.exec_module(module)
        self._change(module)


def install() -> None:
    """Watch for the modules that are changed."""
    from . import loading, models, training

    sys.meta_path.insert(
        0,
        Watcher(
            {
                "datasets": loading.change,
                "transformers.training_args": training.change_arguments,
                "transformers.trainer": training.change_trainer,
                "transformers.modeling_utils": models.change,
                "transformers.generation.utils": models.change_generation,
            }
        ),
    )
