#!/usr/bin/env python3
"""Clicks from the front page of the site to the answers of a newcomer's questions: docs/site/clicks.py HTML [QUESTIONS]

QUESTIONS (questions.txt) has a question, a page and words that stand on it, separated by |. A click is a link of the
text or of the navigation that is open; links are followed from index.html, breadth first. Fails where a page is more
than three clicks away or lacks the words.
"""
import html
import re
import sys
from collections import deque
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent


def links(page):
    text = page.read_text(encoding="utf-8")
    start, end = text.find('<article'), text.find('</article>')
    for link in re.findall(r'<a\b[^>]*\bhref="([^"#]+)', text[start:end]):
        if not re.match(r"[a-z]+:", link):
            yield (page.parent / unquote(html.unescape(link))).resolve()


def distances(root):
    """Clicks and the path of pages to each page."""
    first = (root / "index.html").resolve()
    found, queue = {first: []}, deque([first])
    while queue:
        page = queue.popleft()
        for target in links(page):
            if target not in found and target.suffix == ".html" and target.exists():
                found[target] = [*found[page], target]
                queue.append(target)
    return found


def main(root, questions=HERE / "questions.txt"):
    root = Path(root).resolve()
    found, faults = distances(root), 0
    print("| question | clicks | path |\n|---|---|---|")
    for line in Path(questions).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        question, place, words = (part.strip() for part in line.split("|"))
        page = (root / place).resolve()
        path = found.get(page)
        text = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")) if page.exists() else ""
        good = path is not None and len(path) <= 3 and words in " ".join(html.unescape(text).split())
        faults += not good
        print(f"| {question} | {'-' if path is None else len(path)}{'' if good else ' (fault)'} | "
              + " > ".join(str(p.relative_to(root)).removesuffix(".html") for p in path or []) + " |")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
