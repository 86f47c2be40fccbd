"""Shared parts of the other modules: the C library, errors, and structs in both directions.

C structs become Python values by their own description, so that a field that C gains appears here
without a line of code: names in snake_case, ids from 0 (-1: none), enums as words, vectors as arrays.
"""

from __future__ import annotations

import operator
import re
import reprlib
import warnings
from types import SimpleNamespace
from typing import Any, Dict, Generic, Iterable, List, NamedTuple, Optional, TypeVar

import numpy as np

from ._native import ffi, lib

_NULL = ffi.NULL


T = TypeVar("T")


class Fixed(Generic[T]):
    """An attribute that is set once. C reads and writes as much memory as it said then."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._place = name, "_fixed_" + name

    def __get__(self, instance: Any, owner: Any = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]
        try:
            return instance.__dict__[self._place]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, instance: Any, value: T) -> None:
        if self._place in instance.__dict__:
            raise AttributeError(f"{self._name} of a {type(instance).__name__} cannot be changed")
        instance.__dict__[self._place] = value


# ---- errors


class Error(Exception):
    """Anything that rigor refuses or cannot do. The text is that of the library's diagnostics."""


class ArgumentError(Error, ValueError):
    """A value that a call refuses; nothing was changed."""


class FileError(Error, OSError):
    """A file could not be opened, read or written."""


class FormatError(Error, ValueError):
    """A file was read but is not valid."""


class UnsupportedError(Error, NotImplementedError):
    """A valid input that rigor does not support."""


class NumericError(Error, ArithmeticError):
    """Not a number where one is needed, or a matrix that cannot be factorized."""


class VersionError(Error, ImportError):
    """Extension and library differ."""


class OutOfMemoryError(Error, MemoryError):
    """The allocator returned NULL."""


class BusyError(Error, RuntimeError):
    """Another thread is using this object right now."""


class ClosedError(Error, RuntimeError):
    """The object was closed."""


class NotFoundError(Error, KeyError):
    """The model has no part of that name or number."""

    __str__ = Exception.__str__


class RigorWarning(UserWarning):
    """A remark of the library about an input that it accepted."""


_ERRORS = {
    lib.rg_errorArgument: ArgumentError,
    lib.rg_errorMemory: OutOfMemoryError,
    lib.rg_errorFile: FileError,
    lib.rg_errorFormat: FormatError,
    lib.rg_errorUnsupported: UnsupportedError,
    lib.rg_errorNumeric: NumericError,
    lib.rg_errorVersion: VersionError,
}


def fail(result: int, text: str) -> None:
    """Raise the exception of a result other than rg_ok."""
    raise _ERRORS.get(result, Error)(text)


def check(result: int, text: str) -> None:
    """Raise unless the result is rg_ok."""
    if result != lib.rg_ok:
        fail(result, f"{text}: {string(lib.rgResult_Name(result))} error")


def string(text: Any) -> Optional[str]:
    """A C string as Python's; None for NULL."""
    return None if text == _NULL else ffi.string(text).decode("utf-8", "replace")


def _place(message: Any) -> str:
    file = string(message.file)
    if not message.line:
        return f"{file}: " if file else ""
    return f"{file}:{message.line}: " if file else f"line {message.line}: "


class Diagnostics:
    """Collects the library's remarks during one call."""

    def __init__(self) -> None:
        out = ffi.new("rgDiagnostics**")
        check(lib.rgCreateDiagnostics(_NULL, out), "diagnostics")
        self.c = ffi.gc(out[0], lib.rgDestroyDiagnostics)

    def texts(self, severity: int) -> List[str]:
        found = []
        for i in range(lib.rgDiagnostics_Count(self.c)):
            message = lib.rgDiagnostics_Message(self.c, i)
            if message.severity == severity:
                found.append(_place(message) + (string(message.text) or ""))
        return found

    def done(self, result: int, doing: str, stacklevel: int = 3) -> List[str]:
        """Warnings as warnings; an error as an exception with its text. Returns the notes."""
        for text in self.texts(lib.rg_severityWarning):
            warnings.warn(text, RigorWarning, stacklevel=stacklevel)
        if result != lib.rg_ok:
            errors = self.texts(lib.rg_severityError)
            name = string(lib.rgResult_Name(result))
            fail(result, "\n".join(errors) if errors else f"{doing}: {name} error")
        return self.texts(lib.rg_severityNote)


