"""What ranks say of their own call where PyTorch compares the calls of all (DETAIL).

Format: torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp, 1.9 to 2.13. What a rank says of the
other one may have a wrong number and kind: only what it runs itself is taken.
"""

from __future__ import annotations

import re
from math import prod

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import lines
from trainrx.evidence.readers._operations import operation
from trainrx.model.ranks import CollectiveCall, Reading

MARKS = (b"is running collective: CollectiveFingerPrint(",)
MOST = 1024
"""Bytes of a line that are looked at."""
_OWN = re.compile(
    r"ranks\. Rank (?P<rank>\d{1,7}) is running collective: CollectiveFingerPrint\("
    r"SequenceNumber=(?P<seq>\d{1,12}), OpType=(?P<op>\w{1,40})"
    r"(?:, TensorShape=\[(?P<shape>[\d, ]{0,200})\])?(?:, TensorDtypes=(?P<dtype>\w{1,40}))?"
)


def read(data: bytes, source: Source) -> Reading:
    """Read the first call that each rank names as its own."""
    calls: dict[int, CollectiveCall] = {}
    for line in lines(data, source):
        found = _OWN.search(line.text[:MOST]) if "FingerPrint" in line.text else None
        if found is None:
            continue
        shape = tuple(int(text) for text in (found["shape"] or "").split(",") if text.strip())
        call = CollectiveCall(
            op=operation(found["op"]),
            origin=line.origin,
            rank=int(found["rank"]),
            seq=int(found["seq"]) + 1,
            sizes=(shape,) if found["shape"] is not None else (),
            numel=prod(shape) if found["shape"] is not None else None,
            dtypes=(found["dtype"],) if found["dtype"] else (),
            state="started",
        )
        calls.setdefault(int(found["rank"]), call)
    return Reading(calls=tuple(calls.values()))
