"""Make the model a recipe speaks of: the real class, with adapters and dtypes, without values."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import torch
from torch import nn

from trainrx.exact.record import Recipe
from trainrx.exact.trial import attention, quantised

ROLE_NAMES: dict[str, tuple[str, ...]] = {
    "q": ("q_proj", "q_a_proj", "q_b_proj", "query"),
    "k": ("k_proj", "kv_a_proj_with_mqa", "kv_b_proj", "key"),
    "v": ("v_proj", "kv_b_proj", "value"),
    "o": ("o_proj", "out_proj", "dense", "wo"),
    "gate": ("gate_proj", "w1", "gate_up_proj"),
    "up": ("up_proj", "w3", "gate_up_proj", "c_fc", "fc1", "dense_h_to_4h"),
    "down": ("down_proj", "w2", "c_proj", "fc2", "dense_4h_to_h"),
    "qkv": ("qkv_proj", "c_attn", "query_key_value", "W_pack", "wqkv"),
}
"""What model classes of transformers call the matrices of a role."""


class UnknownClassError(Exception):
    """No model class of this transformers reads the configuration."""


class UnsupportedError(Exception):
    """The class is there, but what the recipe asks of it cannot be done."""


def build(recipe: Recipe) -> tuple[Any, str]:
    """Give the model under its adapters, and how attention is stood in for.

    It is made on the meta device, because modules of fake tensors cannot be cast to another dtype;
    `materialise` makes fake tensors of it.
    """
    config = _config(recipe)
    with torch.device("meta"):
        model, kernel = _instance(recipe, config)
        head = model.get_output_embeddings()
        if head is None:
            raise UnsupportedError(f"{type(model).__name__} has no head over a vocabulary")
        if recipe.quant_bits:
            quantised.pack(model, recipe.quant_bits, double=recipe.double_quant, keep=head)
        if recipe.rank is not None:
            model = _adapt(model, recipe)
            if recipe.modules_trained:
                for part in (base(model).get_input_embeddings(), head):
                    part.weight.requires_grad_()
    if recipe.checkpointing:
        base(model).gradient_checkpointing_enable()
        if recipe.rank is not None:
            base(model).enable_input_require_grads()
    model.train()
    return model, kernel


def materialise(model: Any, recipe: Recipe) -> None:
    """Replace parameters and buffers by fake ones on the CPU, in the dtypes they are kept in."""
    done: dict[int, Any] = {}
    for path, module in model.named_modules():
        lists = (module._parameters, module._buffers)  # noqa: SLF001
        for values in lists:
            for name, value in list(values.items()):
                if value is not None:
                    if id(value) not in done:
                        done[id(value)] = _fake(value, f"{path}.{name}", recipe)
                    values[name] = done[id(value)]
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(
                    module,
                    name,
                    done[id(value)] if id(value) in done else _fake(value, path, recipe),
                )


def _fake(value: Any, path: str, recipe: Recipe) -> Any:
    dtype = value.dtype
    if isinstance(value, nn.Parameter) and dtype.is_floating_point:
        if ".lora_" in path:
            dtype = getattr(torch, recipe.adapter_dtype)
        elif (
            recipe.upcast == "all"
            or (recipe.upcast == "norms" and value.dim() == 1)
            or (recipe.modules_trained and value.requires_grad)
        ):
            dtype = torch.float32
    made = torch.empty_strided(value.shape, value.stride(), dtype=dtype, device="cpu")
    if not isinstance(value, nn.Parameter):
        return made
    return nn.Parameter(made, requires_grad=value.requires_grad)


def base(model: Any) -> Any:
    """Give the transformers model below a peft one."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _config(recipe: Recipe) -> Any:
    from transformers import AutoConfig

    try:
        config = AutoConfig.for_model(recipe.model_type, **recipe.config)
    except (ValueError, KeyError) as error:
        import transformers

        raise UnknownClassError(
            f"transformers {transformers.__version__} has no model class for "
            f"model_type={recipe.model_type!r}"
        ) from error
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    text.use_cache = False
    return text


def _instance(recipe: Recipe, config: Any) -> tuple[Any, str]:
    from transformers import AutoModelForCausalLM

    wanted, kernel = "eager", "the model's own eager attention"
    if recipe.attention != "eager":
        wanted, kernel = "sdpa", "a stand-in for torch's fused attention"
        if recipe.attention == "flash" and attention.register():
            wanted, kernel = attention.NAME, "a stand-in for FlashAttention-2"
    dtype = getattr(torch, recipe.weight_dtype)
    with _no_initial_values(), _default_dtype(dtype):
        try:
            model = AutoModelForCausalLM.from_config(
                config, attn_implementation=wanted, **{_dtype_name(): dtype}
            )
        except ValueError as error:
            if "nrecognized configuration class" in str(error):
                raise UnknownClassError(
                    f"{type(config).__name__} has no causal language model class"
                ) from error
            raise UnsupportedError(str(error).splitlines()[0]) from error
    model.tie_weights()  # skipped with the initial values
    if hasattr(config, "_experts_implementation"):
        config._experts_implementation = "grouped_mm"  # noqa: SLF001
    return model, kernel


def _dtype_name() -> str:
    from transformers import PreTrainedModel

    source = inspect.getsource(PreTrainedModel._from_config)  # noqa: SLF001
    return "dtype" if 'pop("dtype"' in source or "pop('dtype'" in source else "torch_dtype"


def _no_initial_values() -> Any:
    for place in ("transformers.initialization", "transformers.modeling_utils"):
        try:
            module = __import__(place, fromlist=["no_init_weights"])
        except ImportError:
            continue
        if hasattr(module, "no_init_weights"):
            return module.no_init_weights()
    return contextlib.nullcontext()


@contextlib.contextmanager
def _default_dtype(dtype: Any) -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _adapt(model: Any, recipe: Recipe) -> Any:
    from peft import LoraConfig, get_peft_model

    head = model.get_output_embeddings()
    settings = LoraConfig(
        r=recipe.rank or 8,
        target_modules=sorted(_targets(model, recipe.targets, head)),
        lora_dropout=recipe.dropout,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, settings, autocast_adapter_dtype=False)


def _targets(model: Any, roles: tuple[str, ...], head: Any) -> set[str]:
    leaves = {
        name.rsplit(".", 1)[-1]
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and (module is not head or "head" in roles)
    }
    if not roles:
        return leaves
    wanted = {name for role in roles for name in ROLE_NAMES.get(role, ())}
    if "head" in roles:
        wanted |= {name.rsplit(".", 1)[-1] for name, part in model.named_modules() if part is head}
    if {"q", "k", "v"} & set(roles) and not wanted & leaves:
        wanted |= set(ROLE_NAMES["qkv"])
    found = wanted & leaves
    if not found:
        raise UnsupportedError(
            f"none of the adapted matrices ({', '.join(roles)}) is in {type(model).__name__}, "
            f"which has {', '.join(sorted(leaves))}"
        )
    return found
