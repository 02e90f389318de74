"""axolotl: https://github.com/axolotl-ai-cloud/axolotl."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Axolotl(Framework):
    """axolotl."""

    name = "axolotl"
    nested_files = True
    nests_changes = True


FRAMEWORK = Axolotl()
