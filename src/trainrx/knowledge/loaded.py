"""Knowledge that is read once, with what is worked out of it, for any number of questions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from trainrx.knowledge.cache import digest

if TYPE_CHECKING:
    from trainrx.knowledge.store import Knowledge
    from trainrx.model.lint import LintKnowledge

T = TypeVar("T")
Folders = Sequence[Path | str]
_WHOLE, _LAUNCHES, _LINT = "whole", "launches", "lint"
MOST = 4
"""Sets of folders whose knowledge is kept; each takes about 100 MB with what is made of it."""


class LoadedKnowledge:
    """What is shipped and what some folders add to it; read when it is asked for, from any thread.

    Args:
        kb: folders of further entries.
        rules: folders of further rules.
    """

    def __init__(self, kb: Folders = (), rules: Folders = ()) -> None:
        self._kb, self._rules = tuple(kb), tuple(rules)
        # what is made may ask for more
        self._lock = threading.RLock()
        self._made: dict[Hashable, object] = {}

    @classmethod
    def of(cls, knowledge: Knowledge) -> LoadedKnowledge:
        """Give knowledge that was read, and maybe changed, before; lint has what is shipped."""
        found = cls()
        found._made[_WHOLE] = knowledge
        return found

    @property
    def whole(self) -> Knowledge:
        """Give all of it.

        Raises:
            KnowledgeError: an entry is malformed.
        """
        from trainrx.knowledge.load import load

        return self._once(_WHOLE, lambda: load(self._kb, self._rules))

    @property
    def launches(self) -> Knowledge:
        """Give what it takes to read a launch, or more: it is there in a third of the time.

        Raises:
            KnowledgeError: an entry is malformed.
        """
        from trainrx.knowledge.load import load

        if _WHOLE in self._made:
            return self.whole
        return self._once(_LAUNCHES, lambda: load(self._kb, self._rules, launches=True))

    @property
    def lint(self) -> LintKnowledge:
        """Give what linting takes of it.

        Raises:
            KnowledgeError: an entry is malformed.
        """
        from trainrx.knowledge.lint import load_lint

        return self._once(_LINT, lambda: load_lint(self._kb, self._rules))

    def made(self, make: Callable[..., T], *how: Hashable) -> T:
        """Give what a function makes of the whole knowledge, made once.

        Args:
            make: takes the knowledge, and `how`; a function of a module, that reads nothing else.
            how: in which of few ways.
        """
        return self._once((make, *how), lambda: make(self.whole, *how))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return cast("T", self._made[key])


class KnowledgeCache:
    """The knowledge of the folders asked for last; a folder that has changed is read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: OrderedDict[Hashable, LoadedKnowledge] = OrderedDict()

    def of(self, kb: Folders = (), rules: Folders = ()) -> LoadedKnowledge:
        """Give the knowledge of some folders, beside what is shipped."""
        named = (*kb, None, *rules)
        places = [folder for folder in named if folder is not None]
        # errors name a folder as it was named; what it means depends on where that was
        key = (named, tuple(Path(folder).absolute() for folder in places), digest(places))
        with self._lock:
            found = self._loaded.pop(key, None) or LoadedKnowledge(kb, rules)
            self._loaded[key] = found
            while len(self._loaded) > MOST:
                self._loaded.popitem(last=False)
            return found
