"""Options that tell a command what to read: the launch, its surroundings, the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli._versions import VERSIONS_HELP

Paths = Annotated[
    list[Path] | None, typer.Argument(metavar="[PATH]...", show_default=False, hidden=True)
]
Files = list[Path] | None
Cmd = Annotated[
    Files, typer.Option("--cmd", metavar="FILE", help="Launch script or command; may be repeated.")
]
Config = Annotated[
    Files,
    typer.Option(
        "--config", metavar="FILE", help="YAML or JSON config of the launch; may be repeated."
    ),
]
Env = Annotated[
    Path | None, typer.Option("--env", metavar="FILE", help="Output of `env` where it ran.")
]
VersionsOption = Annotated[
    str | None, typer.Option("--versions", metavar="FILE|NAME==VERSION", help=VERSIONS_HELP)
]
Log = Annotated[
    Files, typer.Option("--log", metavar="FILE", help="What the job printed; may be repeated.")
]
Gpu = Annotated[str | None, typer.Option("--gpu", metavar="NAME|24GiB", help="The card.")]
Gpus = Annotated[
    int | None, typer.Option("--gpus", metavar="N", min=1, help="GPUs of the whole job.")
]
Nodes = Annotated[
    int | None, typer.Option("--nodes", metavar="N", min=1, help="Machines of the job.")
]
ModelConfig = Annotated[
    Path | None,
    typer.Option("--model-config", metavar="FILE", help="The model's config.json."),
]
Note = Annotated[
    list[str] | None,
    typer.Option("--note", metavar="TEXT", help="What you saw, in your words; may be repeated."),
]
Framework = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="NAME[==VERSION]",
        help="What trains, e.g. ms-swift; of use where no launch tells.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="The training data, for the lengths of samples."),
]
