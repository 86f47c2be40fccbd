"""Models: loaded from files, taken from scenes, or built part by part."""

from __future__ import annotations

import builtins
import difflib
import operator
import os
import threading
from inspect import signature
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import (ArgumentError, Diagnostics, Fixed, FormatError, NotFoundError, Record, check, ffi,
                    fill, floats, lib, numbers, pointer, read, refuse_pickle, string, vector,
                    writable_pointer)

Part = Union[int, str]
Path = Union[str, "os.PathLike[str]"]

_KINDS = ("body", "joint", "shape", "frame", "tendon", "actuator", "equality", "sensor", "key")


class Key(NamedTuple):
    """A stored state of a model."""

    name: str
    time: float  #: [s]
    q: np.ndarray  #: (nq,)
    v: np.ndarray  #: (nv,)
    ctrl: np.ndarray  #: (nu,)
    act: np.ndarray  #: (nu,) activations; zero for actuators without


def _function(kind: str) -> str:
    return "rgModel_Find" + kind.capitalize()


def _make_id(kind: str, index: int) -> Any:
    return ffi.new(f"rg{kind.capitalize()}Id*", {"index1": index + 1})[0]


class Names(Tuple[str, ...]):
    """Names by number. The number -1 of contacts and parents is the world, never the last part."""

    _kind: str

    def __new__(cls, kind: str, names: Iterable[str]) -> "Names":
        made = super().__new__(cls, names)
        made._kind = kind
        return made

    def __getnewargs__(self) -> Tuple[Any, ...]:
        return self._kind, tuple(self)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return tuple(self)[number]
        index = operator.index(number)
        if index == -1 and self._kind == "body":
            return "world"
        if index < 0:
            raise IndexError(f"{index} is not the number of a {self._kind}")
        return super().__getitem__(index)


