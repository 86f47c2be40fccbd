"""Each mechanism of a step and of the solver names its source and its tests: check_mechanisms.py SOURCE

The table of docs/notebook/testing.md has rows | mechanism | source files | test file: tests |. Files exist, tests
are in their file, and every source file of src/world and src/contact is in some row.
"""
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
PAGE = SOURCE / "docs/notebook/testing.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)


def main():
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index("| mechanism | source | tests |")
    table = text[begin:text.index("\n\n", begin)]
    wrong, named, count = [], set(), 0
    for mechanism, sources, tests in ROW.findall(table)[1:]:
        count += 1
        for name in re.findall(r"`([^`]+)`", sources):
            named.add(name)
            if not (SOURCE / "src" / name).is_file():
                wrong.append(f"{mechanism}: there is no src/{name}")
        found = re.findall(r"`([\w/]+\.(?:c|py))`: ([\w, ]+)", tests)
        if not found:
            wrong.append(f"{mechanism}: no test file")
        for file, functions in found:
            path = SOURCE / "test" / file
            code = path.read_text(encoding="utf-8") if path.is_file() else ""
            for function in functions.split(", "):
                if not re.search(rf"\btest_{function.strip()}\b", code):
                    wrong.append(f"{mechanism}: test/{file} has no test_{function.strip()}")
    for folder in ("world", "contact"):
        for path in sorted((SOURCE / "src" / folder).glob("*.c")):
            if f"{folder}/{path.name}" not in named:
                wrong.append(f"src/{folder}/{path.name} is in no row")
    if wrong or count < 30:
        sys.exit("\n".join([*wrong, f"{count} rows in the table of {PAGE.relative_to(SOURCE)}"]))
    print(f"{count} mechanisms, {len(named)} source files")


main()
