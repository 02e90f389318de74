"""Names of collectives: what PyTorch, its watchdog and NCCL call one and the same."""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z]+")
_SPELLED = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
    "allreducebarrier": "barrier",
    "send": "send",
    "recv": "recv",
    "recvanysource": "recv",
    "coalesced": "coalesced",
}
_FORMS = ("base", "coalesced", "tensor", "into", "single", "uneven", "out")
"""Words that name the form of a call: they change nothing in what the ranks exchange."""
_PEERS = re.compile(r"(\d{1,7})\s?(?:->|<-)\s?(\d{1,7})")


def operation(name: str) -> str:
    """Give a collective by one name, whoever spells it (`_ALLGATHER_BASE`, `nccl:all_reduce`)."""
    own = name.rpartition(":")[2].strip().lower()
    words = _WORD.findall(own.partition(" ")[0])
    kept = [word for word in words if word not in _FORMS] or words
    joined = "".join(kept)
    return _SPELLED.get(joined, "_".join(kept))


def peers(name: str) -> tuple[int, int] | None:
    """Give the two ranks of a message (`nccl:send 1->2`), the caller's own first."""
    found = _PEERS.search(name)
    return None if found is None else (int(found[1]), int(found[2]))
