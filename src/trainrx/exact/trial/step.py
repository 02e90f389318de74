"""Run one training step without values and count what lives."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import msgspec
import torch
from torch import nn

from trainrx.exact.record import (
    PARTS,
    ExactResult,
    PhasePeak,
    Recipe,
)
from trainrx.exact.trial import attention
from trainrx.exact.trial.build import UnsupportedError, base, build, materialise
from trainrx.exact.trial.counter import LiveStorage
from trainrx.exact.trial.losses import as_accelerate, loss_of

GIB = 2.0**30


def count(recipe: Recipe) -> ExactResult:
    """Build, step and count; figures in GiB per GPU. Time and memory taken are the caller's."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    attention.stand_in()
    model, kernel = build(recipe)
    with FakeTensorMode():
        materialise(model, recipe)
        trained = [one for one in model.parameters() if one.requires_grad]
        if not trained:
            raise UnsupportedError("nothing is trained")
        counter = _counter(recipe)
        counter.follow([*model.parameters(), *model.buffers()], "parameters")
        for one in trained:
            one.register_post_accumulate_grad_hook(
                lambda done: counter.move([done.grad], "gradients")
            )
        with counter:
            _step(recipe, model, trained, counter)
    return _result(recipe, model, trained, counter, kernel)


def _counter(recipe: Recipe) -> LiveStorage:
    shares = recipe.shares
    return LiveStorage(
        {
            "parameters": shares.parameters,
            "gradients": shares.gradients,
            "optimizer": shares.states,
        }
    )


def _step(recipe: Recipe, model: Any, trained: list[Any], counter: LiveStorage) -> None:
    optimizer = _states(recipe, trained, counter)
    gathered = _gathered_bytes(recipe, model)
    if gathered:
        counter.add("gathered", gathered)
    if recipe.gradients_resident:
        for one in trained:
            one.grad = torch.empty_like(one)
            counter.move([one.grad], "gradients")
    shape = (recipe.micro_batch, recipe.length)
    tokens = torch.zeros(shape, dtype=torch.long)
    counter.enter("forward")
    _mark_head(model, counter)
    with _autocast(recipe):
        loss = _loss(recipe, model, tokens)
    if not isinstance(loss, torch.Tensor):
        raise UnsupportedError(f"{type(base(model)).__name__} gave no loss")
    counter.enter("loss")
    loss.backward()
    del loss
    if gathered:
        counter.add("gathered", -gathered)
    counter.enter("step")
    if optimizer is not None:
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()


def _states(recipe: Recipe, trained: list[Any], counter: LiveStorage) -> Any:
    """Make the states as an earlier step has left them; None where they follow a closed form."""
    fixed = recipe.shares.states_bytes
    if fixed is not None:
        counter.add("optimizer", fixed * recipe.shares.states * sum(map(_numel, trained)))
        return None
    optimizer = make_optimizer(recipe.optimizer, trained, foreach=recipe.foreach)
    for one in trained:
        one.grad = torch.empty_like(one)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    states = [value for state in optimizer.state.values() for value in state.values()]
    # a step count has one element and stays on the host
    counter.move([s for s in states if isinstance(s, torch.Tensor) and s.numel() > 1], "optimizer")
    counter.peaks.clear()
    counter.enter("load")
    return optimizer


def _gathered_bytes(recipe: Recipe, model: Any) -> float:
    units = recipe.shares.gathered_units
    lists = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) > 1]
    if not units or not lists:
        return 0.0
    layers = max(lists, key=lambda one: sum(map(_bytes, one.parameters())))
    return units * max(sum(map(_bytes, layer.parameters())) for layer in layers)


def _mark_head(model: Any, counter: LiveStorage) -> None:
    """From the head to the gradient of what went into it is the loss; the rest is the backward."""
    head = base(model).get_output_embeddings()

    def began(_: Any, inputs: tuple[Any, ...]) -> None:
        counter.enter("loss")
        rows = inputs[0]
        if rows.requires_grad:
            rows.register_hook(lambda _: counter.enter("backward"))

    head.register_forward_pre_hook(began)


def _autocast(recipe: Recipe) -> Any:
    if not recipe.autocast:
        return contextlib.nullcontext()
    return torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=recipe.autocast_cache)


def _loss(recipe: Recipe, model: Any, tokens: Any) -> Any:
    if recipe.loss in ("eager", "float") and recipe.logit_share >= 1:
        out = model(input_ids=tokens, labels=tokens, use_cache=False)
        if recipe.loss == "float" and out.logits is not None:
            as_accelerate(out.logits)
        return out.loss
    inner = base(model)
    decoder = inner.get_decoder() if hasattr(inner, "get_decoder") else inner.base_model
    hidden = decoder(input_ids=tokens, use_cache=False)[0]
    head = inner.get_output_embeddings()
    if recipe.loss == "linear":
        for hook in head._forward_pre_hooks.values():  # noqa: SLF001
            hook(head, (hidden,))
    kept = max(2, math.ceil(recipe.length * recipe.logit_share))
    return loss_of(recipe.loss, hidden[:, :kept], head, tokens[:, :kept])


def _result(
    recipe: Recipe, model: Any, trained: list[Any], counter: LiveStorage, kernel: str
) -> ExactResult:
    import transformers

    phases = tuple(
        msgspec.convert(_phase(phase, total, parts), PhasePeak)
        for phase, (total, parts) in counter.peaks.items()
    )
    highest = max(phases, key=lambda one: one.gib)
    return ExactResult(
        allocated=highest.gib,
        peak=highest.phase,
        phases=phases,
        parameters_b=round(sum(map(_numel, model.parameters())) / 1e9, 4),
        trained_b=round(sum(map(_numel, trained)) / 1e9, 4),
        model_class=type(base(model)).__name__,
        torch=str(torch.__version__),
        transformers=transformers.__version__,
        peft=_peft_version(recipe),
        kernel=kernel,
        assumptions=recipe.assumptions,
        left_out=recipe.left_out,
    )


def _phase(name: str, total: float, parts: dict[str, float]) -> dict[str, Any]:
    sizes = [{"name": part, "gib": round(parts.get(part, 0.0) / GIB, 3)} for part in PARTS]
    return {
        "phase": name,
        "gib": round(total / GIB, 3),
        "parts": [one for one in sizes if one["gib"]],
    }


def _peft_version(recipe: Recipe) -> str | None:
    if recipe.rank is None:
        return None
    import peft

    return str(peft.__version__)


def _numel(one: Any) -> int:
    return int(one.numel())


def _bytes(one: Any) -> int:
    return int(one.numel() * one.element_size())


def make_optimizer(name: str, trained: list[Any], *, foreach: bool) -> Any:
    """Give the optimizer a recipe names."""
    if name == "sgd":
        return torch.optim.SGD(trained, lr=1e-3, foreach=foreach)
    fused = name.endswith("fused")
    return torch.optim.AdamW(trained, lr=1e-5, foreach=foreach and not fused, fused=fused or None)
