"""The web viewer of a running world."""

from __future__ import annotations

import time
from typing import Any, List

import numpy as np

from ._core import Diagnostics, Error, check, ffi, fill, lib, read, refuse_pickle

_FRAME = 1 / 60  # [s] between two pictures


def _rotate(q: Any, v: Any) -> Any:
    """v turned by the quaternion w x y z."""
    w, u = q[0], np.asarray(q[1:])
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


class Viewer:
    """A page at `url` that shows a world; made by `World.view()`.

    `world.step()` sends a picture at most 60 times a second; `run()` simulates in real time and executes the commands
    of the page: pause, play, step, reset, gravity, friction, stiffness, speed, joint positions, controls, wrenches,
    pulls, pausing at anomalies.
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
        self._paused = self._stopped = self._watched = False
        self._speed = 1.0
        self._pulled: Any = None   # body, point of it, target
        self._wrench: Any = None   # body, force, torque
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
        state = ffi.new("rgViewerState*", {"realTime": self._speed, "isPaused": self._paused,
                                                "isStopped": self._stopped})
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
            if steps and not (self._pulled or self._wrench or self._watched):
                world.step(steps)
            elif steps:
                self._step_with_care(steps)
            self._stepped()
            time.sleep(_FRAME / 4)

    def _step_with_care(self, steps: int) -> None:
        """Steps with the forces of the page, that end where a step is not solved or an anomaly is new."""
        world = self._world
        known = set(world.health.anomalies)
        for _ in range(steps):
            if self._pulled or self._wrench:
                self._push()
            world.step()
            report = world.report
            unsolved = report.contact_count > 0 and report.status != "solved"
            if self._watched and (unsolved or set(world.health.anomalies) - known):
                self._paused = self._stopped = True
                break

    def _push(self) -> None:
        world = self._world
        world.clear_wrenches()
        if self._wrench:
            body, force, torque = self._wrench
            world.apply_wrench(body, force, torque)
        if self._pulled:
            # A spring of 8 rad/s on the mass of the model, damped as one body needs.
            body, grip, target = self._pulled
            total = world.model.mass
            own = min(max(world.model.body(body).inertia.mass, 0.01 * total), total)
            stiffness = total * 8.0**2
            position, turn = world.body_pose(body)
            linear, angular = world.body_velocity(body)
            arm = _rotate(turn, grip)
            rate = np.asarray(linear) + np.cross(angular, arm)
            force = stiffness * (target - position - arm) - 2 * np.sqrt(stiffness * own) * rate
            world.apply_force_at(body, force, np.asarray(position) + arm)

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
            self._paused, self._stopped = kind == "pause", False
        elif kind == "step":
            world.step()
        elif kind == "reset":
            self._pulled = self._wrench = None
            world.clear_wrenches()
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
        elif kind == "watch":
            self._watched = number > 0
        elif kind == "drag":
            self._pulled = (command.body, np.array(command.point), np.array(command.target))
        elif kind == "wrench":
            self._wrench = (command.body, command.point, command.target)
        elif kind == "release":
            self._pulled = self._wrench = None
            world.clear_wrenches()
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