# ---- names


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_words: Dict[str, Dict[int, str]] = {}


def words(ctype: Any) -> Dict[int, str]:
    """Values of a C enum and their words: rg_jointRevolute is "revolute"."""
    if ctype.cname not in _words:
        values = sorted(ctype.elements)
        names = [snake(ctype.elements[v][3:]).split("_") for v in values]
        shared = 0
        while all(len(n) > shared + 1 and n[shared] == names[0][shared] for n in names):
            shared += 1
        known = {v: "_".join(n[shared:]) for v, n in zip(values, names)}
        if known[values[-1]] == "count":  # how many there are, and none of them
            del known[values[-1]]
        _words[ctype.cname] = known
    return _words[ctype.cname]


def word(cname: str, value: int) -> str:
    return words(ffi.typeof(cname)).get(value, str(value))


def enum_value(ctype: Any, value: Any, what: str) -> int:
    known = words(ctype)
    if isinstance(value, str):
        for number, name in known.items():
            if name == value:
                return number
        raise ArgumentError(f"{what}: '{value}' is none of " + ", ".join(known.values()))
    number = operator.index(value)
    if number not in known:
        raise ArgumentError(f"{what}: {number} is none of " + ", ".join(known.values()))
    return number


# ---- C to Python


class Pose(NamedTuple):
    """Frame B seen from frame A: x_A = R(q) x_B + p."""

    p: np.ndarray  #: position [m], (3,)
    q: np.ndarray  #: unit quaternion w, x, y, z, (4,)


class Spatial(NamedTuple):
    """Motion or force at one point."""

    linear: np.ndarray  #: [m/s] or [N], (3,)
    angular: np.ndarray  #: [rad/s] or [N m], (3,)


