"""Changes by hand, and scripts patched with them."""

from __future__ import annotations

from collections.abc import Mapping

from trainrx.fix.patch import patch_launch
from trainrx.launch.find import find_launches
from trainrx.model.facts import Origin
from trainrx.model.planning import Patched
from trainrx.model.result import Change, ChangeAction, Kind
from trainrx.shell import read_script

_SPELLED = {"arg": "--{} {}", "env": "{}={}", "config_file": "{}: {}"}


def change(
    param: str,
    to: str | None,
    *,
    kind: Kind = "arg",
    action: ChangeAction = "set",
    spelled: str | None = None,
    from_: str | None = None,
    canonical: str = "",
    at: Origin | None = None,
) -> Change:
    """Give a change as the speller would write it."""
    text = _SPELLED.get(kind, "{} {}").format(param, to or "").rstrip()
    return Change(
        kind=kind,
        param=param,
        canonical=canonical,
        action=action,
        to=to,
        spelled=text if spelled is None else spelled,
        from_=from_,
        at=at,
    )


def removal(param: str, *, kind: Kind = "arg") -> Change:
    """Give the removal of a parameter."""
    return change(param, None, kind=kind, action="remove")


def renaming(wrong: str, right: str) -> Change:
    """Give the correction of a misspelt name."""
    return change(right, right, action="switch", spelled=right, from_=wrong)


def patch_text(
    text: str, *changes: Change, number: int = 0, texts: Mapping[str, str] | None = None
) -> Patched:
    """Patch the launch of a number in a script called run.sh, and the files beside it."""
    beside = {**(texts or {}), "run.sh": text}
    script = read_script(text, "run.sh", files=beside.get)
    launch = find_launches(script)[number]
    return patch_launch(launch, script, beside, changes)


def patched_script(text: str, *changes: Change, number: int = 0) -> str:
    """Give a script with all changes made; each of them must have found its place."""
    done = patch_text(text, *changes, number=number)
    assert not done.left, done.left
    assert all(item.name == "run.sh" and item.before == text for item in done.files)
    return done.files[0].after if done.files else text
