"""Files that others named or left: only plain ones are opened, a pipe or a device never waits."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NO_FILE = "is no plain file"


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        OSError: it cannot be opened, or is a pipe, a socket, a device or a folder.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    try:
        # the kernel has files that call themselves regular and have nothing to give for now
        os.pread(handle, 1, 0)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        # what reads it says why it cannot be read
        pass
    return os.fdopen(handle, "rb")


def read_regular(path: Path, most: int) -> bytes:
    """Read the first bytes of a file, at most so many.

    Raises:
        OSError: it cannot be opened, or is a pipe, a socket, a device or a folder.
    """
    with open_regular(path) as handle:
        return handle.read(most)
