"""TRL of Hugging Face: https://github.com/huggingface/trl."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Trl(Framework):
    """TRL of Hugging Face."""

    name = "trl"
    library = True
    refuses_unknown = True


FRAMEWORK = Trl()
