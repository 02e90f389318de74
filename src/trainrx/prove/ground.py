"""What a changed launch rests on beyond its own words: cards, their memory, its data, checkpoints.

A launch that is well-formed after an edit may still end at the next thing: on a machine without a
card, at rows its task does not read, at a folder that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trainrx.catalog.catalog import plain
from trainrx.catalog.tables import Taker
from trainrx.data.job import DataJob
from trainrx.evidence.blocks import beginnings
from trainrx.frameworks import framework_of
from trainrx.knowledge.packages import needed_package
from trainrx.launch.places import started_in
from trainrx.model.facts import Facts
from trainrx.model.job import Argument
from trainrx.model.memory import Prediction
from trainrx.model.pattern import late
from trainrx.model.result import Change
from trainrx.model.text import Lang, Text
from trainrx.prove.attempt import Attempt, TrialLaunch
from trainrx.prove.mending import begun
from trainrx.prove.recheck import LaunchReading
from trainrx.prove.reread import LaunchContext

ON_CPU = Text(
    en="{spelled}: needs an accelerator, and this machine has none",
    zh="{spelled}：需要加速卡，而这台机器没有",
)
NO_CARD_SEEN = Text(
    en="{spelled}: needs an accelerator, and nothing here shows one",
    zh="{spelled}：需要加速卡，而这里看不出有卡",
)
LOGIN = Text(
    en="{spelled}: needs a login and the network, and nothing here shows them",
    zh="{spelled}：需要登录和网络，而这里看不出有",
)
FROM_A_HUB = Text(
    en="{name} ({param}): not at hand, so it has to come from the hub",
    zh="{name}（{param}）：不在本地，须从 hub 下载",
)
NOT_OF_KIND = Text(en="{name} {value}: it takes no such value", zh="{name} {value}：不接受这样的值")
AS_TEXT = Text(
    en="{name} {value}: YAML reads it as text, a number has a point",
    zh="{name} {value}：YAML 会当作文本，数字须带小数点",
)
NOTHING_NAMED = Text(en="no {what} is named in the launch", zh="启动命令里没有指定{what}")
MODEL, DATA = Text(en="model", zh="模型"), Text(en="data set", zh="数据集")
ROWS = Text(en="data set to evaluate on", zh="评估数据集")
NEXT = Text(en="what comes next: {said}", zh="接下来的问题：{said}")
GONE = Text(en="{name} ({param}): nothing is there", zh="{name}（{param}）：该路径不存在")
GROWS = Text(
    en="memory: it takes more than before, and the card is not known",
    zh="显存：会比原来占用更多，而显卡未知",
)
GROWS_BEYOND = Text(
    en="memory: it takes more than before, up to {high} GiB; the card has {limit}",
    zh="显存：会比原来占用更多，最多 {high} GiB，而卡上只有 {limit} GiB",
)

HUB = "hub-unreachable"
_PUSHES = ("push_to_hub",)
_SERVICES = frozenset({"wandb", "swanlab", "comet_ml", "neptune", "clearml", "dagshub"})
SMALL_GIB = 4.0
"""What any card that is in use for training has, GiB."""
_NOTICED = 1.02
"""Share from which on a launch takes more memory than it did."""
_HALF = frozenset({"bf16", "fp16"})
_ON = frozenset({"", "true", "1", "yes"})
_ALWAYS = frozenset({"fsdp", "quantization_bit", "quant_bits", "load_in_4bit", "load_in_8bit"})
_SWITCHES = frozenset({"bf16", "fp16", "tf32", "pure_bf16", "bf16_full_eval", "fp16_full_eval"})
_WORDS = late(
    r"\b(?:float16|half|fp16|bf16|flash[\w-]*attn\w*|flash_attention\w*|nccl|hccl|cuda|deepspeed"
    r"|zero[123]\w*|vllm|bnb\w*|bitsandbytes|liger\w*|unsloth|\w*_8bit|paged_\w+|\w*_4bit)\b",
    re.IGNORECASE,
)
"""Values that only a card can carry out, or that are not known to go without one."""
_CARD = late(
    r"\bcuda:\d|CUDA out of memory|NCCL version|\bNVIDIA (?:[A-Z]+\d|GeForce|Tesla|Graphics)"
    r"|GPU \d+ has a total capacity|NVIDIA-SMI|\bnpu:\d"
)
_NO_CARD = late(
    r"not compiled with CUDA enabled|No CUDA GPUs are available|no available devices found"
    r"|CUDA is required but not available|no NVIDIA driver on your system|no NVIDIA GPU"
)
_TELLS = ("hardware.gpu", "hardware.gpu_gib", "hardware.gpus", "parallel.visible_gpus")
_OFF_CARD = ("use_cpu", "no_cuda")
_NOT_AT_HAND = ("checkpoint-missing", "data-file-missing", "data-image-missing")
_EXPONENT = late(r"^[ ]*([\w.-]+):[ ]*([-+]?\d+[eE][-+]?\d+)[ ]*(?:#.*)?$", re.MULTILINE)
"""A number as YAML 1.1 does not read it."""
_STEP = late(r"checkpoint-\d+/?$")


def machine(trial: TrialLaunch) -> bool | None:
    """Tell whether the job runs on a card, by what was told, logged or installed; None: unknown."""
    around, held = trial.around, trial.before.arguments
    if any(name in held and held[name].value is True for name in _OFF_CARD):
        return False
    if around.known.value("torch.cpu_build") is True:
        return False
    logged = [
        block.data.decode(errors="replace")
        for _, blocks in beginnings(around.given.logs)
        for block in blocks
    ]
    if any(_NO_CARD.search(text) for text in logged):
        return False
    told = (around.known.get(name) for name in _TELLS)
    build = around.versions.get("torch", "").partition("+")[2]
    if any(one is not None and one.value for one in told) or build.startswith(("cu", "rocm")):
        return True
    return True if any(_CARD.search(text) for text in logged) else None


def of_device(changes: Iterable[Change], attempt: Attempt, trial: TrialLaunch) -> Iterator[str]:
    """Name values that a change brings in and that need a card, where none is known to be there."""
    wanted = [change for change in changes if _needs_card(change)]
    if attempt.reading is not None:
        wanted += _by_meaning(changes, attempt.reading.facts, trial)
    found = machine(trial) if wanted else True
    if found is True:
        return
    said = ON_CPU if found is False else NO_CARD_SEEN
    for spelled in dict.fromkeys(_shown(change) for change in wanted):
        yield said.in_(trial.around.lang).format(spelled=spelled)


def _needs_card(change: Change) -> bool:
    if change.action == "remove" or change.kind == "package":
        return False
    name, value = plain(change.param), change.to or ""
    if change.kind == "code":  # the value stands in words: `fsdp: full_shard`
        name, _, value = value.partition(":")
        name, value = plain(name.strip()), value.strip()
    value = value.strip("'\"").lower()
    if name in _SWITCHES:
        return value in _ON
    if name in _ALWAYS:
        return value not in ("", "none", "0", "false", "null")
    return bool(_WORDS.search(value))


def _by_meaning(changes: Iterable[Change], after: Facts, trial: TrialLaunch) -> list[Change]:
    """Give the changes by which a parameter gets a value that its packages need a card for."""
    params, before = trial.around.knowledge.params, trial.before.facts
    found = []
    for change in changes:
        param = params.get(change.canonical)
        if param is None or after.value(param.id) == before.value(param.id):
            continue
        value = after.value(param.id)
        half = param.id == "train.precision" and value in _HALF
        if half or needed_package(param, value):
            found.append(change)
    return found


def _shown(change: Change) -> str:
    return change.spelled or f"{change.param} {change.to}"


def of_kinds(changes: Sequence[Change], attempt: Attempt, trial: TrialLaunch) -> Iterator[str]:
    """Name values that kept their words under another name, which takes none of that kind."""
    launch = None if attempt.reading is None else attempt.reading.launch
    lang = trial.around.lang
    names = {plain(name) for change in changes for name in (change.param, change.to or "")}
    for file in attempt.patched.files:
        for name, value in (
            _EXPONENT.findall(file.after) if file.name.endswith((".yaml", ".yml")) else ()
        ):
            if plain(name) in names:
                yield AS_TEXT.in_(lang).format(name=name, value=value)
    held = [arg for arg in (launch.args if launch else ()) if plain(arg.name) in names]
    if launch is None or not held:
        return
    takes = Taker(launch, trial.around.known.text("launch.framework_version"))
    for arg in held:
        value = " ".join(arg.values or ())
        if value and takes.answer(arg.name, value, from_file=arg.via == "config") == "refused":
            yield NOT_OF_KIND.in_(lang).format(name=arg.name, value=value)


def of_growth(attempt: Attempt, trial: TrialLaunch) -> Iterator[str]:
    """Say that a launch takes more memory than it did, where its card may not have that."""
    before, after = trial.before.memory, attempt.reading and attempt.reading.memory
    if not isinstance(before, Prediction) or not isinstance(after, Prediction):
        return
    if after.card.gib <= _NOTICED * before.card.gib or machine(trial) is False:
        return
    lang, high = trial.around.lang, after.card.high
    if after.limit_gib is None:
        if high > SMALL_GIB:
            yield GROWS.in_(lang)
    elif high > after.limit_gib:
        shown = {"high": f"{high:.1f}", "limit": f"{after.limit_gib:.1f}"}
        yield GROWS_BEYOND.in_(lang).format(**shown)


def of_login(changes: Iterable[Change], lang: Lang) -> Iterator[str]:
    """Name values that a change brings in and that reach out of the machine."""
    for change in changes:
        value = (change.to or "").lower()
        pushes = plain(change.param) in _PUSHES and value in _ON
        if change.action != "remove" and (pushes or value in _SERVICES):
            yield LOGIN.in_(lang).format(spelled=_shown(change))


def of_next(attempt: Attempt, trial: TrialLaunch, cause: str = "") -> Iterator[str]:
    """Name what the changed launch meets next in its files: rows, checkpoints that are not there.

    A job that was seen to train had them. `cause` is the id of what the change is to answer.
    """
    around, reading = trial.around, attempt.reading
    if reading is None or reading.launch is None or begun(around.known):
        return
    own = framework_of(reading.launch.framework)
    if any(change.action == "remove" for change in attempt.changes):
        for what, names in ((MODEL, own.model_arguments), (DATA, own.train_data)):
            if _is_unset(names, reading.arguments):
                yield NOTHING_NAMED.in_(around.lang).format(what=what.in_(around.lang))
    if _evaluates_anew(attempt) and not _has_rows_to_evaluate(reading, around):
        yield NOTHING_NAMED.in_(around.lang).format(what=ROWS.in_(around.lang))
    folder = around.given.beside.get(reading.launch.origin.source)
    if cause == HUB:
        names = (*own.model_arguments, *own.adapter_arguments)
        for name, value in _held(names, reading.arguments):
            if not _is_local(value) and not ((folder or Path()) / value).exists():
                yield FROM_A_HUB.in_(around.lang).format(name=value, param=name)
    yield from _data(reading, around, folder)
    if folder is None:
        return
    names = (*own.resume_arguments, *own.adapter_arguments)
    for name, value in _held(names, reading.arguments):
        if _is_local(value) and _is_gone(value, folder):
            yield GONE.in_(around.lang).format(name=value, param=name)


def _evaluates_anew(attempt: Attempt) -> bool:
    """Tell whether a change turns evaluation on."""
    return any(
        plain(change.param) == "eval_strategy"
        and change.now == "unset"
        and (change.to or "").strip("'\"") not in ("", "no")
        for change in attempt.changes
    )


def _has_rows_to_evaluate(reading: LaunchReading, around: LaunchContext) -> bool:
    """Tell whether a launch, or a program, names data that is held out."""
    own = framework_of(reading.launch.framework if reading.launch else "")
    names = {*own.eval_data, own.held_out_argument, "eval_dataset", "val_size"} - {""}
    if any(name in reading.arguments and reading.arguments[name].value for name in names):
        return True
    return any("eval_dataset" in (item.text or "") for item in around.given.scripts)


def _is_unset(names: Collection[str], arguments: Mapping[str, Argument]) -> bool:
    """Tell whether a framework takes one of some names, and none of them has a value."""
    held = [arguments[name] for name in names if name in arguments]
    return bool(held) and all(item.known and item.value in (None, "", []) for item in held)


def _held(names: Iterable[str], arguments: Mapping[str, Argument]) -> Iterator[tuple[str, str]]:
    """Give the names that are set, with each word of their values."""
    for name in names:
        item = arguments.get(name)
        if item is not None and item.known and item.value is not None:
            values = item.value if isinstance(item.value, list) else [item.value]
            yield from ((name, str(value)) for value in values if isinstance(value, str))


def _data(reading: LaunchReading, around: LaunchContext, folder: Path | None) -> Iterator[str]:
    """Name what is wrong with the rows and checkpoints of a launch, as lint does with --data."""
    if around.linted is None or reading.launch is None:
        return
    # the readers of data are loaded only where all else is proved
    from trainrx.data.checkpoints import checkpoint_findings
    from trainrx.data.findings import data_findings
    from trainrx.data.survey import surveyed
    from trainrx.linter.check import filled

    job = DataJob(
        framework=reading.launch.framework,
        version=reading.facts.text("launch.framework_version") or "",
        arguments=reading.arguments,
        facts=reading.facts,
        origin=reading.launch.origin,
        folder=folder,
        start=started_in(reading.launch.workdir, folder),
        brief=True,
        edited=reading.edited,
    )
    rules = around.linted.lint.rules
    for item in (*data_findings(surveyed(job), job), *checkpoint_findings(job)):
        rule = rules[item.rule]
        # a file that was not copied along is no file that is gone
        if (item.severity or rule.severity) == "error" and item.rule not in _NOT_AT_HAND:
            said = filled(rule.message.in_(around.lang), item.values)
            yield NEXT.in_(around.lang).format(said=said)


def _is_local(value: str) -> bool:
    """Tell whether a name can only be a folder: on a hub there is one slash, and no step."""
    if value.lower() in ("true", "false", "none") or "$" in value or value.startswith("~"):
        return False
    return value.startswith(("/", ".")) or value.count("/") > 1 or bool(_STEP.search(value))


def _is_gone(value: str, folder: Path) -> bool:
    """Tell whether nothing is at a path; one on a tree that is not here at all is not known."""
    path = Path(value)
    if not path.is_absolute():
        roots = (folder, Path(), *folder.absolute().parents[:3])
        return not any((root / path).exists() for root in roots)
    above = next(one for one in path.parents if one.exists())
    return not path.exists() and above != Path(path.anchor)
