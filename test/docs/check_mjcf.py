#!/usr/bin/env python3
"""The attributes of MJCF that change nothing, in docs/formats/mjcf.md as in src/io/mjcf_schema.c: check_mjcf.py ROOT [--write]"""
import re
import sys
from pathlib import Path

BEGIN, END = "<!-- ignored -->\n", "<!-- end ignored -->"


def table(source):
    rows = {}
    body = source[source.index("ignored[] = {"):]
    body = body[:body.index("\n};")]
    for section, element, attribute, warns, parts in re.findall(
            r'\{"(\w+)", (NULL|"\w+"), "(\w+)", (true|false),\s*((?:"[^"]*"\s*)+)\}', body):
        if section == "default":
            continue
        name = section if element == "NULL" else element.strip('"')
        said = "".join(re.findall(r'"([^"]*)"', parts))
        names = rows.setdefault((attribute, warns, said), [])
        if name not in names:
            names.append(name)
    merged = {}
    for (attribute, warns, said), names in rows.items():
        merged.setdefault((tuple(names), warns, said), []).append(attribute)
    lines = ["| element | attributes | message | consequence |", "|---|---|---|---|"]
    for (names, warns, said), attributes in sorted(merged.items()):
        lines.append(f"| {', '.join(f'`{n}`' for n in names)} | {', '.join(f'`{a}`' for a in attributes)} | "
                     f"{'warning' if warns == 'true' else 'note'} | {said} |")
    return "\n".join(lines) + "\n"


def main(root, write=None):
    root = Path(root)
    made = table((root / "src/io/mjcf_schema.c").read_text(encoding="utf-8"))
    page = root / "docs/formats/mjcf.md"
    text = page.read_text(encoding="utf-8")
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if write:
        page.write_text(text[:start] + made + text[end:], encoding="utf-8")
    elif text[start:end] != made:
        sys.exit("docs/formats/mjcf.md: the table of attributes differs from src/io/mjcf_schema.c; "
                 "test/docs/check_mjcf.py . --write")
    print(f"{made.count(chr(10)) - 2} rows")


main(*sys.argv[1:])
