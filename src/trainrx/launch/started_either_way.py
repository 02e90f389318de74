"""A command whose launcher stands in a variable that has one of several values: what all share.

`if ...; then RUN="torchrun ..."; else RUN="accelerate launch ..."; fi; $RUN train.py`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import msgspec

from trainrx.frameworks import framework_of
from trainrx.model.job import RawArg, RawLaunch, ShellCommand


def ways(command: ShellCommand) -> Iterator[ShellCommand]:
    """Give the commands it may be, each with the words of one course in place of the variable."""
    for at, word in enumerate(command.words):
        for course in word.courses:
            words = (*command.words[:at], *course, *command.words[at + 1 :])
            if words:
                yield msgspec.structs.replace(command, words=words)
        if word.courses:
            return


def either(found: Sequence[Sequence[RawLaunch]]) -> RawLaunch | None:
    """Give what the launches of all courses share; what only some of them set is not known.

    Nothing where they start different programs, or one of them several. A course that starts none
    (`echo`) leaves open whether the others run.
    """
    launches = [one[0] for one in found if len(one) == 1]
    programs = {(one.framework, one.command, one.program, one.role) for one in launches}
    if len(programs) != 1 or any(len(one) > 1 for one in found):
        return None
    first = launches[0]
    same = all(_words(one.args) == _words(first.args) for one in launches)
    alike = all(_words(one.launcher) == _words(first.launcher) for one in launches)
    return msgspec.structs.replace(
        first,
        args=first.args if same else _shared([one.args for one in launches]),
        args_complete=same and all(one.args_complete for one in launches),
        configs=tuple(c for c in first.configs if all(c in one.configs for one in launches)),
        launcher=_open([one.launcher for one in launches]),
        # who is told nothing takes all cards (accelerate) or one (python); drivers are told inside
        started_unseen=not alike
        or (not first.launcher and framework_of(first.framework).training_arguments),
        container=_shared([one.container for one in launches]),
        env_complete=all(one.env_complete for one in launches),
        perhaps=first.perhaps or len(launches) < len(found),
    )


def _words(args: Sequence[RawArg]) -> list[tuple[str, tuple[str, ...] | None]]:
    return [(arg.name, arg.values) for arg in args]


def _shared(lists: Sequence[tuple[RawArg, ...]]) -> tuple[RawArg, ...]:
    both = reduce(set.intersection, ({*_words(args)} for args in lists))
    return tuple(arg for arg in lists[0] if (arg.name, arg.values) in both)


def _open(lists: Sequence[tuple[RawArg, ...]]) -> tuple[RawArg, ...]:
    """Give the options of all launchers; a value that they do not share is not known."""
    shared = {(arg.name, arg.values) for arg in _shared(lists)}
    every = {arg.name: arg for args in reversed(lists) for arg in args}
    return tuple(
        arg
        if (arg.name, arg.values) in shared
        else msgspec.structs.replace(arg, values=None, alternatives=())
        for arg in every.values()
    )
