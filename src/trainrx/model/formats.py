"""The form a framework wants its data in, as `kb/formats` says it."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec

from trainrx.model.parts import Reference

Columns = tuple[str, ...]
"""Names of which any will do."""
TurnOrder = Literal["alternate", "pairs", "listed", "free"]
"""alternate: asking and answering take turns, and whole exchanges only; pairs: in each exchange an
answer that is not empty follows a question; listed: only the roles named, those that open first
alone; free: any."""


class ConversationForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How messages are written in a column: the keys of a message, and its roles.

    `keys_needed`: a message without them ends the run. `odd`: the last answer stands elsewhere.
    """

    columns: Columns
    role: Columns = ("role",)
    content: Columns = ("content",)
    asking: Columns = ("user",)
    answering: Columns = ("assistant",)
    opening: Columns = ("system",)
    order: TurnOrder = "free"
    keys_needed: bool = False
    odd: bool = False


ValueKind = Literal["bool", "number", "text", "list", "object"]


class ValueNeed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in a column wherever rows have it: one of some kinds, and never null.

    `refused` says what becomes of a row with something else: it is dropped, or the run stops.
    `shape` says more of a list, and `written` how that is written: pairs are lists of two; answers
    are messages of which none is the user's; json is a text that is JSON unless it is empty.
    `versions` are the releases that want it.
    """

    column: str
    kinds: tuple[ValueKind, ...]
    refused: Literal["drop", "stop"]
    tasks: tuple[str, ...] = ()
    or_null: bool = False
    """Whether null will do as well."""
    versions: str = ""
    shape: Literal["", "pairs", "answers", "json"] = ""
    written: str = ""
    unless: Columns = ()
    """Columns that are taken in its place where rows have one."""


class SameKinds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Columns that some releases join for some tasks: all are text, or all are messages."""

    versions: str
    tasks: tuple[str, ...]
    columns: Columns


class ImagesTaken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The values of an argument with which some releases take images in rows, for some tasks."""

    versions: str
    argument: str
    names: tuple[str, ...]
    tasks: tuple[str, ...]


class LongLeftOut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tasks for which some releases leave rows out that are longer than the limit."""

    versions: str
    tasks: tuple[str, ...]


class ClassLabels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column with the number of a class, from 0, in the tasks that learn it.

    `count` is the argument for how many classes there are, `problem` that for another kind of
    label. With a text as label the run stops in the releases `stops`; in others the row is dropped.
    """

    column: str
    tasks: tuple[str, ...]
    count: str
    problem: str
    stops: str


class FilesTaken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The suffixes of files that some releases read."""

    versions: str
    suffixes: tuple[str, ...]


class OwnRewards(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data that a framework can score itself, by what a column says.

    `prefixes` begin further names. With one of `instead` the launch brings a function of its own.
    """

    versions: str
    column: str
    names: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


class DataLayout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One form of rows: the columns it is known by, those it needs, where its answers stand.

    `chosen_by` are alternatives, each a set of columns that are all there; without any the layout
    is what is left. `needs` holds groups of which one column must be there; `tasks` limits the
    layout. `one_name`: of the columns of a group only one may be there, unless it is the first. So
    it is for `one_of` too: groups that are not needed. `any_case`: these names count in any case.
    """

    id: str
    versions: str = ""
    tasks: tuple[str, ...] = ()
    chosen_by: tuple[Columns, ...] = ()
    needs: tuple[Columns, ...] = ()
    one_name: bool = False
    one_of: tuple[Columns, ...] = ()
    any_case: bool = False
    answers: Columns = ()
    conversation: ConversationForm | None = None
    images: Columns = ("images", "image")
    values: tuple[ValueNeed, ...] = ()


class DataFormat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one framework takes.

    `refused_rows` says what becomes of a row that is not as it should be: it is dropped, or the run
    stops. `long_rows` says what becomes of one beyond the limit: dropped, or cut. `needs_if` maps a
    task to further groups of columns, `named_by` a column to the argument that names another in its
    place. `own_code` are arguments with which a program of someone's own reads the data.
    `image_tag` stands in the text for each image. `mapping` are the releases that apply a mapping
    of columns to local files. `held_out` is the argument for the share of each file that is split
    off for evaluation, one row at least; with `held_out_of_all` it is a share, or a number of rows,
    of all files together. `blocks` are the tasks whose texts are joined and trained on in whole
    blocks of the longest length. `plain` are suffixes of files whose lines are texts, each a row.
    `same_prompts` are the releases that drop a pair whose two prompts differ.
    """

    schema: Literal[1]
    id: str
    versions: str = ""
    refused_rows: Literal["drop", "stop"]
    long_rows: Literal["drop", "cut"]
    layouts: tuple[DataLayout, ...]
    needs_if: dict[str, tuple[Columns, ...]] = {}
    named_by: dict[str, str] = {}
    own_code: tuple[str, ...] = ()
    image_tag: str = ""
    values: tuple[ValueNeed, ...] = ()
    files: tuple[FilesTaken, ...] = ()
    rewards: OwnRewards | None = None
    mapping: str = ""
    held_out: str = ""
    held_out_of_all: bool = False
    blocks: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    same_prompts: str = ""
    classes: ClassLabels | None = None
    same_kinds: tuple[SameKinds, ...] = ()
    images: tuple[ImagesTaken, ...] = ()
    long_left_out: tuple[LongLeftOut, ...] = ()
    references: tuple[Reference, ...]
