"""Cameras: color, depth and segmentation of worlds and of stored states, without a display."""

from __future__ import annotations

import os
import struct
import zlib
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from ._core import (ArgumentError, Diagnostics, Pose, check, ffi, fill, floats, lib, pose, read,
                    refuse_pickle, writable_pointer)
from .model import Model, Part

_CHANNELS = {"color": int(lib.rg_imageColor), "depth": int(lib.rg_imageDepth),
             "shapes": int(lib.rg_imageShapes)}


class Image(NamedTuple):
    """Arrays with one row per line of the image, from the top; stored states have an axis in front."""

    color: Optional[np.ndarray]  #: (..., height, width, 3) uint8
    depth: Optional[np.ndarray]  #: (..., height, width) float32, along the viewing direction [m]; inf: nothing
    shapes: Optional[np.ndarray]  #: (..., height, width) int32, number of the shape; -1: none

    def png(self) -> bytes:
        """The color image as a PNG file."""
        if self.color is None or self.color.ndim != 3:
            raise ArgumentError("one image with the channel 'color' is needed")
        return png(self.color)

    def save(self, path: Any) -> None:
        """Write the color image to a PNG file, whose name ends in .png."""
        if not os.fspath(path).endswith(".png"):
            raise ArgumentError(f"{os.fspath(path)!r}: images are PNG files, whose names end in .png")
        data = self.png()
        with open(path, "wb") as file:
            file.write(data)

    def _repr_png_(self) -> Optional[bytes]:
        return self.png() if self.color is not None and self.color.ndim == 3 else None


def png(color: np.ndarray) -> bytes:
    """A PNG file of (height, width, 3) uint8."""
    color = np.ascontiguousarray(color, np.uint8)
    height, width = color.shape[:2]
    lines = np.zeros((height, 1 + 3 * width), np.uint8)
    lines[:, 1:] = color.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b""))


def look_at(eye: Any, target: Any) -> Pose:
    """Pose of a camera at `eye` that looks at `target`, with +z up."""
    out = ffi.new("rgPose*")
    points = [floats(p, n) for p, n in ((eye, "eye"), (target, "target"))]
    if any(p.shape != (3,) for p in points):
        raise ArgumentError("eye and target must have three numbers each")
    vectors = [dict(zip("xyz", p)) for p in points]
    check(lib.rgLookAt(vectors[0], vectors[1], out), "eye and target coincide or are not finite")
    return read(out)


class Camera:
    """Draws worlds of one model by ray casting on the processor. One thread at a time.

    eye, target: the camera stands at `eye` and looks at `target`; or pose: position and quaternion,
    looking along -z with y up; or frame: a camera of the model, such as MJCF's. body: it moves with this
    body, and the pose is in the body's frame.
    field_of_view: vertical [rad]. channels: of "color", "depth", "shapes". samples: color rays per pixel
    and axis. Other settings are the fields of rgCameraDef, such as shadows=True, nearest=0.01 [m].
    """

    _instead_of_pickle = "make one there of the same model"

    def __init__(self, model: Model, width: int = 320, height: int = 240, *, eye: Any = None,
                 target: Any = (0, 0, 0), pose: Any = None, body: Optional[Part] = None,
                 frame: Optional[Part] = None, channels: Any = ("color", "depth", "shapes"), **settings: Any) -> None:
        self.model = model
        self.width, self.height = width, height
        if (eye is not None) + (pose is not None) + (frame is not None) != 1:
            raise ArgumentError("a camera needs either eye and target, or a pose, or a frame")
        names = (channels,) if isinstance(channels, str) else tuple(channels)
        for name in names:
            if name not in _CHANNELS:
                raise ArgumentError(f"channels: '{name}' is none of " + ", ".join(_CHANNELS))
        self.channels: Tuple[str, ...] = names
        keep: List[Any] = []
        c = ffi.new("rgCameraDef*", lib.rgDefaultCameraDef())
        if eye is not None:
            pose = look_at(eye, target)
        fill(c, dict(settings, width=width, height=height, pose=pose), "camera", keep,
             also=("eye", "target"))
        if frame is not None:
            c.frame.index1 = model.id("frame", frame) + 1
        c.channels = sum(_CHANNELS[name] for name in set(names))
        if body is not None:
            c.body.index1 = model.id("body", body) + 1
        diagnostics = Diagnostics()
        out = ffi.new("rgCamera**")
        diagnostics.done(lib.rgCreateCamera(model._model, c, diagnostics.c, out), "camera")
        self._c = ffi.gc(out[0], lib.rgDestroyCamera)

    __reduce_ex__ = refuse_pickle

    def move(self, *, eye: Any = None, target: Any = (0, 0, 0), pose: Any = None) -> None:
        """Put the camera elsewhere, in the frame of its body."""
        if (eye is None) == (pose is None):
            raise ArgumentError("a camera needs either eye and target, or a pose")
        place = _pose(look_at(eye, target) if pose is None else pose)
        check(lib.rgCamera_SetPose(self._c, place), "camera")

    def draw(self, world: Any) -> Image:
        """An image of the present state of a world."""
        if not hasattr(world, "_guard"):
            raise ArgumentError(f"a camera draws a World, not {type(world).__name__}; draw_states() draws arrays")
        out = ffi.new("rgImage*")
        with world._guard as w:
            check(lib.rgCamera_Draw(self._c, w, out), "camera: the world is not of this model")
        pixels = self.width * self.height

        def take(data: Any, size: int, kind: Any, shape: Tuple[int, ...]) -> Optional[np.ndarray]:
            if data == ffi.NULL:
                return None
            return np.frombuffer(ffi.buffer(data, size), kind).reshape(shape).copy()

        flat = (self.height, self.width)
        shapes = take(out.shapes, 4 * pixels, np.int32, flat)
        return Image(take(out.color, 3 * pixels, np.uint8, flat + (3,)),
                     take(out.depth, 4 * pixels, np.float32, flat),
                     None if shapes is None else shapes - 1)

    def draw_states(self, q: Any) -> Image:
        """Images of configurations (..., nq), such as `batch.q` or the states of a rollout."""
        q = floats(q, "q")
        if q.ndim < 1 or q.shape[-1] != self.model.nq:
            raise ArgumentError(f"q must have shape (..., {self.model.nq}), not {q.shape}")
        before, flat = q.shape[:-1], (self.height, self.width)
        count = int(np.prod(before)) if before else 1
        made = {"color": np.empty(before + flat + (3,), np.uint8) if "color" in self.channels else None,
                "depth": np.empty(before + flat, np.float32) if "depth" in self.channels else None,
                "shapes": np.empty(before + flat, np.int32) if "shapes" in self.channels else None}
        kinds = {"color": "uint8_t[]", "depth": "float[]", "shapes": "rgShapeId[]"}
        pointers = [ffi.NULL if made[k] is None else writable_pointer(made[k], kinds[k]) for k in kinds]
        check(lib.rgCamera_DrawStates(self._c, ffi.from_buffer("double[]", q), count, *pointers),
              "camera: configurations must be finite numbers")
        if made["shapes"] is not None:
            made["shapes"] -= 1
        return Image(**made)


_pose = pose  # the parameter of the same name hides it
