"""Sections and pages of the site, read from contents.txt."""
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent


class Section(NamedTuple):
    name: str
    title: str
    about: str
    pages: list  # paths below ROOT; "=c" and the like are generated


def read(text=None):
    """Sections in order; an error names a line without a page, and a page of docs without a line."""
    lines = [line for line in (text or (HERE / "contents.txt").read_text(encoding="utf-8")).splitlines()
             if not line.startswith("# ")]
    sections, problems, patterns = [], [], []
    i = 0
    while i < len(lines):
        line = lines[i].strip()
        i += 1
        if not line:
            continue
        if ": " in line:
            name, _, title = line.partition(": ")
            sections.append(Section(name, title, lines[i].strip(), []))
            i += 1
        elif "*" in line:
            patterns.append((len(sections) - 1, len(sections[-1].pages), line))
            sections[-1].pages.append(line)
        elif line.startswith("="):
            sections[-1].pages.append(line)
        else:
            path = (DOCS / line).resolve()
            if not path.is_file():
                problems.append(f"contents.txt: there is no page {line}")
            sections[-1].pages.append(str(path.relative_to(ROOT)))
    named = [page for section in sections for page in section.pages]
    problems += [f"contents.txt: {page} stands in it twice" for page in sorted(set(named)) if named.count(page) > 1]
    for section, _, pattern in patterns:
        found = [str(path.relative_to(ROOT)) for path in sorted(DOCS.glob(pattern))]
        at = sections[section].pages.index(pattern)
        sections[section].pages[at:at + 1] = [page for page in found if page not in named]
    known = {page for section in sections for page in section.pages}
    for path in sorted(DOCS.rglob("*.md")):
        if str(path.relative_to(ROOT)) not in known:
            problems.append(f"{path.relative_to(ROOT)} is in no section of docs/site/contents.txt")
    return sections, problems
