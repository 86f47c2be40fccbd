"""The declarations of the public headers, for programs that read C but do not compile it.

Comments, preprocessor lines and inline functions are left out; what remains is what cffi parses.
"""

import re
from pathlib import Path

__all__ = ["declarations", "functions"]


def _order(include: Path) -> list:
    """Headers in the order in which rigor.h reads them, each after those that it includes."""
    found = []

    def visit(name):
        if name in found:
            return
        text = (include / name).read_text(encoding="utf-8")
        for other in re.findall(r'^#include "(rigor/\w+\.h)"', text, re.MULTILINE):
            visit(other)
        found.append(name)

    visit("rigor/rigor.h")
    return found


def _without_inline(text: str) -> str:
    """Cut `static inline` functions: from the keyword to the brace that closes the body."""
    kept, at = [], 0
    for match in re.finditer(r"static inline\b", text):
        if match.start() < at:
            continue
        kept.append(text[at:match.start()])
        end, depth = text.index("{", match.start()), 0
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        at = end
    return "".join(kept + [text[at:]])


def declarations(include: Path) -> str:
    """What the headers below `include` declare, as cffi takes it."""
    parts = []
    for name in _order(Path(include)):
        text = (Path(include) / name).read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        text = re.sub(r"//[^\n]*", "", text)
        # Integer constants, which array sizes use; other macros are for C alone.
        constants = re.findall(r"^#define (RG_\w+)[ \t]+(\d+)[ \t]*$", text, re.MULTILINE)
        text = re.sub(r"\\\n", " ", text)
        text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
        text = _without_inline(text).replace("RG_API", "")
        text = re.sub(r"\n\s*\n+", "\n", text).strip()
        parts += [f"#define {key} {value}" for key, value in constants] + [text]
    return "\n".join(parts) + "\n"


def functions(text: str) -> list:
    """(result type, name, [argument types]) of every function in the declarations."""
    found = []
    flat = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    flat = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\s+", " ", flat))
    for statement in flat.split(";"):
        match = re.match(r"^([\w ]+?[ *]+)(rg\w+) ?\((.*)\)$", statement.strip())
        if match and not statement.strip().startswith("typedef"):
            result, name, arguments = (part.strip() for part in match.groups())
            types = [] if arguments == "void" else [_type(a) for a in arguments.split(",")]
            found.append((result, name, types))
    return found


def _type(argument: str) -> str:
    return re.match(r"^(.*?[ *])\w+$", argument.strip()).group(1).strip()
