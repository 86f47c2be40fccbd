"""The C library; see native.py. Every function and constant of the public headers is in `lib`."""

from typing import Any

ffi: Any
lib: Any
