"""vLLM, which serves models: https://github.com/vllm-project/vllm."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Vllm(Framework):
    """vLLM."""

    name = "vllm"
    spelled = False
    library = True
    lends_names = True


FRAMEWORK = Vllm()
