"""Worlds that step on a GPU, or by the same code on the host; their arrays for PyTorch, JAX, CuPy and NumPy."""

from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._core import (ArgumentError, Diagnostics, Fixed, Record, check, ffi, floats, lib, pointer, read, refuse_pickle,
                    string, writable_pointer)
from .model import Model, Part
from .world import Threads, world_def

_ARRAYS = {"time": lib.rg_batchTime, "q": lib.rg_batchPositions, "v": lib.rg_batchVelocities,
           "ctrl": lib.rg_batchControls, "force": lib.rg_batchForces}


def _device(name: str) -> Tuple[int, int]:
    """Kind and number of "host", "cuda" or "cuda:1"."""
    kind, _, index = name.partition(":")
    if kind not in ("host", "cuda") or (index and not index.isdecimal()) or (kind == "host" and index):
        raise ArgumentError(f"device is {name!r}; it must be 'host', 'cuda' or 'cuda:0', 'cuda:1', ...")
    return (lib.rg_deviceHost if kind == "host" else lib.rg_deviceCuda), int(index or 0)


# ---- DLPack


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]
_alive: Dict[int, Any] = {}  # what consumers hold, by address


@_Deleter
def _forget(managed: Any) -> None:
    _alive.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget_unused(capsule: int) -> None:
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes, is_valid.restype = [ctypes.c_void_p, ctypes.c_char_p], ctypes.c_int
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.c_void_p, ctypes.c_char_p], ctypes.c_void_p
    if is_valid(capsule, b"dltensor"):
        _alive.pop(get(capsule, b"dltensor"), None)


