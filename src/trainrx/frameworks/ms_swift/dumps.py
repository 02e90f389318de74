"""What ms-swift prints of its arguments (swift/pipelines/base.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.frameworks.common.dumps import DumpForm, Kind, Read, leaves, read_dict
from trainrx.inputs.reprs import Node, read_repr, read_scalar
from trainrx.model.pattern import late

OBJECTS: Mapping[str, str] = {
    "SftArguments": "sft",
    "TrainArguments": "sft",
    "PtArguments": "pt",
    "PretrainArguments": "pt",
    "RLHFArguments": "rlhf",
    "InferArguments": "infer",
    "DeployArguments": "deploy",
    "RolloutArguments": "rollout",
    "ExportArguments": "export",
    "EvalArguments": "eval",
    "AppArguments": "app",
    "AppUIArguments": "app-ui",
    "WebUIArguments": "web-ui",
    "WebuiArguments": "web-ui",
    "SamplingArguments": "sample",
    "MegatronTrainArguments": "megatron sft",
    "MegatronSftArguments": "megatron sft",
    "MegatronPretrainArguments": "megatron pt",
    "MegatronRLHFArguments": "megatron rlhf",
    "MegatronExportArguments": "megatron export",
}
_SETTING = late(
    r"Setting (?P<args>args\.)?(?P<name>[A-Za-z_]\w{0,60}): (?P<value>.{1,400}?)"
    r"(?P<hint>\. You can adjust this hyperparameter through the environment variable: .*)?\.?$"
)


def forms() -> Iterator[DumpForm]:
    """Give the forms of its dumps."""
    yield DumpForm(
        b"model_kwargs: {", lambda text, _: read_dict(text[14:], "ms-swift", "", "model-kwargs")
    )
    yield DumpForm(
        b"Setting ", lambda text, before: read_setting(text, before) if "swift]" in before else None
    )


def read_setting(text: str, before: str) -> Read | None:
    """Read a line in which ms-swift says what it sets."""
    line = text.partition("\n")[0].rstrip()
    match = _SETTING.match(line)
    if match is None:
        return None
    environment = match["hint"] is not None or "Using environment variable" in before
    kind: Kind = "environment" if environment else "adjusted"
    name = match["name"].upper() if environment else match["name"]
    fields = {name: _plain(match["value"])}
    return Read("ms-swift", "", kind, leaves(fields))


def _plain(text: str) -> Node:
    return read_repr(text) if text[:1] in "[{(<'\"" else read_scalar(text)
