#!/usr/bin/env python3
"""Writes a C program that calls every public function with NULL: with nothing but zeros, and with each pointer
in turn NULL while the others are given.

Usage: null_calls.py INCLUDE OUTPUT. The rule that the program checks is in docs/architecture.md; the program
itself is null_calls.h, which has a value for every type. A type that is not known there is an error.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from declarations import declarations, functions  # noqa: E402

# Functions of numbers alone, which have an answer when they are asked nothing, and what stands for "nothing"
# where zero would be taken for an answer.
_ANSWERS = {
    "rgCheckVersion": None,
    "rgResult_Name": None,
    "rgBatchParameter_Name": None,
    "rgWorldFault_Name": None,
    "rgDeviceCount": None,
    "rgDeviceKind_Name": None,
    "rgHashBytes": None,
    "rgRandomBits": None,
    "rgRandomUnit": None,
    "rgRandomNormal": None,
    "rgBuiltinModelAt": None,
    "rgSceneAt": None,
    "rgNearestName": "-1",
    "rgResults_FindArray": "-1",
    "rgWorld_SensorStart": "-1",
    "rgContactProblem_Residual": "NAN",
    "rgInertia_Check": "rg_inertiaNotFinite",
}
_SCALARS = {"int", "bool", "double", "size_t", "uint32_t", "uint64_t", "unsigned", "int32_t", "int64_t"}
_NUMBERS = {"int": "1", "size_t": "1", "int64_t": "1", "double": "1.0", "bool": "true", "uint64_t": "1"}


def _nothing(kind: str) -> str:
    return f"({kind})0" if kind.endswith("*") or kind in _SCALARS else f"({kind}){{0}}"


def _given(kind: str) -> str:
    """A value of this type: a number, an object of the fixture, or room to be written to."""
    if not kind.endswith("*"):
        return _NUMBERS.get(kind, _nothing(kind))
    plain = kind.removeprefix("const ").removesuffix("*")
    if plain.endswith("Fcn"):
        return f"rgCallback_{plain}"
    if plain in _OBJECTS:
        return f"rgObject_{plain}()"
    if plain == "rgAllocator" or not kind.startswith("const "):
        return f"({kind})rgRoom()"
    default = re.sub(r"^rg", "rgDefault", plain)
    if default in _DEFAULTS:
        return f"&(rgHeld_{plain}){{{default}({'rgObject_rgModel()' if plain == 'rgDynamicsDef' else ''})}}.held"
    return {"char": '"name"', "char* const": "rg_names"}.get(plain, f"({kind})rgRoom()")


def _call(kinds: list, missing: int) -> str:
    return ", ".join(_nothing(k) if missing in (-1, i) else _given(k) for i, k in enumerate(kinds))


def _body(result: str, name: str, arguments: str, strict: bool) -> str:
    """Statements that make the call and judge the answer; strict: the answer has to be that nothing is there."""
    call = f"{name}({arguments})"
    if result == "void":
        return f"{call};"
    if result == "rgResult":
        if not strict or name in _ANSWERS:
            return f"(void)!{call};"
        return f"rgExpect({call} == rg_errorArgument);"
    if result == "rgPose":
        return f"rgPose p = {call}; rgExpect(p.q.w == 1 && p.p.x == 0);" if strict else f"(void){call};"
    if strict and (result.endswith("*") or result in _SCALARS):
        expected = _ANSWERS.get(name, _nothing(result))
        if expected is not None:
            return f"rgExpect(isnan({call}));" if expected == "NAN" else f"rgExpect({call} == {expected});"
    return f"(void){call};"


def _cases(text: str) -> list:
    """(name, number of the argument or -1 for all, statements)."""
    cases = []
    for result, name, kinds in functions(text):
        if not any(k.endswith("*") for k in kinds):
            continue
        cases.append((name, -1, _body(result, name, _call(kinds, -1), True)))
        pointers = [i for i, k in enumerate(kinds) if k.endswith("*")]
        if name.startswith("rgDestroy") or len(pointers) == 1 == len(kinds):
            continue
        for i in pointers:
            # The object is the first argument of its functions.
            strict = i == 0 and "_" in name and kinds[i].removeprefix("const ").removesuffix("*") in _OBJECTS
            cases.append((name, i, _body(result, name, _call(kinds, i), strict)))
    return cases


def _program(text: str) -> str:
    _SCALARS.update(re.findall(r"typedef enum (\w+)", text))
    _DEFAULTS.update(name for _, name, _ in functions(text) if name.startswith("rgDefault"))
    held = sorted(d.replace("rgDefault", "rg") for d in _DEFAULTS)
    cases = _cases(text)
    lines = ["#include <rigor/rigor.h>"]
    lines += [f"typedef struct {{ {h} held; }} rgHeld_{h};" for h in held]
    lines += ['#include "null_calls.h"']
    lines += [f"static void rgCase{n}(void) {{ {body} }}" for n, (_, _, body) in enumerate(cases)]
    lines += ["static const rgCase rg_cases[] = {"]
    lines += [f'    {{"{name}", {i}, rgCase{n}}},' for n, (name, i, _) in enumerate(cases)]
    lines += ["};", "int main(void) { return rgRunCases(rg_cases, (int)(sizeof(rg_cases) / sizeof(rgCase))); }", ""]
    return "\n".join(lines)


_DEFAULTS = set()
_OBJECTS = set(re.findall(r"rgObject_(\w+)\(void\)", Path(__file__).with_name("null_calls.h").read_text("utf-8")))

if __name__ == "__main__":
    Path(sys.argv[2]).write_text(_program(declarations(Path(sys.argv[1]))), encoding="utf-8")