class DeviceArray:
    """Numbers of all worlds where they are, (count, n): without a copy for whatever reads DLPack or
    `__cuda_array_interface__`, such as `torch.from_dlpack(batch.ctrl)`. `numpy.asarray()` copies from a GPU, and is a
    view on the host."""

    def __init__(self, batch: "DeviceBatch", name: str) -> None:
        view = lib.rgDeviceBatch_View(batch._c, _ARRAYS[name])
        self._batch, self._name = batch, name
        self._address = int(ffi.cast("intptr_t", view.data))
        self._cuda, self._index = view.device == lib.rg_deviceCuda, view.deviceIndex
        self.shape = (view.rowCount, view.columnCount)
        self.dtype = np.dtype(np.float64)
        self._strides = (view.worldStride, view.columnStride)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<rigor.DeviceArray {self._name} {self.shape} on {self._batch.device}>"

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if self._cuda:
            out = self._batch.read(self._name)
        else:
            rows, columns = self.shape
            memory = ffi.buffer(ffi.cast("char*", self._address), 8 * self._strides[1] * max(columns, 1))
            whole = np.frombuffer(memory, float).reshape(max(columns, 1), self._strides[1])
            out = whole[:columns, :rows].T
            out.flags.writeable = self._name in ("ctrl", "force")
        out = out if dtype is None else out.astype(dtype, copy=False)
        return out.copy() if copy else out

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if not self._cuda:
            raise AttributeError("the array is on the host")
        return {"shape": self.shape, "typestr": "<f8", "data": (self._address, False), "version": 3,
                "strides": tuple(8 * s for s in self._strides), "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (2, self._index) if self._cuda else (1, 0)

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        managed = _Managed()
        numbers = (ctypes.c_int64 * 2)(*self.shape), (ctypes.c_int64 * 2)(*self._strides)
        kind, index = self.__dlpack_device__()
        managed.tensor = _Tensor(self._address, kind, index, 2, 2, 64, 1, numbers[0], numbers[1], 0)
        managed.deleter = _forget
        address = ctypes.addressof(managed)
        _alive[address] = (managed, numbers, self._batch)
        make = ctypes.pythonapi.PyCapsule_New
        make.argtypes, make.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
        return make(address, b"dltensor", ctypes.cast(_forget_unused, ctypes.c_void_p))


class DeviceBatch:
    """`count` worlds of one model whose state stays on a device: "cuda:0", or "host" for the same code there.

    Models with parts that no device supports (docs/gpu.md) are refused; the message names the part. Steps that the
    device cannot make run on the host by `World`'s step, from the same state, and are counted in `report`. max_rows:
    room for rows per world, None for the default. threads: of the host's steps. Other settings as in `World`.

    `q`, `v`, `ctrl`, `force` and `time` are `DeviceArray`s; controls and forces may be written there. `read` and
    `write` copy.
    """

    _instead_of_pickle = "make one there of the same model"

    model = Fixed[Model]()
    count = Fixed[int]()  #: worlds
    device = Fixed[str]()

    def __init__(self, model: Model, count: int, dt: Optional[float] = None, *, device: str = "cuda:0",
                 gravity: Any = None, solver: Optional[str] = None, tolerance: Optional[float] = None,
                 accuracy: Optional[float] = None, threads: Optional[int] = None, max_rows: Optional[int] = None,
                 key: Optional[Part] = None, **settings: Any) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a batch is made of a rigor.Model, not of {type(model).__name__}")
        count = operator.index(count)
        if count < 1:
            raise ArgumentError(f"a batch has at least one world, not {count}")
        kind, index = _device(device)
        workers = os.cpu_count() or 1 if threads is None else operator.index(threads)
        if workers < 1:
            raise ArgumentError(f"threads is {workers}; it must be at least 1")
        self.model, self.count, self.device = model, count, device
        keep: list = []
        c = ffi.new("rgDeviceBatchDef*", lib.rgDefaultDeviceBatchDef())
        each = world_def(keep, dt, gravity, solver, tolerance, accuracy, settings)
        c.world = each[0]
        c.device, c.deviceIndex, c.worldCount = kind, index, count
        c.maxRows = 0 if max_rows is None else operator.index(max_rows)
        self._threads = Threads(workers) if workers > 1 else None
        if self._threads is not None:
            c.tasks = self._threads.tasks
        diagnostics = Diagnostics()
        out = ffi.new("rgDeviceBatch**")
        diagnostics.done(lib.rgCreateDeviceBatch(model._model, c, diagnostics.c, out), "batch")
        used = model, self._threads  # until the batch is gone, in whatever order Python lets things go
        self._c = ffi.gc(out[0], lambda batch, used=used: lib.rgDestroyDeviceBatch(batch))
        self._arrays = {name: DeviceArray(self, name) for name in _ARRAYS}
        self._start = None
        if key is not None:
            self._start = model.key(key)
            self.reset()

    __reduce_ex__ = refuse_pickle

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<rigor.DeviceBatch of {self.count} '{self.model.name}' on {self.device}>"

    @property
    def q(self) -> DeviceArray:
        return self._arrays["q"]

    @property
    def v(self) -> DeviceArray:
        return self._arrays["v"]

    @property
    def ctrl(self) -> DeviceArray:
        return self._arrays["ctrl"]

    @property
    def force(self) -> DeviceArray:
        return self._arrays["force"]

    @property
    def time(self) -> DeviceArray:
        return self._arrays["time"]

    def _mask(self, mask: Any) -> Any:
        if mask is None:
            return ffi.NULL, None
        on = np.ascontiguousarray(mask, bool).astype(np.uint8)
        if on.shape != (self.count,):
            raise ArgumentError(f"mask must have shape ({self.count},), not {on.shape}")
        return ffi.new("rgWorldMask*", {"on": pointer(on, "uint8_t[]"), "count": self.count}), on

    def read(self, name: str) -> np.ndarray:
        """A copy of "q", "v", "ctrl", "force" or "time" on the host, (count, n)."""
        array = self._named(name)
        out = np.empty(array.shape)
        check(lib.rgDeviceBatch_Read(self._c, _ARRAYS[name], writable_pointer(out), out.size), name)
        return out

    def write(self, name: str, values: Any, mask: Any = None) -> None:
        """Set rows; values broadcast to (count, n). A q or v that was set starts the motion anew."""
        array = self._named(name)
        given = np.ascontiguousarray(np.broadcast_to(floats(values, name), array.shape))
        c, _keep = self._mask(mask)
        check(lib.rgDeviceBatch_Write(self._c, _ARRAYS[name], pointer(given), given.size, c), name)

    def _named(self, name: str) -> DeviceArray:
        if name not in self._arrays:
            raise ArgumentError(f"there is no array {name!r}; there are {', '.join(self._arrays)}")
        return self._arrays[name]

    def step(self, count: int = 1) -> None:
        """Advance all worlds by so many steps, with controls as they are."""
        check(lib.rgDeviceBatch_Step(self._c, operator.index(count)), "step")

    def reset(self, mask: Any = None) -> None:
        """Set the worlds of the mask to the start, or to the key of the batch."""
        c, _keep = self._mask(mask)
        check(lib.rgDeviceBatch_Reset(self._c, c), "reset")
        if self._start is not None:
            for name, values in (("q", self._start.q), ("v", self._start.v), ("ctrl", self._start.ctrl)):
                if self._arrays[name].shape[1] > 0:
                    self.write(name, values, mask)

    @property
    def faults(self) -> np.ndarray:
        """Worlds that stopped because of refused or diverging numbers, until they are reset."""
        out = np.empty(self.count, np.uint8)
        check(lib.rgDeviceBatch_Faults(self._c, writable_pointer(out, "uint8_t[]"), out.size), "faults")
        return out.astype(bool)

    @property
    def report(self) -> Record:
        """Counts since the batch was made: `step_count`, `host_count`, `reasons` of the host's steps by name,
        `unconverged_count`, `fault_count`, `most_rows`, `worst_residual`, and `device_time` of the last call [s]."""
        record = read(lib.rgDeviceBatch_Report(self._c))
        counts = record.__dict__.pop("reason_count")
        record.reasons = {string(lib.rgHostReason_Name(i)): int(n) for i, n in enumerate(counts) if n > 0}
        return record