class Model:
    """The bodies, joints, shapes and actuators of a scene. Immutable, and shared by worlds and threads.

    Made by `rigor.load()`, `rigor.parse()`, `rigor.scene()` or `ModelDef.compile()`. Parts are named by
    their name or by their number from 0; -1 stands for the world.
    """

    _instead_of_pickle = "load it anew there, from its file or from model.mjcf()"

    nq = Fixed[int]()  #: coordinates of the configuration
    nv = Fixed[int]()  #: degrees of freedom
    nu = Fixed[int]()  #: actuators

    def __init__(self, definition: "ModelDef", scene: Any = None) -> None:
        diagnostics = Diagnostics()
        out = ffi.new("rgPyModel**")
        with definition._lock:
            result = lib.rgPyCreateModel(definition._c, diagnostics.c, out)
        #: Remarks of the loader and the compiler that are no warnings.
        self.notes: List[str] = definition.notes + diagnostics.done(result, "compile", 4)
        self._c = ffi.gc(out[0], lib.rgPyReleaseModel)
        self._model = lib.rgPyModel_Model(self._c)
        self._definition = definition
        self._scene = scene
        info = lib.rgModel_Info(self._model)
        self.name: str = string(info.name) or ""
        self.nq, self.nv, self.nu = info.qCount, info.vCount, info.actuatorCount
        self.mass: float = info.mass  #: of everything that moves [kg]
        self.info: Record = read(info)  #: all sizes, as rgModelInfo has them
        self._counts = {kind: getattr(self.info, kind + "_count") for kind in _KINDS}
        self._names: Dict[str, Tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return (f"<rigor.Model '{self.name}': {self._counts['body']} bodies, nq {self.nq}, "
                f"nv {self.nv}, nu {self.nu}>")

    __reduce_ex__ = refuse_pickle

    @property
    def scene(self) -> Optional[Record]:
        """Name, description, duration [s] of the built-in scene that this is; None: it is none."""
        return None if self._scene is None else read(self._scene)

    def mjcf(self) -> str:
        """The definition as MJCF text; warnings name the parts that the format cannot express."""
        return self._definition.mjcf()

    def save(self, path: Path) -> None:
        """Write the definition as .urdf, or as .xml or .mjcf."""
        self._definition.save(path)

    # ---- names and numbers

    def names(self, kind: str) -> Tuple[str, ...]:
        """Names of all parts of a kind ("body", "joint", ...), by number; "" where one has none. The
        body of number -1 is the world; no number counts from the end."""
        if kind not in self._counts:
            raise ArgumentError(f"'{kind}' is none of " + ", ".join(_KINDS))
        if kind not in self._names:
            get = getattr(lib, "rgModel_" + kind.capitalize())
            parts = (get(self._model, _make_id(kind, i)) for i in range(self._counts[kind]))
            self._names[kind] = Names(kind, ((string(p.name) or "") if p != ffi.NULL else "" for p in parts))
        return self._names[kind]

    def id(self, kind: str, part: Part) -> int:
        """The number of a part, given by name or number."""
        if kind not in self._counts:
            raise ArgumentError(f"'{kind}' is none of " + ", ".join(_KINDS))
        if isinstance(part, str):
            if "\0" not in part:
                found = getattr(lib, _function(kind))(self._model, part.encode("utf-8"))
                if found.index1 > 0:
                    return found.index1 - 1
            raise NotFoundError(_missing(f"model '{self.name}'", kind, part, self.names(kind)))
        index = operator.index(part)
        if not 0 <= index < self._counts[kind]:
            raise NotFoundError(
                f"model '{self.name}' has no {kind} number {index}: it has {self._counts[kind]}")
        return index

    def _cid(self, kind: str, part: Part) -> Any:
        return _make_id(kind, self.id(kind, part))

    @property
    def body_names(self) -> Tuple[str, ...]:
        return self.names("body")

    @property
    def joint_names(self) -> Tuple[str, ...]:
        return self.names("joint")

    @property
    def actuator_names(self) -> Tuple[str, ...]:
        return self.names("actuator")

    @property
    def sensor_names(self) -> Tuple[str, ...]:
        return self.names("sensor")

    @property
    def sensor_size(self) -> int:
        """Numbers that all sensors have together."""
        return int(lib.rgModel_SensorNumbers(self._model))

    @property
    def key_names(self) -> Tuple[str, ...]:
        return self.names("key")

    # ---- parts

    def part(self, kind: str, part: Part) -> Record:
        """All fields of a compiled part, and its number `id`."""
        index = self.id(kind, part)
        cdata = getattr(lib, "rgModel_" + kind.capitalize())(self._model, _make_id(kind, index))
        record = read(cdata) if cdata != ffi.NULL else Record(name="")
        record.id = index
        return record

    def body(self, body: Part) -> Record:
        """Name, parent, pose, inertia of a body."""
        return self.part("body", body)

    def joint(self, joint: Part) -> Record:
        """Kind, body, axis, limits of a joint, and slices `q` and `v` of its coordinates."""
        record = self.part("joint", joint)
        place = lib.rgModel_JointRange(self._model, _make_id("joint", record.id))
        record.q = slice(place.q, place.q + place.qCount)
        record.v = slice(place.v, place.v + place.vCount)
        return record

    def shape(self, shape: Part) -> Record:
        """Kind, size, body, material of a shape."""
        return self.part("shape", shape)

    def actuator(self, actuator: Part) -> Record:
        """Joint or tendon, gains and ranges of an actuator."""
        return self.part("actuator", actuator)

    def key(self, key: Part) -> Key:
        """A stored state; `world.q[:] = model.key("stand").q`."""
        index = self.id("key", key)
        c = lib.rgModel_Key(self._model, _make_id("key", index))
        return Key(string(c.name) or "", c.time, numbers(c.q, self.nq), numbers(c.v, self.nv),
                   numbers(c.control, self.nu), numbers(c.activation, self.nu))

    # ---- configurations

    def neutral(self) -> np.ndarray:
        """The configuration at which every body is where its definition says, (nq,)."""
        q = np.zeros(self.nq)
        lib.rgModel_NeutralConfiguration(self._model, writable_pointer(q))
        return q

    def random(self, seed: int = 0) -> np.ndarray:
        """Uniform within limits; angles without limits within half a turn, lengths within 1 m, (nq,)."""
        q = np.zeros(self.nq)
        lib.rgModel_RandomConfiguration(self._model, seed, writable_pointer(q))
        return q

    def integrate(self, q: Any, v: Any, dt: float) -> np.ndarray:
        """The configuration reached from q (nq,) in time dt [s] at velocity v (nv,)."""
        out = np.zeros(self.nq)
        q, v = vector(q, self.nq, "q"), vector(v, self.nv, "v")
        lib.rgModel_Integrate(self._model, pointer(q), pointer(v), dt, writable_pointer(out))
        return out

    def difference(self, q0: Any, q1: Any) -> np.ndarray:
        """The velocity (nv,) that leads from q0 to q1 in unit time."""
        out = np.zeros(self.nv)
        q0, q1 = vector(q0, self.nq, "q0"), vector(q1, self.nq, "q1")
        lib.rgModel_Difference(self._model, pointer(q0), pointer(q1), writable_pointer(out))
        return out


_FLAGS = {"lower": "has_limits", "upper": "has_limits", "control_lower": "has_control_range",
          "control_upper": "has_control_range", "force_lower": "has_force_range",
          "force_upper": "has_force_range"}
_RANGES = {"limits": ("lower", "upper"), "control_range": ("control_lower", "control_upper"),
           "force_range": ("force_lower", "force_upper")}


def _ranges(values: Dict[str, Any]) -> None:
    """limits=(low, high) is lower, upper and has_limits."""
    for key, (low, high) in _RANGES.items():
        if values.get(key) is not None:
            values[low], values[high] = vector(values.pop(key), 2, key)
    for key in list(values):
        if key in _FLAGS and values[key] is not None:
            values.setdefault(_FLAGS[key], True)


def _missing(whose: str, kind: str, name: str, names: Sequence[str]) -> str:
    known = [n for n in names if n]
    near = difflib.get_close_matches(name, known, 3) or known[:8]
    hint = "it has none" if not known else "there is " + ", ".join(repr(n) for n in near)
    more = len(known) - len(near)
    return f"{whose} has no {kind} '{name}'; {hint}" + (f" and {more} more" if more > 0 else "")


class ModelDef:
    """An editable definition of a model: add parts, then `compile()`.

    Every `add_...` takes the fields of the C def by their names in snake_case (`add_joint(body=0,
    kind="revolute", axis=(0, 1, 0), limits=(-1, 1))`) and gives the number of the new part. Parts are
    referred to by number or name.
    """

    _instead_of_pickle = "save it with save() or mjcf() and load it there"

    def __init__(self, name: str = "") -> None:
        out = ffi.new("rgModelDef**")
        check(lib.rgCreateModelDef(ffi.NULL, out), "definition")
        self._take(out[0])
        self.notes: List[str] = []
        if name:
            lib.rgModelDef_SetName(self._c, _text(name, "name"))

    def _take(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.rgDestroyModelDef)
        self._lock = threading.Lock()  # C allows one thread at a time

    __reduce_ex__ = refuse_pickle

    @classmethod
    def _from(cls, c: Any, notes: List[str]) -> "ModelDef":
        made = cls.__new__(cls)
        made._take(c)
        made.notes = notes
        return made

    def _add(self, kind: str, values: Dict[str, Any], arrays: Optional[Dict[str, Any]] = None,
             joints: Optional[np.ndarray] = None, points: Any = None) -> int:
        keep: List[Any] = []
        title = kind.capitalize()
        c = ffi.new(f"rg{title}Def*", getattr(lib, f"rgDefault{title}Def")())
        _ranges(values)
        name = values.get("name")
        what = f"{kind} '{name}'" if name else kind
        arguments = signature(getattr(self, f"add_{kind}")).parameters
        fill(c, values, what, keep, also=set(arguments) - {"fields"})
        fill(c, arrays or {}, what, keep, arrays=True)
        out = ffi.new(f"rg{title}Id*")
        if joints is not None:
            c.joints = ffi.cast("rgJointId*", pointer(joints, "int[]")) if joints.size else ffi.NULL
        if points is not None:
            c.points, c.pointCount = points, len(points)
        with self._lock:
            result = getattr(lib, "rgModelDef_Add" + title)(self._c, c, out)
        check(result, f"{kind} '{name or ''}' was refused")
        return out.index1 - 1

    def id(self, kind: str, part: Optional[Part]) -> int:
        """The number of a part, given by name or number; None is -1, the world."""
        if part is None:
            return -1
        if not isinstance(part, str):
            return operator.index(part)
        with self._lock:
            found = getattr(lib, "rgModelDef_Find" + kind.capitalize())(self._c, _text(part, kind))
        if found.index1 == 0:
            raise NotFoundError(_missing("the definition", kind, part, self.names(kind)))
        return found.index1 - 1

    def names(self, kind: str) -> Tuple[str, ...]:
        """Names of all parts of a kind, by number."""
        get = getattr(lib, "rgModelDef_" + kind.capitalize())
        with self._lock:
            count = getattr(lib.rgModelDef_Info(self._c), kind + "Count")
            parts = (get(self._c, _make_id(kind, i)) for i in range(count))
            return Names(kind, (string(p.name) or "" for p in parts))

    def part(self, kind: str, part: Part) -> Record:
        """All fields of a part, and its number `id`."""
        index = self.id(kind, part)
        with self._lock:
            found = getattr(lib, "rgModelDef_" + kind.capitalize())(self._c, _make_id(kind, index))
            if found == ffi.NULL:
                raise NotFoundError(f"the definition has no {kind} number {index}")
            record = read(found)
        record.id = index
        return record

    def change(self, kind: str, part: Part, /, **fields: Any) -> None:
        """Change fields of a part: `definition.change("joint", "knee", damping=0.2)`."""
        index = _make_id(kind, self.id(kind, part))
        title = kind.capitalize()
        keep: List[Any] = []
        with self._lock:
            found = getattr(lib, "rgModelDef_" + title)(self._c, index)
            if found == ffi.NULL:
                raise NotFoundError(f"the definition has no {kind} number {index.index1 - 1}")
            c = ffi.new(f"rg{title}Def*", found[0])
            _ranges(fields)
            fill(c, fields, f"{kind} '{part}'", keep)
            result = getattr(lib, "rgModelDef_Set" + title)(self._c, index, c)
        check(result, f"{kind} '{part}' was refused")

    def remove(self, kind: str, part: Part) -> List[str]:
        """Remove a part and all parts that need it; returns notes with their names. The
        numbers of parts that stay change."""
        index = _make_id(kind, self.id(kind, part))
        diagnostics = Diagnostics()
        with self._lock:
            remove = getattr(lib, "rgModelDef_Remove" + kind.capitalize())
            result = remove(self._c, index, diagnostics.c)
        return diagnostics.done(result, f"{kind} '{part}'")

    def attach(self, other: "ModelDef", prefix: str = "", parent: Optional[Part] = None,
               pose: Any = None, kind: str = "as_is", **fields: Any) -> int:
        """Copy all parts of another definition into this one, below a body or the world.

        kind: "as_is", "fixed" (root bodies lose their free joints), "free" (they get one) or "joint" (with
        joint={...}); without_world=True leaves out what is fixed to the other's world, such as its floor.
        Gives the number of the first root body.
        """
        values = dict(fields, prefix=prefix or None, parent=self.id("body", parent), pose=pose,
                      kind=kind)
        keep: List[Any] = []
        c = ffi.new("rgAttachDef*", lib.rgDefaultAttachDef())
        fill(c, values, "attach", keep)
        if other is self:
            raise ArgumentError("a definition cannot be attached to itself: load it a second time")
        diagnostics = Diagnostics()
        out = ffi.new("rgBodyId*")
        first, second = sorted((self._lock, other._lock), key=builtins.id)
        with first, second:
            result = lib.rgModelDef_Attach(self._c, other._c, c, diagnostics.c, out)
        diagnostics.done(result, "attach")
        return out.index1 - 1

    def add_servos(self, kp: float, kd: float) -> None:
        """A position servo for every revolute and prismatic joint that no actuator drives yet."""
        with self._lock:
            check(lib.rgModelDef_AddServos(self._c, kp, kd), f"servos with kp {kp}, kd {kd}")

    def _refer(self, values: Dict[str, Any], **kinds: str) -> None:
        for key, kind in kinds.items():
            if key in values:
                values[key] = self.id(kind, values[key])

    def add_body(self, name: str = "", parent: Optional[Part] = None, pose: Any = None,
                 mass: Optional[float] = None, center: Any = (0, 0, 0), moment: Any = None,
                 **fields: Any) -> int:
        """A body below `parent` (None: the world) at `pose` of the parent's frame.

        mass [kg], center [m] and moment [kg m^2] (xx, yy, zz or also xy, xz, yz, about the center) are
        its inertia. Without joints it is fixed to its parent.
        """
        values = dict(fields, name=name or None, parent=self.id("body", parent), pose=pose)
        if mass is not None:
            six = np.zeros(6)
            if moment is not None:
                given = floats(moment, "moment")
                if given.shape not in ((3,), (6,)):
                    raise ArgumentError("moment takes xx, yy, zz or xx, yy, zz, xy, xz, yz")
                six[:given.size] = given
            values["inertia"] = {"mass": mass, "center": center, "moment": six}
        return self._add("body", values)

    def add_joint(self, body: Part, kind: str = "revolute", name: str = "", **fields: Any) -> int:
        """Let a body move: "revolute", "prismatic", "spherical", "free", "planar" or "fixed"."""
        values = dict(fields, body=self.id("body", body), kind=kind, name=name or None)
        return self._add("joint", values)

    def add_shape(self, kind: str, size: Any = None, body: Optional[Part] = None, name: str = "",
                  mu: Optional[float] = None, vertices: Any = None, triangles: Any = None,
                  heights: Any = None, **fields: Any) -> int:
        """Geometry of a body (None: the world): "plane", "sphere", "box", ...; size as in rgShapeKind.

        Hulls and meshes take vertices (n, 3) [m] and triangles (m, 3); height fields take heights
        (rows, columns) [m] and size (half x, half y, depth) [m]. `material` is a dict of the fields of
        rgMaterial, `mu` its friction.
        """
        values = dict(fields, kind=kind, name=name or None, body=self.id("body", body))
        arrays: Dict[str, Any] = {}
        if kind == "height_field" and heights is not None:
            arrays["height_field"] = _height_field(heights, size)
        else:
            values["size"] = None if size is None else _pad(size)
        if vertices is not None:
            arrays["mesh"] = _mesh(vertices, triangles)
        material = dict(values.pop("material", None) or {})
        if mu is not None:
            material["mu"] = mu
        values["material"] = material
        return self._add("shape", values, arrays)

    def add_frame(self, name: str, body: Optional[Part] = None, pose: Any = None) -> int:
        """A named frame fixed to a body."""
        return self._add("frame", {"name": name, "body": self.id("body", body), "pose": pose})

    def _way(self, points: Sequence[Any]) -> Any:
        way = ffi.new("rgTendonPoint[]", len(points))
        for point, given in zip(way, points):
            if not isinstance(given, dict):
                point.kind, point.frame.index1 = lib.rg_pointFrame, self.id("frame", given) + 1
            elif "divisor" in given:
                point.kind, point.divisor = lib.rg_pointPulley, given["divisor"]
            elif "shape" in given:
                point.kind, point.shape.index1 = lib.rg_pointShape, self.id("shape", given["shape"]) + 1
                point.frame.index1 = self.id("frame", given.get("side")) + 1
            else:
                raise ArgumentError(f"a point of a tendon is a frame, {{'shape': ..., 'side': ...}} or "
                                    f"{{'divisor': ...}}, not {given!r}")
        return way

    def add_tendon(self, joints: Sequence[Part] = (), coefficients: Any = (), name: str = "",
                   points: Optional[Sequence[Any]] = None, **fields: Any) -> int:
        """Sum of coefficient times joint coordinate, or the length of a path along `points`: frames,
        {"shape": s} or {"shape": s, "side": frame} to go around a sphere or cylinder, {"divisor": d} for
        a pulley where another branch begins."""
        if points is not None:
            return self._add("tendon", dict(fields, name=name or None), points=self._way(points))
        ids = np.array([self.id("joint", j) + 1 for j in joints], dtype=np.int32)
        weights = vector(coefficients, ids.size, "coefficients")
        return self._add("tendon", dict(fields, name=name or None),
                         {"joint_count": int(ids.size), "coefficients": weights}, ids)

    def add_actuator(self, joint: Optional[Part] = None, name: str = "", **fields: Any) -> int:
        """force = gain u + bias - kp q - kd v of a joint, `tendon` or `frame`, times gear; rgActuatorDef has further
        kinds."""
        values = dict(fields, name=name or None, joint=self.id("joint", joint))
        self._refer(values, tendon="tendon", frame="frame", reference="frame", slider="frame")
        return self._add("actuator", values)

    def add_equality(self, kind: str, name: str = "", **fields: Any) -> int:
        """Couple two points, frames, joints or tendons: "connect", "weld", "joint", "tendon"."""
        values = dict(fields, kind=kind, name=name or None)
        self._refer(values, body_a="body", body_b="body", joint_a="joint", joint_b="joint",
                    tendon_a="tendon", tendon_b="tendon")
        return self._add("equality", values)

    def add_sensor(self, kind: str, name: str = "", **fields: Any) -> int:
        """A measurement, such as "joint_position", "gyro", "touch"."""
        values = dict(fields, kind=kind, name=name or None)
        self._refer(values, joint="joint", tendon="tendon", actuator="actuator", frame="frame",
                    body="body")
        return self._add("sensor", values)

    def add_key(self, name: str, q: Any = None, v: Any = None, ctrl: Any = None,
                time: float = 0.0, act: Any = None) -> int:
        """A stored state; missing values are neutral or zero."""
        arrays: Dict[str, Any] = {}
        for field, count, given in (("q", "q_count", q), ("v", "v_count", v),
                                    ("control", "control_count", ctrl),
                                    ("activation", "activation_count", act)):
            if given is not None:
                arrays[field] = floats(given, field).reshape(-1)
                arrays[count] = int(arrays[field].size)
        return self._add("key", {"name": name, "time": time}, arrays)

    def exclude(self, a: Part, b: Part) -> None:
        """Exclude contacts between two bodies."""
        ids = [_make_id("body", self.id("body", x)) for x in (a, b)]
        with self._lock:
            check(lib.rgModelDef_ExcludePair(self._c, *ids), "exclude")

    def set_options(self, gravity: Any = None, dt: float = 0.0) -> None:
        """Default options of worlds of this model: gravity [m/s^2], time step [s]."""
        c = ffi.new("rgModelOptions*")
        fill(c, {"gravity": gravity, "time_step": dt}, "options", [])
        c.hasGravity = gravity is not None
        with self._lock:
            lib.rgModelDef_SetOptions(self._c, c)

    def compile(self) -> Model:
        """Check the definition and make a model. The exception lists all errors, part by part."""
        return Model(self)

    def save(self, path: Path) -> None:
        """Write the definition as .urdf, or as .xml or .mjcf."""
        diagnostics = Diagnostics()
        with self._lock:
            result = lib.rgSaveModelDef(self._c, os.fsencode(path), diagnostics.c)
        diagnostics.done(result, str(path))

    def mjcf(self) -> str:
        """The definition as MJCF text."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.xml")
            self.save(path)
            with open(path, encoding="utf-8") as file:
                return file.read()


def _text(value: str, what: str) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise ArgumentError(f"{what} must be a string without zero bytes")
    return value.encode("utf-8")


def _pad(size: Any) -> np.ndarray:
    given = np.atleast_1d(floats(size, "size"))
    if given.ndim != 1 or given.size > 3:
        raise ArgumentError("size takes at most 3 numbers")
    padded = np.zeros(3)
    padded[:given.size] = given
    return padded


def _mesh(vertices: Any, triangles: Any) -> Dict[str, Any]:
    points = floats(vertices, "vertices")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ArgumentError(f"vertices must have shape (n, 3), not {points.shape}")
    corners = np.zeros((0, 3), np.int32)
    if triangles is not None:
        corners = np.ascontiguousarray(triangles, dtype=np.int32)
        if corners.ndim != 2 or corners.shape[1] != 3:
            raise ArgumentError(f"triangles must have shape (m, 3), not {corners.shape}")
    return {"vertex_count": len(points), "vertices": points, "triangle_count": len(corners),
            "triangles": corners}


def _height_field(heights: Any, size: Any) -> Dict[str, Any]:
    grid = floats(heights, "heights")
    if grid.ndim != 2:
        raise ArgumentError(f"heights must have shape (rows, columns), not {grid.shape}")
    half_x, half_y, depth = vector(size, 3, "size")
    return {"row_count": grid.shape[0], "column_count": grid.shape[1], "heights": grid,
            "size_x": half_x, "size_y": half_y, "depth": depth}


# ---- files and scenes


def _load_def(fields: Dict[str, Any], keep: List[Any]) -> Any:
    c = ffi.new("rgLoadDef*", lib.rgDefaultLoadDef())
    folders = fields.pop("package_dirs", None)
    fill(c, fields, "load", keep, also=["package_dirs"])
    if folders:
        names = [ffi.new("char[]", os.fsencode(f)) for f in folders]
        keep += names + [ffi.new("char*[]", names)]
        c.packageDirs, c.packageDirCount = keep[-1], len(names)
    return c


def _expand_xacro(path: str) -> Optional[bytes]:
    """The URDF text of a xacro file; None: it is not one, or the package xacro is not installed."""
    if not path.endswith(".xacro"):
        return None
    try:
        import xacro  # of ROS, on PyPI as well
    except ImportError:
        return None
    try:
        text: str = xacro.process_file(path).toxml()
    except Exception as error:  # of many kinds, among them those of what the file evaluates
        raise FormatError(f"{path}: xacro: {error}") from error
    return text.encode("utf-8")


def load_def(path: Path, **options: Any) -> ModelDef:
    """As `load()`, but gives the editable definition."""
    text = _expand_xacro(os.fsdecode(path))
    if text is not None:
        return parse_def(text, path, **options)
    keep: List[Any] = []
    diagnostics = Diagnostics()
    out = ffi.new("rgModelDef**")
    name = os.fsencode(path)
    if b"\0" in name:
        raise ArgumentError("the path contains a zero byte")
    result = lib.rgLoadModelDef(name, _load_def(options, keep), diagnostics.c, out)
    return ModelDef._from(out[0], diagnostics.done(result, str(path), 4))


def load(path: Path, **options: Any) -> Model:
    """Read a URDF, MJCF or SDF file, or a built-in model such as "humanoid". A `.xacro` file is
    expanded first, where the package `xacro` is installed.

    Options are the fields of rgLoadDef: `base="floating"` for URDF robots that are not bolted down,
    `package_dirs=[...]` for package://, and others.
    """
    return load_def(path, **options).compile()


def parse_def(text: Union[str, bytes], path: Optional[Path] = None, **options: Any) -> ModelDef:
    """As `parse()`, but gives the editable definition."""
    data = text.encode("utf-8") if isinstance(text, str) else bytes(text)
    keep: List[Any] = []
    diagnostics = Diagnostics()
    out = ffi.new("rgModelDef**")
    name = ffi.NULL if path is None else ffi.new("char[]", os.fsencode(path))
    result = lib.rgParseModelDef(data, len(data), name, _load_def(options, keep), diagnostics.c, out)
    return ModelDef._from(out[0], diagnostics.done(result, "parse", 4))


def parse(text: Union[str, bytes], path: Optional[Path] = None, **options: Any) -> Model:
    """A model from the text of a URDF, MJCF or SDF file; relative file names start from `path`."""
    return parse_def(text, path, **options).compile()


def scenes() -> Dict[str, str]:
    """Names and descriptions of the built-in scenes."""
    found = (lib.rgSceneAt(i) for i in range(lib.rgSceneCount()))
    return {str(string(s.name)): str(string(s.description)) for s in found}


def builtin_models() -> List[str]:
    """Names of the models that come with the library."""
    count = lib.rgBuiltinModelCount()
    return [str(string(lib.rgBuiltinModelAt(i).name)) for i in range(count)]


def scene(name: str, count: int = 0, seed: int = 0, **options: Any) -> Model:
    """A built-in scene. Its worlds start as the scene does, and its script acts in every step.

    count: bodies of a scene that comes in sizes, 0: its own number; seed: of scenes with random parts.
    """
    found = lib.rgFindScene(_text(name, "scene"))
    if found == ffi.NULL:
        known = scenes()
        near = difflib.get_close_matches(name, known, 3) or list(known)
        raise NotFoundError(f"there is no scene '{name}'; there is " + ", ".join(near))
    c = ffi.new("rgSceneDef*", lib.rgDefaultSceneDef())
    fill(c, dict(options, count=count, seed=seed), "scene", [])
    diagnostics = Diagnostics()
    out = ffi.new("rgModelDef**")
    result = lib.rgBuildScene(found, c, diagnostics.c, out)
    definition = ModelDef._from(out[0], diagnostics.done(result, name))
    return Model(definition, found)
