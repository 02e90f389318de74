"""What the parser a Python program declares refuses of the words its command gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.catalog.catalog import KnownArgument
from trainrx.catalog.typed import is_bool, is_list
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.facts import Origin
from trainrx.model.job import ProgramOption, ProgramParser, Word

_SCALARS = ("int", "float")
_OF_A_LIBRARY = {
    "ScriptArguments": "dataset_name",
    "ModelConfig": "model_name_or_path",
    "TrainingArguments": "output_dir",
    "Config": "output_dir",
}
"""How the classes end whose fields the catalog lists, and a field that all of these have."""


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give what the program says against its command; an only one, as it stops there."""
    parser, words = job.launch.parser, job.launch.words
    if parser is None or words is None:
        return
    library = _library(parser, job)
    if library is None:
        return
    from trainrx.launch.parsers.refusals import refusal

    found = refusal(parser, words, library)
    if found is not None:
        values = {"program": job.launch.program.rpartition("/")[2], "said": found.message}
        yield RuleHit("program-refuses-argument", _place(found.word, job), values)


def _library(parser: ProgramParser, job: LintedJob) -> Sequence[ProgramOption] | None:
    """Give the options libraries add; None where they are not all known."""
    if not parser.library:
        return ()
    if not all(name.endswith((*_OF_A_LIBRARY,)) for name in parser.library):
        return None
    taken = job.taken() if job.certain else job.ever()
    names = {known.name for known in taken}
    # a class that moved to a place the catalog does not list (trl.experimental) is not known
    needed = (
        next(field for end, field in _OF_A_LIBRARY.items() if name.endswith(end))
        for name in parser.library
    )
    if not names.issuperset(needed):
        return None
    return [_option(known, certain=job.certain) for known in taken] or None


def _option(known: KnownArgument, *, certain: bool) -> ProgramOption:
    """Give an argument of the catalog as an option; what differs by release takes anything."""
    names = (known.name, *known.aliases)
    flags = dict.fromkeys(f"--{n}" for name in names for n in (name, name.replace("_", "-")))
    if is_bool(known.type):
        on = known.default is True or not known.settled
        more = [f"--no_{known.name}", f"--no-{known.name.replace('_', '-')}"] if on else []
        return ProgramOption(flags=(*flags, *more), dest=known.name, kind="switch", nargs="?")
    many = is_list(known.type)
    plain = known.type if known.type in _SCALARS else "?"
    return ProgramOption(
        flags=tuple(flags),
        dest=known.name,
        kind=plain if certain else "?",
        nargs="+" if many else "*" if not known.type else None,
    )


def _place(word: Word | None, job: LintedJob) -> LineRange:
    if word is None:
        return job.texts.whole(job.launch.origin)
    source = word.source or job.launch.origin.source
    return job.texts.whole(Origin(source=source, line=word.line))
