"""Names ms-swift 2.x has for models, templates, data sets and modules, and those since 3.0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial

from trainrx.frameworks.common.renames import Given
from trainrx.frameworks.common.renames import RenamedValues as Renamed
from trainrx.knowledge.catalogs import read_old_names
from trainrx.model.catalog import OldName
from trainrx.model.job import RawLaunch
from trainrx.model.text import Text

_GENERATION = ("-generation-bos", "-generation")
_ALL = {"all": "all-linear", "embedding": "all-embedding"}
_DEFAULT = frozenset({"default", "auto"})
_TEMPLATES = frozenset({"template", "template_type"})
_MODULES = frozenset({"target_modules", "lora_target_modules"})
_DATA = frozenset({"dataset", "val_dataset"})
_TRUE = frozenset({"1", "true", "yes", "on"})
SINCE = "3.0.0"
_SOURCE = "model, template and data set tables of the ms-swift 2.6.1 and 3.2.1 wheels"

TYPE_NAMES_MODEL = Text(
    en="in 2.x the model type alone named the model; since 3.0 --model does",
    zh="2.x 只凭 model_type 就能定模型；3.0 起由 --model 指定",
)
TYPE_FROM_CONFIG = Text(
    en="the model type is found from the model's config.json since 3.0; name it only when asked",
    zh="3.0 起从模型的 config.json 判断类型；提示有歧义时才需指定",
)
TEMPLATE_OF_TYPE = Text(
    en="in 2.x the model type brought its template along; later releases ask for it where several "
    "models share a type",
    zh="2.x 的 model_type 自带模板；后来多个模型共用一个类型时要写明模板",
)
LOCAL_MODEL = Text(
    en="2.x does not find out the type of a local model: add --model_type, a name of its table",
    zh="2.x 不会判断本地模型的类型：补上 --model_type（取 2.x 表里的名字）",
)
GENERATION = Text(
    en="templates for plain continuation are a switch since 3.0",
    zh="3.0 起续写模板改为开关",
)
DEFAULT_MODULES = Text(
    en="2.x: the model's own list (attention projections); 3.x: every linear layer",
    zh="2.x：模型自带列表（注意力投影）；3.x：全部线性层",
)


_renamed = partial(Renamed, source=_SOURCE)


@lru_cache(maxsize=4)
def _table(kind: str) -> Mapping[str, OldName]:
    return {item.name: item for item in read_old_names() if item.kind == kind}


def old_model(name: str) -> OldName | None:
    """Give the model a type of 2.x names."""
    return _table("model").get(name)


def is_old_type(name: str) -> bool:
    """Tell whether a model type is one of 2.x and not of 3.x."""
    return name in _table("model") and name not in _table("type")


def hub_of(launch: RawLaunch) -> str:
    """Tell where models come from: USE_HF, as ms-swift reads it."""
    values = {item.name: (item.value or "").lower() for item in launch.env}
    flags = {arg.name.lstrip("-").replace("-", "_"): arg.values for arg in launch.args}
    asked = flags.get("use_hf")
    by_flag = asked is not None and (not asked or asked[0].lower() in _TRUE)
    return "hf" if by_flag or values.get("USE_HF", "0") in _TRUE else "ms"


def forwards(name: str, values: Sequence[str], given: Given, *, hub: str) -> Renamed | None:
    """Say what values of 2.x are since 3.0; None where they are the same words.

    Args:
        name: the argument as 2.x calls it.
        values: its words.
        given: all arguments of the launch, by name.
        hub: `hf` when the launch takes models from Hugging Face, else `ms`.
    """
    if name in ("model_type", "ref_model_type"):
        return _type_forwards(name, values, given, hub)
    if name in _TEMPLATES and values:
        return _template_forwards(
            values[0], old_model(next(iter(given.get("model_type") or ()), ""))
        )
    if name in _DATA:
        words = tuple(_data_forwards(value, hub) for value in values)
        return _renamed(words) if words != tuple(values) else None
    return _modules_forwards(values, given) if name in _MODULES else None


def backwards(name: str, values: Sequence[str], given: Given) -> Renamed | None:
    """Say what values of 3.x and later are in 2.x; None where they are the same words."""
    if name == "model" and values:
        return _model_backwards(values[0], given)
    if name == "model_type":
        return Renamed(None) if old_model(values[0] if values else "") is None else None
    if name in _TEMPLATES and values:
        found = [n for n, item in _table("template").items() if item.now == values[0]]
        same = [n for n in found if n.replace("-", "_") == values[0]]
        choice = same[0] if same else (found[0] if len(found) == 1 else values[0])
        return _renamed((choice,)) if choice != values[0] else None
    if name in _MODULES:
        words = {new: old.upper() for old, new in _ALL.items()}
        out = tuple(words.get(value, value) for value in values)
        return _renamed(out) if out != tuple(values) else None
    return None


def _type_forwards(name: str, values: Sequence[str], given: Given, hub: str) -> Renamed | None:
    row = old_model(values[0]) if values else None
    front = name.removesuffix("model_type")
    path = {f"{front}model_id_or_path", f"{front}model_cache_dir"} & given.keys()
    if row is None:
        return None
    if path:
        known = (row.now,) if row.now else None
        named = _TEMPLATES & given.keys() or front or not row.now_template
        more = () if named else (f"template={row.now_template}",)
        return _renamed(known, more, TEMPLATE_OF_TYPE if more else None)
    place = (row.hf if hub == "hf" else row.ms) or row.ms or row.hf
    if not place:
        return _renamed((row.now,) if row.now else None, lost=not row.now)
    return _renamed(None, (f"{front}model={place}",), TYPE_NAMES_MODEL)


def _template_forwards(value: str, model: OldName | None) -> Renamed | None:
    base = value
    for ending in _GENERATION:
        base = base.removesuffix(ending)
    row = _table("template").get(base)
    now = row.now if row is not None else base
    if base != value:
        own = model.now_template if model is not None else ""
        words = ((own,) if own else None) if base == "default" else (now,)
        return _renamed(words, ("use_chat_template=false",), GENERATION)
    return _renamed((now,)) if now != value else None


def _data_forwards(value: str, hub: str) -> str:
    name, sign, count = value.partition("#")
    row = _table("data").get(name)
    place = "" if row is None else (row.hf if hub == "hf" else row.ms) or row.ms
    return f"{place}{sign}{count}" if place else value


def _modules_forwards(values: Sequence[str], given: Given) -> Renamed | None:
    words: list[str] = []
    for value in values:
        lowered = value.lower()
        if lowered in _DEFAULT:
            words += default_modules(given)
        else:
            words.append(_ALL.get(lowered, value) if value.isupper() else value)
    if tuple(words) == tuple(values):
        return None
    note = DEFAULT_MODULES if any(v.lower() in _DEFAULT for v in values) else None
    return _renamed(tuple(words) or None, note=note)


def default_modules(given: Given) -> tuple[str, ...]:
    """Give the modules 2.x gave LoRA by default for the model of a launch; () when not known."""
    row = old_model(next(iter(given.get("model_type") or ()), ""))
    if row is None:
        row = next(iter(_models_at(given.get("model_id_or_path") or ())), None)
    return row.targets if row is not None else ()


def _models_at(paths: Iterable[str]) -> Iterable[OldName]:
    wanted = {path.lower() for path in paths if path}
    return (
        item for item in _table("model").values() if {item.ms.lower(), item.hf.lower()} & wanted
    )


def _model_backwards(value: str, given: Given) -> Renamed | None:
    """Find the model type 2.x wants to be told for a model it does not know by its id."""
    asked = next(iter(given.get("model_type") or ()), "")
    if old_model(asked) is not None:
        return None
    known = next(iter(_models_at([value])), None)
    if known is not None:
        # the id is enough, unless a folder of that name lies where the job starts
        return _renamed((value,), (f"model_type={known.name}",))
    chosen = _likely(value, asked, next(iter(given.get("template") or ()), ""))
    if chosen is None:
        return _renamed((value,), note=LOCAL_MODEL, lost=True)
    return _renamed((value,), (f"model_type={chosen.name}",), LOCAL_MODEL)


def _likely(value: str, asked: str, template: str) -> OldName | None:
    """Choose a type of 2.x: by the name of the folder, else by template and type of 3.x.

    Types that share a template differ in the weights they would download, which are at hand here.
    """
    base = value.rstrip("/").rsplit("/", 1)[-1].lower()
    models = _table("model").values()
    for item in models:
        if base in {item.ms.rsplit("/", 1)[-1].lower(), item.hf.rsplit("/", 1)[-1].lower()}:
            return item
    chat = [item for item in models if not item.template.endswith(_GENERATION)]
    fitting = [item for item in chat if template and item.now_template == template]
    fitting = [item for item in fitting if item.now == asked] or fitting
    if not template:
        fitting = [item for item in chat if asked and item.now == asked]
    return min(fitting, key=lambda item: (len(item.name), item.name), default=None)


def template_of(model_type: str) -> str:
    """Give the template 3.x has for a model type, "" when there are several or none."""
    row = _table("type").get(model_type)
    return row.now_template if row is not None else ""
