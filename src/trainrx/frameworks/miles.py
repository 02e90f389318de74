"""miles, a fork of slime: https://github.com/radixark/miles."""

from __future__ import annotations

from trainrx.frameworks.common.script import argument_names
from trainrx.frameworks.slime import Slime, takes_arguments
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.pattern import late

_ARGUMENTS = frozenset(
    {"use_session_server", "session_server_port", "update_weight_transfer_mode", "tito_model"}
    | {"pause_generation_mode", "offload_rollout_level", "indep_dp", "ft_components", "lora_rank"}
    | {"experts_shared_outer_loras", "use_rollout_indexer_replay", "use_indexer_replay"}
    | {"fully_async", "max_weight_staleness", "async_max_concurrent_samples", "env_report"}
    | {"rollout_submission_granularity", "recompute_logprobs_via_prefill"}
    | {"stream_optimizer_state_to_disk"}
    | {"multi_lora_n_adapters", "lora_train_only", "eval_max_in_flight", "object_store_backend"}
)
"""Arguments of miles (miles/utils/arguments.py at 31f1ca9) that slime never had (its history to
624b824); with those of both they tell."""
_OWN = late(r"(?:--(?:use[_-])?miles[_-][\w-]+|miles(?:_plugins)?\.[a-z]\w*\.[\w.]+)(?:=.*)?")
_CHECKOUT = late(r"(?:.*/)?(?P<name>slime|miles)/[\w./-]+")


class Miles(Slime):
    """miles' programs, and programs of someone's own that take what slime never took."""

    name = "miles"
    folders = ("miles",)
    checkout = ("https://github.com/radixark/miles", "pip install -e . --no-deps")
    fork_of = "slime"
    builds_on = ("slime",)
    lineage = ("miles", "slime")
    path = late(r"(?:.*/)?miles/(?P<name>train|train_async)\.py")

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Tell the fork from its origin: by the folder, else by what only the fork takes."""
        found = self.by_path(entry)
        if found is not None or not takes_arguments(entry):
            return found
        checkout = _CHECKOUT.fullmatch(entry.path.text)
        if checkout is not None:
            own = checkout["name"] == self.name
        else:
            named = any(_OWN.fullmatch(word.text) for word in entry.args)
            own = named or bool(argument_names(entry.args) & _ARGUMENTS)
        return self.launch("train", entry.args) if own else None


FRAMEWORK = Miles()
