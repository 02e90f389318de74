"""Scripts on the Trainer of transformers: https://github.com/huggingface/transformers."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Transformers(Framework):
    """Scripts on the Trainer of transformers."""

    name = "transformers"
    library = True
    lends_names = True
    builds_on = ("trl",)  # scripts of one's own use both


FRAMEWORK = Transformers()