class Record(SimpleNamespace):
    """Fields of a C struct."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={_brief.repr(value)}" for key, value in vars(self).items())
        return f"{type(self).__name__}({fields})"


_brief = reprlib.Repr()  # a recording has a text of many pages and a word per step
_brief.maxother = _brief.maxstring = 200


_HIDDEN = {"cookie", "allocator", "tasks", "context", "before_step", "after_step", "source"}


def numbers(cdata: Any, count: int) -> np.ndarray:
    """A copy of C doubles."""
    if count == 0:
        return np.zeros(0)
    return np.frombuffer(ffi.buffer(cdata, 8 * count), dtype=np.float64).copy()


def _flat(cdata: Any, count: int) -> np.ndarray:
    return numbers(ffi.addressof(cdata), count)


_STRUCTS = {
    "rgVec3": lambda c: _flat(c, 3),
    "rgQuat": lambda c: _flat(c, 4),
    "rgPose": lambda c: Pose(_flat(c.p, 3), _flat(c.q, 4)),
    "rgSpatial": lambda c: Spatial(_flat(c.linear, 3), _flat(c.angular, 3)),
}


def read(cdata: Any) -> Any:
    """A struct by value or by pointer, as a Python value of its own."""
    ctype = ffi.typeof(cdata)
    if ctype.kind == "pointer":
        cdata, ctype = cdata[0], ctype.item
    name = ctype.cname.replace("struct ", "")
    if name in _STRUCTS:
        return _STRUCTS[name](cdata)
    fields = dict(ctype.fields)
    if list(fields) == ["index1"]:
        return cdata.index1 - 1
    record = Record()
    for name, field in fields.items():
        key = snake(name)
        if key not in _HIDDEN and (field.type.kind != "pointer" or field.type.item.cname == "char"):
            setattr(record, key, _read_field(getattr(cdata, name), field.type))
    return record


def _read_field(value: Any, ctype: Any) -> Any:
    if ctype.kind == "enum":
        return words(ctype).get(int(value), int(value))
    if ctype.kind == "pointer":
        return string(value)
    if ctype.kind == "array":
        return np.array(list(value))
    return read(value) if ctype.kind == "struct" else value


_PRIMITIVES = {"double": "f8", "float": "f4", "int": "i4", "_Bool": "?", "unsigned int": "u4"}
_dtypes: Dict[str, Any] = {}


def dtype(cname: str) -> Any:
    """A structured type over the memory of a C struct, without its pointers."""
    if cname not in _dtypes:
        _dtypes[cname] = np.dtype(_describe(ffi.typeof(cname)))
    return _dtypes[cname]


def _describe(ctype: Any) -> Any:
    names, formats, offsets = [], [], []
    for name, field in ctype.fields:
        described = _describe_field(field.type)
        if described is not None:
            names.append(snake(name))
            formats.append(described)
            offsets.append(field.offset)
    return {"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(ctype)}


def _describe_field(ctype: Any) -> Any:
    if ctype.kind == "primitive":
        name = _PRIMITIVES.get(ctype.cname)
        return name or ("u" if ctype.cname.startswith("u") else "i") + str(ffi.sizeof(ctype))
    if ctype.kind == "enum":
        return "i4"
    if ctype.kind == "array":
        inner = _describe_field(ctype.item)
        return None if inner is None else (inner, (ctype.length,))
    if ctype.kind != "struct":
        return None
    inner = [f.type for _, f in ctype.fields]
    if all(t.cname == "double" for t in inner):
        return ("f8", (len(inner),))
    if [name for name, _ in ctype.fields] == ["index1"]:
        return "i4"
    return _describe(ctype)


def structs(cname: str, pointer: Any, count: int) -> np.ndarray:
    """A copy of C structs as a structured array; ids count from 0, -1 means none."""
    kind = dtype(cname)
    if count == 0 or pointer == _NULL:
        return np.zeros(0, kind)
    array = np.frombuffer(ffi.buffer(pointer, count * kind.itemsize), dtype=kind).copy()
    for name, field in ffi.typeof(cname).fields:
        if field.type.cname.endswith("Id") and field.type.kind == "struct":
            array[snake(name)] -= 1
    return array


# ---- Python to C


def vector(value: Any, count: int, what: str) -> np.ndarray:
    """`count` finite numbers."""
    array = floats(value, what)
    if array.shape != (count,):
        raise ArgumentError(f"{what} must have shape ({count},), not {array.shape}")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ArgumentError(f"{what}[{bad}] is {array[bad]}: finite numbers are needed")
    return array


def floats(value: Any, what: str) -> np.ndarray:
    """A contiguous float64 array of real numbers; copied only if it is not one."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.getmaskarray(value).any():
            raise ArgumentError(f"{what} is a masked array: fill its masked values")
        value = value.data
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{what} must hold real numbers, not {array.dtype}")
    if array.dtype.kind == "b":
        raise ArgumentError(f"{what} must hold numbers, not booleans")
    array = np.asarray(array, dtype=np.float64)
    return array if array.flags.c_contiguous else array.copy(order="C")


