#!/usr/bin/env python3
"""Writes a C program that calls every public function with nothing but zeros and NULL.

Usage: null_calls.py INCLUDE OUTPUT. The rule that the program checks is in docs/architecture.md.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from declarations import declarations, functions  # noqa: E402

# Functions that have an answer when they are asked nothing.
_ANSWERS = {"rgCheckVersion"}


def _has_policy(result: str, name: str) -> bool:
    """Calls that return a value need their object, as any C function does."""
    return name.startswith("rgDestroy") or (result == "rgResult" and name not in _ANSWERS)


def _null_call(result: str, name: str, types: list) -> str:
    values = [f"({t})0" if t.endswith("*") or t in _SCALARS else f"({t}){{0}}" for t in types]
    call = f"{name}({', '.join(values)})"
    return f"    {call};" if result == "void" else f'    rgRefused("{name}", {call});'


_SCALARS = {"int", "bool", "double", "size_t", "uint32_t", "uint64_t", "unsigned", "int32_t"}


def _null_program(text: str) -> str:
    enums = set(re.findall(r"typedef enum (\w+)", text))
    _SCALARS.update(enums)
    calls = [_null_call(*f) for f in functions(text) if _has_policy(*f[:2])]
    return "\n".join([
        "#include <rigor/rigor.h>",
        "#include <stdio.h>",
        "static int rg_faults;",
        "static void rgRefused(const char* name, rgResult result) {",
        "    if (result != rg_errorArgument) {",
        '        printf("%s: %s\\n", name, rgResult_Name(result));',
        "        ++rg_faults;",
        "    }",
        "}",
        "int main(void) {",
        *calls,
        f'    printf("{len(calls)} functions, %d faults\\n", rg_faults);',
        "    return rg_faults != 0;",
        "}",
        "",
    ])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(_null_program(declarations(Path(sys.argv[1]))), encoding="utf-8")
