"""What a survey of the data of a launch finds, as rules of lint with their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.data.amounts import left_to_train, smallest_batch, tokens_below_a_block
from trainrx.data.job import DataJob
from trainrx.data.programs import unnamed_splits
from trainrx.data.rewards import missing_inputs
from trainrx.data.sources import DataSource, IndexEntry, data_format
from trainrx.data.survey import FaultyRows, Survey, class_count, held_by
from trainrx.model.facts import Origin
from trainrx.versions.ranges import in_range

HUGE = 4096 * 4096
"""Pixels of an image that is far beyond what any launch without a limit was meant for."""
SHOWN = 60
MOST_COLUMNS = 12
ROW_RULES = {
    "empty": "data-row-empty",
    "turns": "data-turns-refused",
    "unanswered": "data-without-answer",
    "keys": "data-message-keys-missing",
    "image-gone": "data-image-missing",
    "image-broken": "data-image-unreadable",
    "image-tags": "data-image-count",
}
SCORED = frozenset({"grpo", "rloo", "ppo"})
"""Tasks whose answers are scored."""
MIXED_SINCE = ">=4.7"
"""Releases of datasets whose JSON reader takes a column of several kinds (on_mixed_types)."""
OF_RUN = frozenset({"turns", "empty"})
"""Faults that cost a row, not the run, where the framework drops rows."""


ABSENT = "data-file-missing"
OF_ENTRY = frozenset(
    {"data-ranking-differs", "data-columns-missing", "data-message-keys-missing"}
    | {"data-roles-untold"}
)
"""What another entry in the list of data sets mends, where the rows themselves say which."""


class EntryEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What the list of data sets is to say: keys of an entry, dotted, in the order of writing."""

    entry: IndexEntry
    wanted: tuple[tuple[str, str], ...]
    whole: Mapping[str, object]
    """The entry as it is then."""


class DataFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with data: the rule, where, and the values of its message.

    `instead`: a word of the launch there, and what is to be written in its place. `entry`: what the
    list of data sets is to say.
    """

    rule: str
    at: Origin
    values: dict[str, str]
    severity: str = ""
    instead: tuple[str, str] | None = None
    entry: EntryEdit | None = None


def data_findings(surveys: Sequence[Survey], job: DataJob) -> Iterator[DataFinding]:
    """Give what is wrong with the data of a launch."""
    for survey in surveys:
        edit = _entry_edit(survey, job)
        for item in _of_source(survey, job):
            mended = item.rule in OF_ENTRY or (item.rule == ABSENT and item.severity)
            yield msgspec.structs.replace(item, entry=edit) if mended and edit else item
    yield from _of_splits(surveys)
    train = [item for item in surveys if item.source.split == "train"]
    yield from _of_amounts(train, job)
    yield from _of_rewards(train, job)
    for found in unnamed_splits(job):
        yield _at(found.at, "data-split-unnamed", trainer=found.trainer)


def _of_source(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    source = survey.source
    if source.left_out:
        files = str(source.left_out)
        yield _at(source.at, "data-not-read", name=source.name, files=files)
    if source.undefined:
        yield _undefined(source)
    elif source.path is None:
        severity = "error" if source.indexed else ""
        missing = _at(source.at, ABSENT, severity, name=source.name, near=source.near)
        written = not source.indexed and source.near
        yield _with_edit(missing, source.name, source.near) if written else missing
    elif survey.taken:
        taken = ", ".join(survey.taken)
        values = {"name": source.name, "taken": taken, "framework": job.framework}
        yield _at(source.at, "data-form-refused", **values)
    elif survey.unread:
        yield _at(source.at, "data-not-read", name=source.name, why=survey.unread)
    elif survey.unreadable:
        yield _at(source.at, "data-file-unreadable", name=source.name, why=survey.unreadable)
    else:
        yield from _of_rows(survey, job)


def _of_rows(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    name = survey.source.name
    lacks, has = survey.source.refused
    if lacks or has:
        values = {
            "name": survey.source.name,
            "stage": job.text("stage"),
            "lacks": lacks,
            "has": has,
        }
        yield _at(survey.source.at, "data-ranking-differs", **values)
    if not survey.whole:
        yield _at(survey.source.at, "data-not-read", name=name, rows=str(survey.rows))
    broken = survey.faults.get("broken")
    if broken is not None:
        yield _in(survey, broken, "data-row-broken", why=broken.shown[: 2 * SHOWN])
    if not survey.rows and broken is None and survey.whole:
        yield _at(survey.source.at, "data-without-rows", name=name)
    if survey.within:
        yield _at(Origin(source=name), "data-rows-within-object", key=survey.within)
        return
    if survey.delimiter:
        sign = "tab" if survey.delimiter == "\t" else survey.delimiter
        yield _at(Origin(source=name, line=1), "data-delimiter-differs", delimiter=sign)
        return
    for item in survey.missing:
        yield _at(
            Origin(source=name),
            "data-columns-clash" if item.clash else "data-columns-missing",
            needs=" / ".join(item.group[:MOST_COLUMNS]),
            columns=", ".join((item.clash or survey.columns)[:MOST_COLUMNS]),
            framework=job.framework,
            severity="warning" if item.kept else "",
        )
    untold = _untold(survey, job)
    if untold is not None:
        yield untold
    for kind, rule in ROW_RULES.items():
        held = survey.faults.get(kind)
        if held is not None and not (untold is not None and kind == "turns"):
            severity = _severity(kind, held, survey, job)
            values = {"shown": held.shown, "framework": job.framework, "needs": _keys(survey)}
            yield _in(survey, held, rule, severity, **values)
    yield from _of_values(survey, job)
    yield from _of_labels(survey, job)
    yield from _of_sizes(survey, job)


def _untold(survey: Survey, job: DataJob) -> DataFinding | None:
    """Say that the entry of a data set leaves roles without a name, where its rows show it."""
    entry = survey.source.entry
    lacks = () if entry is None else job.own.untold_tags(entry.says)
    if entry is None or not lacks or "turns" not in survey.faults:
        return None
    at = Origin(source=entry.index)
    return _at(at, "data-roles-untold", name=entry.name, lacks=", ".join(lacks))


def _of_values(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    """Say which values a column or the reader of the file does not take."""
    held, refused = survey.faults.get("value"), survey.refused
    if held is not None and refused is not None:
        every = survey.whole and held.count >= survey.rows
        stops = refused.need.refused == "stop" or every
        values = {
            "column": refused.need.column,
            "needs": refused.need.written or " / ".join(refused.need.kinds),
            "has": refused.kind,
            "framework": job.framework,
        }
        yield _in(survey, held, "data-value-refused", "error" if stops else "", **values)
    mixed, datasets = survey.faults.get("mixed"), job.versions.get("datasets", "")
    joined = in_range(datasets, MIXED_SINCE) if datasets else None
    if mixed is not None and joined is not True:
        severity = "error" if joined is False else ""
        yield _in(survey, mixed, "data-kinds-mixed", severity, shown=mixed.shown)
    unscored = survey.faults.get("unscored")
    form = data_format(job)
    rewards = None if form is None else form.rewards
    if unscored is not None and rewards is not None and job.task in SCORED:
        known = in_range(job.version, rewards.versions) is True
        if known and not any(map(job.given, rewards.instead)):
            values = {"column": rewards.column, "source": unscored.shown[:SHOWN]}
            yield _in(survey, unscored, "data-reward-undefined", **values)
    parts = survey.faults.get("parts")
    if parts is not None:
        yield _in(survey, parts, "data-parts-differ", shown=parts.shown)
    yield from _of_images(survey, job)
    same = survey.faults.get("same")
    if same is not None:
        yield _in(survey, same, "data-pair-same")
    repeated = survey.faults.get("repeated")
    if repeated is not None:
        yield _in(survey, repeated, "data-prompt-repeated", column=repeated.shown)
    worse = survey.faults.get("worse")
    if worse is not None:
        yield _in(survey, worse, "data-pair-scored-worse", shown=worse.shown)


def _of_labels(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    """Say which labels are no classes, which pairs answer two prompts, which texts are rows."""
    form = data_format(job)
    if form is None:
        return
    for kind in ("class-text", "class-beyond"):
        held = survey.faults.get(kind)
        if held is not None and form.classes is not None:
            stops = kind == "class-beyond" or in_range(job.version, form.classes.stops) is True
            count = class_count(job)
            most = f"{form.classes.count} - 1" if count is None else str(count - 1)
            values = {"column": form.classes.column, "most": most, "shown": held.shown}
            severity = "error" if stops or _is_all(held, survey) else ""
            yield _in(survey, held, "data-class-unknown", severity, **values)
    drifted = survey.faults.get("drifted")
    if drifted is not None:
        severity = "error" if _is_all(drifted, survey) else ""
        yield _in(survey, drifted, "data-pair-prompts-differ", severity)
    texts = survey.faults.get("json")
    if texts is not None and texts.count > survey.rows / 2:
        suffix = survey.source.name[survey.source.name.rfind(".") :]
        yield _in(survey, texts, "data-json-as-text", suffix=suffix, framework=job.framework)


def _is_all(held: FaultyRows, survey: Survey) -> bool:
    return survey.whole and held.count >= survey.rows


def _of_images(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    """Say that rows have images and the template takes none."""
    form, held = data_format(job), survey.faults.get("pictured")
    if form is None or held is None:
        return
    for taken in held_by(form.images, job):
        template = job.text(taken.argument)
        if template and template not in taken.names:
            values = {"argument": taken.argument, "template": template}
            yield _in(survey, held, "data-images-refused", **values)


def _entry_edit(survey: Survey, job: DataJob) -> EntryEdit | None:
    """Say what the entry of a data set must say: the file that is there, or what its rows show."""
    entry = survey.source.entry
    if entry is None:
        return None
    if survey.source.path is None:
        near = survey.source.near
        wanted: Mapping[str, object] | None = {"file_name": near} if near else None
    else:
        wanted = job.own.described_entry(entry.says, survey.first, job.text("stage"))
    if wanted is None:
        return None
    return EntryEdit(
        entry=entry,
        wanted=tuple(_differing(wanted, entry.says)),
        whole=_merged(entry.says, wanted),
    )


def _differing(
    wanted: Mapping[str, object], held: Mapping[str, object], above: str = ""
) -> Iterator[tuple[str, str]]:
    """Give the keys whose values differ, as YAML and JSON write them."""
    for key, value in wanted.items():
        old = held.get(key)
        if isinstance(value, Mapping):
            inner = old if isinstance(old, Mapping) else {}
            yield from _differing(value, inner, f"{above}{key}.")
        elif value != old:
            yield f"{above}{key}", "true" if value is True else str(value)


def _merged(held: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    out = dict(held)
    for key, value in wanted.items():
        old = out.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            out[key] = _merged(old, value)
        else:
            out[key] = value
    return out


def _undefined(source: DataSource) -> DataFinding:
    values = {"name": source.name, "index": str(source.path), "near": source.near}
    values["known"] = ", ".join(source.known[:MOST_COLUMNS])
    found = _at(source.at, "data-set-undefined", **values)
    return _with_edit(found, source.name, source.near) if source.near else found


def _with_edit(found: DataFinding, word: str, instead: str) -> DataFinding:
    return msgspec.structs.replace(found, instead=(word, instead))


def _keys(survey: Survey) -> str:
    """Name the keys a message must have."""
    talk = next((one.conversation for one in survey.source.layouts if one.conversation), None)
    return "" if talk is None else ", ".join((*talk.role, *talk.content))


def _severity(kind: str, held: FaultyRows, survey: Survey, job: DataJob) -> str:
    """Say how bad it is: a run that drops rows goes on with what is left."""
    form = data_format(job)
    if kind == "unanswered":
        return "error" if held.count >= survey.rows else ""
    if kind not in OF_RUN or form is None:
        return ""
    all_of_them = survey.whole and held.count >= survey.rows
    return "error" if all_of_them or (form.refused_rows == "stop" and kind == "turns") else ""


def _of_sizes(survey: Survey, job: DataJob) -> Iterator[DataFinding]:
    held, limit = survey.faults.get("long"), job.facts.number("train.max_length")
    form = data_format(job)
    lost = survey.faults.get("unanswerable")
    if lost is not None and limit:
        yield _in(survey, lost, "data-answer-cut", tokens=lost.shown, limit=f"{limit:g}")
    if held is None or not limit or form is None:
        pass
    elif next(held_by(form.long_left_out, job), None) is not None:
        every = "error" if survey.whole and held.count >= survey.rows else ""
        values = {"tokens": held.shown, "limit": f"{limit:g}"}
        yield _in(survey, held, "data-long-left-out", every, **values)
    elif held.count >= survey.rows:
        dropped = form.long_rows == "drop" and not _is_cut(job)
        rule = "data-all-too-long" if dropped else "data-all-cut"
        yield _in(survey, held, rule, tokens=held.shown, limit=f"{limit:g}")
    image = survey.largest_image
    limited = any(job.facts.number(kind) for kind in ("vision.max_pixels", "vision.pixel_cap"))
    if image is not None and image.pixels > HUGE and not limited and survey.largest:
        values = {"width": str(image.width), "height": str(image.height)}
        yield _in(survey, FaultyRows(survey.largest, count=1), "data-image-huge", **values)


def _is_cut(job: DataJob) -> bool:
    """Tell whether the launch has long samples cut instead of dropped."""
    return (job.facts.text("train.truncation") or job.text("truncation_strategy")) in (
        "left",
        "right",
        "truncation_left",
        "split",
    )


def _of_splits(surveys: Sequence[Survey]) -> Iterator[DataFinding]:
    train = [item for item in surveys if item.source.split == "train"]
    seen = {digest for item in train for digest in item.digests}
    for item in surveys:
        if item.source.split != "eval":
            continue
        shared = sorted(row for digest, row in item.digests.items() if digest in seen)
        if shared:
            values = {"count": str(len(shared)), "rows": str(item.rows), "row": str(shared[0])}
            yield _at(Origin(source=item.source.name), "data-in-train-and-eval", **values)
    held_out = sum(item.rows for item in surveys if item.source.split == "eval")
    trained = sum(item.rows for item in train)
    if train and all(item.whole and item.rows for item in train) and held_out > trained:
        values = {"held_out": str(held_out), "trained": str(trained)}
        yield _at(train[0].source.at, "data-eval-larger", **values)


def _of_amounts(train: Sequence[Survey], job: DataJob) -> Iterator[DataFinding]:
    """Compare the rows with what a split, a block and one step of the training take."""
    if not train or not all(item.whole and item.rows for item in train):
        return
    left = left_to_train(train, job)
    if left is not None:
        told = {"argument": left.argument, "share": f"{left.share:g}", "rows": str(left.rows)}
        yield _at(train[0].source.at, "data-nothing-left", name=left.names, **told)
        return
    tokens, limit = tokens_below_a_block(train, job), job.facts.number("train.max_length")
    if tokens is not None and limit:
        values = {"tokens": f"{tokens:.0f}", "limit": f"{limit:g}"}
        yield _at(train[0].source.at, "data-below-a-block", **values)
    batch = smallest_batch(job)
    if not batch or job.facts.value("train.packing") is True:
        return
    per_prompt = job.facts.number("rlhf.num_generations") if job.task == "grpo" else None
    rows, prompts = sum(item.rows for item in train), batch / (per_prompt or 1)
    if rows < prompts:
        values = {"rows": str(rows), "batch": f"{prompts:g}"}
        yield _at(train[0].source.at, "data-fewer-than-batch", **values)


def _of_rewards(train: Sequence[Survey], job: DataJob) -> Iterator[DataFinding]:
    """Name what reward functions ask for and no column gives."""
    columns = tuple(dict.fromkeys(name for item in train for name in item.columns))
    if not columns or job.task not in SCORED:
        return
    for item in missing_inputs(job, columns):
        shown = ", ".join(columns[:MOST_COLUMNS])
        values = {"function": item.function, "input": item.name, "columns": shown}
        yield _at(item.at, "data-reward-input-missing", **values)


def _at(at: Origin, rule: str, severity: str = "", **values: str) -> DataFinding:
    return DataFinding(rule=rule, at=at, values=values, severity=severity)


def _in(
    survey: Survey, held: FaultyRows, rule: str, severity: str = "", **values: str
) -> DataFinding:
    """Make a finding that stands in the data: at a line, or else at the file, the row named."""
    at = Origin(source=survey.source.name, line=held.first.line)
    told = {"row": str(held.first.row), "count": str(held.count), "rows": str(survey.rows)}
    told |= {"more": str(held.count - 1)} if held.count > 1 else {}
    shown = {key: text[:SHOWN] if key == "shown" else text for key, text in values.items()}
    return DataFinding(rule=rule, at=at, values={**told, **shown}, severity=severity)
