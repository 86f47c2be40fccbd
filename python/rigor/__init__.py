"""rigor: robots and bodies in exact frictional contact.

    import rigor
    model = rigor.load("humanoid")
    world = rigor.World(model, dt=1e-3)
    world.step(100)
    print(world.contacts["force"])

Units are SI and radians; quaternions are w, x, y, z; q and v are as in docs/python.md.
"""

from ._core import (ArgumentError, BusyError, ClosedError, Error, FileError, FormatError,
                    NotFoundError, NumericError, OutOfMemoryError, Pose, Record, RigorWarning,
                    Spatial, UnsupportedError, VersionError, lib as _lib)
from . import convert, fclib
from .batch import Batch, Rollout, rollout
from .camera import Camera, Image, look_at
from .derivatives import Derivatives
from .device import DeviceArray, DeviceBatch
from .dynamics import Dynamics
from .identification import Identification, Motion, identify, parameter_fields
from .model import (Key, Model, ModelDef, builtin_models, load, load_def, parse, parse_def, scene,
                    scenes)
from .problem import Problem, Report, Residual, Solution, Solver, Sparse, block_type, solve
from .record import load_recording, save_page
from .show import picture, show
from .tape import Tape
from .world import Inverse, StepReport, World

_version = _lib.rgVersion()
__version__ = f"{_version // 10000}.{_version // 100 % 100}.{_version % 100}"

#: Values of the field `state` of contacts.
OPEN, STICK, SLIP = (int(_lib.rg_contactOpen), int(_lib.rg_contactStick), int(_lib.rg_contactSlip))

__all__ = [
    "ArgumentError", "Batch", "BusyError", "Camera", "ClosedError", "Derivatives", "DeviceArray",
    "DeviceBatch", "Dynamics", "Error", "FileError",
    "FormatError", "Identification", "Image", "Inverse", "Key", "Model", "ModelDef", "Motion",
    "NotFoundError", "NumericError", "OPEN", "OutOfMemoryError", "Pose", "Problem", "Record",
    "Report", "Residual", "RigorWarning", "Rollout", "SLIP", "STICK", "Solution", "Solver",
    "Sparse", "Spatial", "StepReport", "Tape", "UnsupportedError", "VersionError", "World", "block_type",
    "builtin_models", "convert", "fclib", "identify", "load", "load_def", "load_recording", "look_at",
    "parameter_fields", "parse", "parse_def", "picture", "rollout", "save_page", "scene", "scenes", "show", "solve",
]