def whole(value: Any, what: str) -> int:
    """A whole number, as a count of steps."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {value!r}") from None


def pointer(array: np.ndarray, cname: str = "double[]") -> Any:
    """A C view of a contiguous array, which must outlive it."""
    return ffi.from_buffer(cname, array) if array.size else _NULL


def writable_pointer(array: np.ndarray, cname: str = "double[]") -> Any:
    return ffi.from_buffer(cname, array, require_writable=True) if array.size else _NULL


def pose(value: Any, what: str = "pose") -> Any:
    """An rgPose from a Pose, (p, q), seven numbers, or a position alone."""
    out = ffi.new("rgPose*", {"q": {"w": 1.0}})
    if isinstance(value, (tuple, list)) and len(value) == 2:
        place, turn = value
    else:
        array = floats(value, what)
        if array.shape not in ((3,), (7,)):
            raise ArgumentError(f"{what} must be a pair of position and quaternion, 7 or 3 numbers")
        place, turn = array[:3], array[3:] if array.size == 7 else None
    fill_struct(out.p, place, what + " position", [])
    if turn is not None:
        fill_struct(out.q, turn, what + " quaternion", [])
    return out[0]


def _is_array(key: str, ctype: Any) -> bool:
    """Arrays and their counts must fit, which callers see to: they are no settings."""
    return key.endswith("_count") or (ctype.kind == "pointer" and ctype.item.cname != "char")


def fill(target: Any, values: Dict[str, Any], what: str, keep: List[Any],
         arrays: bool = False, also: Iterable[str] = ()) -> None:
    """Set fields of a def by their Python names; None leaves a field as it is. `also` are settings that
    the caller has taken out, for the message that lists them all."""
    fields = {snake(name): (name, field.type) for name, field in _struct(target).fields}
    fields = {key: (name, ctype) for key, (name, ctype) in fields.items()
              if key not in _HIDDEN and (arrays or not _is_array(key, ctype))}
    for key, value in values.items():
        other = {"mu": "friction", "friction": "mu"}.get(key)
        if key not in fields and other in fields:
            if other in values:
                raise TypeError(f"{what}: '{key}' and '{other}' are names of one setting: give one of them")
            key = other
        if key not in fields:
            known = sorted({*fields, *also})
            raise TypeError(f"{what} has no setting '{key}'; it has " + ", ".join(known))
        if value is not None:
            name, ctype = fields[key]
            _fill_field(target, name, ctype, value, f"{what}: {key}", keep)


def _struct(cdata: Any) -> Any:
    ctype = ffi.typeof(cdata)
    return ctype.item if ctype.kind == "pointer" else ctype


def _fill_field(target: Any, name: str, ctype: Any, value: Any, what: str, keep: List[Any]) -> None:
    if ctype.kind == "enum":
        setattr(target, name, enum_value(ctype, value, what))
    elif ctype.kind == "struct":
        fill_struct(getattr(target, name), value, what, keep)
    elif ctype.kind == "array":
        array = np.atleast_1d(floats(value, what))
        if array.ndim != 1 or array.size > ctype.length:
            raise ArgumentError(f"{what} takes at most {ctype.length} numbers")
        for i in range(ctype.length):
            getattr(target, name)[i] = array[i] if i < array.size else 0
    elif ctype.kind == "pointer":
        setattr(target, name, _fill_pointer(ctype.item, value, what, keep))
    else:
        try:
            setattr(target, name, value)
        except (TypeError, OverflowError) as error:
            raise ArgumentError(f"{what}: {error}") from None


def _fill_pointer(item: Any, value: Any, what: str, keep: List[Any]) -> Any:
    if item.cname == "char":
        if not isinstance(value, str):
            raise ArgumentError(f"{what} must be a string, not {type(value).__name__}")
        if "\0" in value:
            raise ArgumentError(f"{what} contains a zero byte")
        made = ffi.new("char[]", value.encode("utf-8"))
    elif item.cname == "double":
        keep.append(floats(value, what).reshape(-1))
        made = pointer(keep[-1])
    elif item.cname == "int":
        keep.append(np.ascontiguousarray(value, dtype=np.int32).reshape(-1))
        made = pointer(keep[-1], "int[]")
    elif item.kind == "struct" and isinstance(value, dict):
        made = ffi.new(ffi.getctype(item, "*"))
        fill(made, value, what, keep, arrays=True)
    else:
        raise ArgumentError(f"{what}: {type(value).__name__} is not supported")
    keep.append(made)
    return made


def fill_struct(target: Any, value: Any, what: str, keep: List[Any]) -> None:
    """Set a nested struct from numbers, an id, a mapping or a record."""
    ctype = _struct(target)
    fields = [n for n, _ in ctype.fields]
    if ctype.cname.endswith("rgPose"):
        made = pose(value, what)
        target.p, target.q = made.p, made.q
    elif fields == ["index1"]:
        target.index1 = operator.index(value) + 1
    elif all(f.type.cname == "double" for _, f in ctype.fields):
        for name, number in zip(fields, vector(value, len(fields), what)):
            setattr(target, name, number)
    elif isinstance(value, Record):
        fill(target, vars(value), what, keep)
    elif isinstance(value, dict):
        fill(target, value, what, keep)
    else:
        raise ArgumentError(f"{what} takes a dict of its fields, not {type(value).__name__}")


def refuse_pickle(self: Any, *_: Any) -> Any:
    """Objects of the C library are made anew in another process, not copied there."""
    raise TypeError(f"a rigor.{type(self).__name__} cannot be pickled or copied: "
                    + self._instead_of_pickle)


check(lib.rgPyCheckVersion(), "the extension was built for another version of the library")
