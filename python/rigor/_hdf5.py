"""libhdf5 is not for several threads at a time."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import Iterator

_lock = threading.RLock()


@contextmanager
def hdf5() -> Iterator[None]:
    """The thread that holds this lock may call libhdf5. h5py, which may use the same library, has its own lock."""
    objects = sys.modules.get("h5py._objects")
    with _lock:
        if objects is None:
            yield
        else:
            with objects.phil:
                yield
