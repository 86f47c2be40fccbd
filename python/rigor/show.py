"""Worlds and recordings in notebooks and browsers."""

from __future__ import annotations

import base64
import html
import os
import tempfile
from typing import Any

import numpy as np

from ._core import ArgumentError
from .camera import Camera
from .record import save_page
from .world import World


def _framing(world: World) -> Any:
    """Eye and target of a view of all moving bodies."""
    places = world.body_poses()[0]
    places = places[np.isfinite(places).all(axis=1)]
    low, high = (places.min(0), places.max(0)) if len(places) else (np.zeros(3), np.zeros(3))
    middle, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 0.5)
    return middle + 1.6 * size * np.array([0.6, -0.7, 0.4]), middle


def picture(world: World, width: int = 480, height: int = 360, **settings: Any) -> Any:
    """An `Image` of a world from a place that shows all bodies; settings as in `Camera`."""
    if not {"eye", "pose"} & set(settings):
        settings["eye"], settings["target"] = _framing(world)
    settings = dict({"shadows": True, "samples": 2, "channels": "color"}, **settings)
    return Camera(world.model, width, height, **settings).draw(world)


def world_html(world: World) -> str:
    """The picture and the state of a world as a fragment of a page."""
    data = base64.b64encode(picture(world).png()).decode("ascii")
    contacts = world.contacts
    rows = (("model", html.escape(world.model.name)), ("time", f"{world.time:.4g} s"),
            ("contacts", str(len(contacts))), ("kinetic energy", f"{world.kinetic_energy:.4g} J"))
    cells = "".join(f"<tr><th style='text-align:left'>{a}</th><td>{b}</td></tr>" for a, b in rows)
    return (f"<div style='display:flex;gap:1em;align-items:center'><img width='480' alt='picture of the world' "
            f"src='data:image/png;base64,{data}'><table>{cells}</table></div>")


class Shown:
    """A page in a notebook, or its address elsewhere."""

    def __init__(self, url: str, frame: str) -> None:
        self.url, self._frame = url, frame

    def __repr__(self) -> str:
        return f"<rigor: {self.url}>"

    def _repr_html_(self) -> str:
        return self._frame


def show(what: Any, *, width: str = "100%", height: int = 480, browser: bool = False) -> Shown:
    """Show a world live, or play a recording (a path): in a notebook below the cell, elsewhere at the
    address that is printed. browser: open it there.

    A world that is shown is updated by `world.step()`; `world.view()` has further options.
    """
    style = f"style='width:{html.escape(str(width))};height:{int(height)}px;border:0'"
    if isinstance(what, World):
        viewer = what._viewer or what.view()
        shown = Shown(viewer.url, f"<iframe src='{viewer.url}' {style}></iframe>")
    elif isinstance(what, (str, os.PathLike)):
        folder = tempfile.mkdtemp(prefix="rigor-")
        path = os.path.join(folder, "recording.html")
        save_page(what, path)
        with open(path, encoding="utf-8") as file:
            page = html.escape(file.read(), quote=True)
        shown = Shown("file://" + path, f"<iframe srcdoc=\"{page}\" {style}></iframe>")
    else:
        raise ArgumentError(f"a World or the path of a recording can be shown, not a {type(what).__name__}")
    if browser:
        import webbrowser
        webbrowser.open(shown.url)
    return shown
