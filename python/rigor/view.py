"""The web viewer of a running world."""

from __future__ import annotations

import time
from typing import Any, List

import numpy as np

from ._core import Diagnostics, Error, check, ffi, fill, lib, read, refuse_pickle

_FRAME = 1 / 60  # [s] between two pictures


class Viewer:
    """A page at `url` that shows a world; made by `World.view()`.

    `world.step()` sends a picture at most 60 times a second; `run()` simulates in real time and does what
    the page asks for: pause, play, step, reset, gravity, friction, stiffness, speed, joint
    positions, controls.
    """

    _instead_of_pickle = "it is a server of this process"

    def __init__(self, world: Any, **settings: Any) -> None:
        diagnostics = Diagnostics()
        keep: List[Any] = []
        c = ffi.new("rgViewerDef*", lib.rgDefaultViewerDef())
        fill(c, settings, "viewer", keep)
        out = ffi.new("rgViewer**")
        diagnostics.done(lib.rgCreateViewer(c, diagnostics.c, out), "viewer", 4)
        self._c = ffi.gc(out[0], lib.rgDestroyViewer)
        self._world = world
        self._sent = 0.0
        self._paused = False
        self._speed = 1.0
        self.address: str = settings.get("address") or "127.0.0.1"
        self.port: int = lib.rgViewer_Port(self._c)
        with world._guard as w:
            check(lib.rgViewer_ShowWorld(self._c, w), "viewer")
        self.update()

    __reduce_ex__ = refuse_pickle

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}/"

    @property
    def clients(self) -> int:
        """Pages that are open."""
        return lib.rgViewer_ClientCount(self._c) if self._c is not None else 0

    def update(self) -> None:
        """Send the state now."""
        if self._c is None:
            return
        state = ffi.new("rgViewerState*", {"realTime": self._speed, "isPaused": self._paused})
        with self._world._guard as w:
            report = lib.rgPyWorld_Report(self._world._c)
            check(lib.rgViewer_Update(self._c, w, report, state), "viewer")
        self._sent = time.monotonic()

    def _stepped(self) -> None:
        if time.monotonic() - self._sent >= _FRAME:
            self.update()

    def run(self, duration: float = np.inf) -> None:
        """Simulate in real time for so many seconds of the clock, or until Ctrl-C."""
        world = self._world
        start = last = time.monotonic()
        owed = 0.0
        while self._c is not None and time.monotonic() - start < duration:
            self._obey()
            now = time.monotonic()
            owed = 0.0 if self._paused else min(owed + (now - last) * self._speed, 0.1)
            last = now
            steps = int(owed / world.dt)
            owed -= steps * world.dt
            if steps:
                world.step(steps)
            self._stepped()
            time.sleep(_FRAME / 4)

    def _obey(self) -> None:
        command = ffi.new("rgViewerCommand*")
        while lib.rgViewer_NextCommand(self._c, command):
            try:
                self._do(read(command[0]))
            except Error:
                pass  # what a visitor asks for and the world refuses changes nothing

    def _do(self, command: Any) -> None:
        world, kind, number = self._world, command.kind, command.number
        if kind in ("pause", "play"):
            self._paused = kind == "pause"
        elif kind == "step":
            world.step()
        elif kind == "reset":
            world.reset(int(number) if number >= 0 else None)
        elif kind == "speed":
            self._speed = max(float(number), 0.0)
        elif kind == "gravity":
            world.change_settings(gravity=command.point)
        elif kind in ("friction", "stiffness"):
            world.change_settings(**{kind: number})
        elif kind == "pose" and 0 <= command.index < world.model.nq:
            world.q[command.index] = number
            world.forward()
        elif kind == "control" and 0 <= command.index < world.model.nu:
            world.ctrl[command.index] = number
        self.update()

    def close(self) -> None:
        """End the server."""
        if self._c is not None:
            c, self._c = self._c, None
            if self._world._viewer is self:
                self._world._viewer = None
            ffi.release(c)

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
