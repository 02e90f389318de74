"""`transformers.Trainer`: arguments for one CPU, all batches of the sample, then a few steps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

from .record import NOT_ALL, ROWS, WORLD, leave, once, tell

SECONDS = 60.0
"""How long batches are made at most."""
MOST_REPEATED = 64
"""Times the rows of the sample that are made into batches: pairs count twice, prompts once for each
answer, and of data that streams there is no end."""
STEPS = 2
"""Micro-batches that are trained on."""
OFF: dict[str, Any] = {
    "deepspeed": None,
    "fsdp": "",
    "fsdp_config": None,
    "bf16": False,
    "fp16": False,
    "tf32": None,
    "torch_compile": False,
    "use_liger_kernel": False,
    "push_to_hub": False,
    "load_best_model_at_end": False,
    "save_strategy": "no",
    "dataloader_num_workers": 0,
    "dataloader_prefetch_factor": None,
    "dataloader_persistent_workers": False,
    "report_to": "none",
}
"""What one process on a CPU is told in place of what the job says."""
_told: set[int] = set()
"""Rows that were told as they are: a prompt comes once for each answer to it."""
QUIET = ("report_to", "save_strategy", "dataloader_num_workers", "dataloader_prefetch_factor")


def change_arguments(module: ModuleType) -> None:
    """Change the arguments before they are checked."""
    kind = module.TrainingArguments
    original = kind.__post_init__

    @wraps(original)
    def post_init(self: Any) -> None:
        for name, value in OFF.items():
            now = getattr(self, name, None)
            if not hasattr(self, name) or now in (value, None, False, "", [], {}):
                continue
            if name not in QUIET:
                once("left-out", name)
            setattr(self, name, value)
        if hasattr(self, "report_to"):
            self.report_to = "none"
        if WORLD > 1:
            # all that is shared among processes is one's: batches stay as many rows as they are
            self.gradient_accumulation_steps = int(self.gradient_accumulation_steps or 1) * WORLD
        output = os.environ.get("TRAINRX_DRY_RUN_OUT")
        if output:
            self.output_dir = output
            if getattr(self, "logging_dir", None):
                self.logging_dir = output
        original(self)

    kind.__post_init__ = post_init


def change_trainer(module: ModuleType) -> None:
    """Change how it trains."""
    kind = module.Trainer
    original, step = kind.train, kind.training_step

    @wraps(original)
    def train(self: Any, *args: Any, **options: Any) -> Any:
        tell("stage", name="trains")
        _look_through(self)
        if _has_no_values(self):
            leave()
        tell("stage", name="steps")
        original(self, *args, **options)
        tell("stage", name="done")
        leave()

    @wraps(step)
    def training_step(self: Any, *args: Any, **options: Any) -> Any:
        done = step(self, *args, **options)
        self._dry_steps = getattr(self, "_dry_steps", 0) + 1
        tell("step", loss=_number(done))
        if self._dry_steps >= STEPS:
            tell("stage", name="done")
            leave()
        return done

    kind.train, kind.training_step = train, training_step


def _has_no_values(trainer: Any) -> bool:
    return any(item.is_meta for item in trainer.model.parameters())


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except Exception:
        return None


def _look_through(trainer: Any) -> None:
    """Make the batches of the sample, those of the evaluation too, and tell what they hold."""
    data = getattr(trainer, "train_dataset", None)
    tell("rows", split="train", rows=_length(data))
    tokenizer = _tokenizer(trainer)
    for batch in _batches(trainer.get_train_dataloader(), "train", tokenizer):
        _tell_samples(batch, tokenizer, "train")
    held = getattr(trainer, "eval_dataset", None)
    parts = held if isinstance(held, dict) else {"eval": held}
    for name, part in parts.items():
        if part is not None:
            tell("rows", split=name, rows=_length(part))
            for batch in _batches(trainer.get_eval_dataloader(part), name, tokenizer):
                _tell_samples(batch, tokenizer, name)


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except TypeError:
        return None


def _tokenizer(trainer: Any) -> Any:
    for name in ("processing_class", "tokenizer"):
        found = getattr(trainer, name, None)
        if found is not None:
            return getattr(found, "tokenizer", found)
    return None


def _batches(loader: Any, split: str, tokenizer: Any) -> Iterator[Any]:
    """Give batches until the rows or the time are spent."""
    ends, rows = time.monotonic() + SECONDS, 0
    collate = getattr(loader, "collate_fn", None)
    if collate is not None:
        _find_rows(loader, collate, tokenizer)
    for batch in loader:
        yield batch
        rows += _rows(batch)
        if rows > MOST_REPEATED * ROWS or time.monotonic() > ends:
            once("note", NOT_ALL)
            return
    tell("stage", name=f"batches of {split}")


def _as_text(one: Any, tokenizer: Any) -> str:
    """Give what a sample reads: its tokens as text, or itself."""
    ids: Any = one.get("input_ids") if isinstance(one, dict) else None
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return _decoded(tokenizer, ids) if isinstance(ids, list) else str(one)


def _find_rows(loader: Any, collate: Any, tokenizer: Any) -> None:
    @wraps(collate)
    def collated(features: list[Any]) -> Any:
        try:
            return collate(features)
        except Exception as error:
            first = next((one for one in features if _fails(collate, one)), None)
            if first is not None:
                said = f"{type(error).__name__}: {error}"[:500]
                tell("failed-sample", read=_as_text(first, tokenizer), error=said)
            raise

    try:
        loader.collate_fn = collated
    except Exception:
        once("note", "the collator is not watched")


def _fails(collate: Callable[..., Any], one: Any) -> bool:
    try:
        collate([one])
    except Exception:
        return True
    return False


def _rows(batch: Any) -> int:
    if isinstance(batch, dict) or hasattr(batch, "items"):
        return max((len(value) for value in batch.values() if hasattr(value, "__len__")), default=1)
    return len(batch) if hasattr(batch, "__len__") else 1


def _tell_samples(batch: Any, tokenizer: Any, split: str) -> None:
    """Tell the texts of a batch: what is read, and what of it is learnt."""
    if not hasattr(batch, "items"):
        for one in batch if isinstance(batch, (list, tuple)) else ():
            read = str(one)
            if hash(read) not in _told:
                _told.add(hash(read))
                tell("sample", split=split, read=read, learnt=None)
        return
    held = dict(batch.items())
    for name, value in held.items():
        if not name.endswith("input_ids") or not hasattr(value, "tolist"):
            continue
        labels = _labels(held, name)
        for at, ids in enumerate(value.tolist()):
            if not isinstance(ids, list):
                continue
            learnt = None if labels is None else _kept(ids, labels[at])
            tell(
                "sample",
                split=split,
                name=name,
                tokens=_tokens(held, name, at, ids),
                read=_decoded(tokenizer, ids),
                learnt=None if learnt is None else _decoded(tokenizer, learnt),
            )


def _tokens(held: dict[str, Any], name: str, at: int, ids: list[int]) -> int:
    mask = held.get(name.replace("input_ids", "attention_mask"))
    if mask is None or not hasattr(mask, "tolist"):
        return len(ids)
    row = mask.tolist()[at]
    return sum(1 for one in row if one) if isinstance(row, list) else len(ids)


def _labels(held: dict[str, Any], name: str) -> list[list[int]] | None:
    """Give the labels of ids, or what stands for them: a mask of the answer."""
    found = held.get(name.replace("input_ids", "labels"))
    if found is not None and hasattr(found, "tolist"):
        rows = found.tolist()
        return rows if rows and isinstance(rows[0], list) else None
    mask = held.get("completion_mask")
    if mask is not None and hasattr(mask, "tolist") and name == "input_ids":
        return [[0 if one else -100 for one in row] for row in mask.tolist()]
    return None


def _kept(ids: list[int], labels: list[int]) -> list[int]:
    if len(ids) != len(labels):
        return [one for one in labels if one >= 0]
    return [one for one, label in zip(ids, labels) if label != -100]


def _decoded(tokenizer: Any, ids: list[int]) -> str:
    if tokenizer is None:
        return ""
    try:
        return str(tokenizer.decode([one for one in ids if one >= 0]))
    except Exception:
        return ""
