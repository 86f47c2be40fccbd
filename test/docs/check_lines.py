"""Lines of the pages have at most 100 columns: check_lines.py SOURCE [--wrap]

Exempt are rows of tables, headings, comments, blocks between ```, what bench/quote.py writes, and lines
without a place to break them.
--wrap breaks paragraphs, items of lists and indented equations that have longer lines.
"""
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
WIDTH = 100
ITEM = re.compile(r"( *(?:[-*+]|\d+\.) +)\S")
EQUATION = re.compile(r" {4,}(\(\d+\) +)?\S")


def pages():
    yield from (SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
    yield from sorted((SOURCE / "docs").rglob("*.md"))


def starts(line):
    return bool(ITEM.match(line)) or line.startswith(("#", "|", "<", ">", "    ")) or not line.strip()


def blocks(lines):
    """(kind, lines): text and items may be wrapped; equations have hanging lines; the rest stays."""
    i = 0
    while i < len(lines):
        line = lines[i]
        end = i + 1
        if line.lstrip().startswith("```"):
            while end < len(lines) and not lines[end].lstrip().startswith("```"):
                end += 1
            end = min(end + 1, len(lines))
            yield "code", lines[i:end]
        elif line.startswith("<!-- quote ") and not line.startswith("<!-- quote from "):
            while end < len(lines) and not lines[end - 1].startswith("<!-- end quote"):
                end += 1
            yield "code", lines[i:end]
        elif not line.strip() or line.startswith(("#", "|", "<", ">")):
            yield "other", [line]
        elif ITEM.match(line):
            indent = len(ITEM.match(line).group(1))
            while end < len(lines) and lines[end].strip() and not starts(lines[end].strip()) and lines[end].startswith("  "):
                end += 1
            yield f"item {indent}", lines[i:end]
        elif line.startswith("    "):
            label = EQUATION.match(line).group(0)[:-1]
            while end < len(lines) and re.match(rf" {{{len(label)}}}\S", lines[end]):
                end += 1
            yield "equation", lines[i:end]
        else:
            while end < len(lines) and not starts(lines[end]) and not lines[end].startswith("```"):
                end += 1
            yield "text", lines[i:end]
        i = end


def fill(words, first, hanging):
    lines, line = [], first
    for word in words:
        if len(line) + len(word) + (0 if line.endswith(" ") or not line else 1) > WIDTH and line.strip() and line != first:
            lines.append(line.rstrip())
            line = hanging + word
        else:
            line += word if line.endswith(" ") or not line else " " + word
    return [*lines, line]


def words_of(text):
    """Words; a link, code in backquotes and a number in groups of three stay whole, and no line begins with
    what would start an item, heading, quote or table."""
    text = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda m: m.group(0).replace(" ", "\0"), text)
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "\0", text)
    text = re.sub(r" (?=(?:[-+*#>|]|\d+[.)])(?: |$)|[>|#])", "\0", text)
    return [word.replace("\0", " ") for word in text.split()]


def hang(block):
    """Lines of an equation; what is too long for one goes to the next, but not between columns of a table."""
    label = EQUATION.match(block[0]).group(0)[:-1]
    out, rest = [], ""
    for number, line in enumerate(block):
        following = number + 1 < len(block) and not re.search(r"\S {3,}\S", block[number + 1])
        current, rest = (label if number == 0 else " " * len(label)) + rest, ""
        for piece in re.findall(r"\S+ *", line[len(label):]):
            if rest:
                rest += piece
            elif len((current + piece).rstrip()) <= WIDTH or not current.strip():
                current += piece
            elif following:
                rest = piece
            else:
                out.append(current.rstrip())
                current = " " * len(label) + piece
        out.append(current.rstrip())
        rest = rest.rstrip() + " " if rest else ""
    return out


def wrap(lines):
    for kind, block in blocks(lines):
        if kind in ("code", "other") or max(map(len, block)) <= WIDTH:
            yield from block
        elif kind == "equation":
            yield from hang(block)
        else:
            indent = int(kind.split()[1]) if kind.startswith("item") else 0
            first = block[0][:indent]
            yield from fill(words_of(" ".join(block)[indent:]), first, " " * indent)


def is_long(line):
    breakable = " " in line.strip()[:WIDTH]
    return len(line) > WIDTH and breakable and not line.startswith(("|", "#", "<", ">"))


def check():
    wrong = []
    for page in pages():
        lines = page.read_text(encoding="utf-8").split("\n")
        number = 1
        for kind, block in blocks(lines):
            for line in block:
                if kind != "code" and is_long(line):
                    wrong.append(f"{page.relative_to(SOURCE)}:{number}: {len(line)} columns")
                number += 1
    if wrong:
        sys.exit("\n".join([*wrong, "check_lines.py . --wrap breaks them"]))


def wrap_all():
    for page in pages():
        text = page.read_text(encoding="utf-8")
        wrapped = "\n".join(wrap(text.split("\n")))
        if wrapped != text:
            page.write_text(wrapped, encoding="utf-8")
            print(page.relative_to(SOURCE))


wrap_all() if "--wrap" in sys.argv else check()
