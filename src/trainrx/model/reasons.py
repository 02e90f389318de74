"""Why the value of an argument is not known: the reasons there are, in English."""

from __future__ import annotations

NOT_SET = "it is not set in the script"
NO_TEXT = "it is set, but not to a text that stands here"
HIDDEN = "it may be among the arguments that are not at hand"
DIFFERS = "its default differs between the releases the job may run"
AT_START = "its default is computed when the program starts"
COMPUTED = "the framework computes it from something that is not known here"

ALL = (NOT_SET, NO_TEXT, HIDDEN, DIFFERS, AT_START, COMPUTED)
