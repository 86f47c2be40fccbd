"""Equations of docs/theory are numbered and cited without mistakes: check_equations.py SOURCE [--renumber]

An equation stands on a line of its own, indented, behind its number: "    (7)  sigma = G lambda + g". Numbers of a
page go up from 1 without gaps. Code, pages and tests cite it as `step.7`, or several as `step.7-9`, by the
name of the page. --renumber numbers the equations of every page in reading order and corrects what cites them.
"""
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
PAGES = {path.stem: path for path in sorted((SOURCE / "docs/theory").glob("*.md"))}
FOLDERS = ["src", "include", "test", "docs", "python", "bench", "cli", "examples", "web/src", "web/test"]
SUFFIXES = {".c", ".h", ".cu", ".inc", ".py", ".pyi", ".md", ".txt", ".js", ".ts", ".cmake"}
EQUATION = re.compile(r"^( {4,})\((\d+)\)( +)(?=\S)", re.M)
NAMES = "|".join(PAGES)
CITATION = re.compile(rf"\b({NAMES})\.(\d+)(?:-(\d+))?\b(?!\.\d)")
OLD = re.compile(rf"\b(?:{NAMES})\.md`?(?:\]|\))?(?:\([\w./-]*\))? ?\(\d+\)")
BARE = re.compile(r"(?<![\w^_.\]])\((\d{1,2})\)(?![\w(])")


def sources():
    for name in FOLDERS:
        for path in sorted((SOURCE / name).rglob("*")):
            if path.suffix in SUFFIXES and not {"node_modules", ".venv"} & set(path.parts) and path.name != Path(__file__).name:
                yield path
    yield SOURCE / "README.md"


def numbers(page):
    return [int(match.group(2)) for match in EQUATION.finditer(PAGES[page].read_text(encoding="utf-8"))]


def cited(path, text):
    """Citations of a file, but not those of a changelog or notebook, which are of their time."""
    dated = path.name == "changelog.md" or path.parent.name == "notebook"
    return [] if dated else list(CITATION.finditer(text))


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def check():
    equations = {page: numbers(page) for page in PAGES}
    wrong, count = [], 0
    for page, found in equations.items():
        if found != list(range(1, len(found) + 1)):
            wrong.append(f"docs/theory/{page}.md: equations are numbered {found}; run check_equations.py . --renumber")
    for path in sources():
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(SOURCE)
        for match in cited(path, text):
            count += 1
            first, last = int(match.group(2)), int(match.group(3) or match.group(2))
            known = equations[match.group(1)]
            if first not in known or last not in known or (match.group(3) and last <= first):
                wrong.append(f"{where}:{line_of(text, match.start())}: {match.group(0)} is no equation of docs/theory/{match.group(1)}.md")
        for match in OLD.finditer(text):
            wrong.append(f"{where}:{line_of(text, match.start())}: '{match.group(0)}' is to be page.number")
        if path.parent == SOURCE / "docs/theory":
            labels = {match.start() + len(match.group(1)) for match in EQUATION.finditer(text)}
            for match in EQUATION.finditer(text):
                if len(match.group(1)) != 4:
                    wrong.append(f"{where}:{line_of(text, match.end())}: ({match.group(2)}) is to stand behind four spaces")
            for match in BARE.finditer(text):
                if int(match.group(1)) in equations[path.stem] and match.start() not in labels:
                    wrong.append(f"{where}:{line_of(text, match.start())}: '{match.group(0)}' is to be {path.stem}.{match.group(1)}, or no number in parentheses")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(map(len, equations.values()))} equations on {sum(1 for e in equations.values() if e)} pages, {count} citations")


def ranges(page, values):
    """step.3-5, step.7 of a sorted list of numbers."""
    parts, i = [], 0
    while i < len(values):
        k = i
        while k + 1 < len(values) and values[k + 1] == values[k] + 1:
            k += 1
        parts.append(f"{page}.{values[i]}" + (f"-{values[k]}" if k > i else ""))
        i = k + 1
    return ", ".join(parts)


def renumber():
    new = {page: {old: i + 1 for i, old in enumerate(numbers(page))} for page in PAGES}

    def cite(match):
        page, first, last = match.group(1), int(match.group(2)), int(match.group(3) or match.group(2))
        return ranges(page, sorted(new[page][n] for n in range(first, last + 1) if n in new[page]))

    for path in sources():
        text = path.read_text(encoding="utf-8")
        changed = CITATION.sub(cite, text) if cited(path, text) else text
        if path.parent == SOURCE / "docs/theory":
            table = new[path.stem]
            changed = EQUATION.sub(lambda m: f"{m.group(1)}({table[int(m.group(2))]})".ljust(m.end() - m.start()), changed)
        if changed != text:
            path.write_text(changed, encoding="utf-8")
            print(path.relative_to(SOURCE))


renumber() if "--renumber" in sys.argv else check()
