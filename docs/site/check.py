#!/usr/bin/env python3
"""Every link of the made site leads somewhere on it, and nothing is loaded from a network: check.py HTML"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(v for k in ("id", "name") if (v := values.get(k)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADED[tag]])


def main(folder) -> int:
    root = Path(folder).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    wrong, inner, outer, reached = [], 0, set(), {root / "index.html"}
    todo = [root / "index.html"]
    for path, page in pages.items():
        where = path.relative_to(root)
        for link in page.loaded + page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded and url.scheme != "data":
                    wrong.append(f"{where}: loads {link}")
                outer.add(link)
                continue
            inner += 1
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not target.is_file():
                wrong.append(f"{where}: {link} is not there")
            elif url.fragment and target in pages and unquote(url.fragment) not in pages[target].anchors:
                wrong.append(f"{where}: {link} has no such place")
    while todo:
        page = todo.pop()
        for link in pages[page].links:
            target = (page.parent / unquote(urlsplit(link).path)).resolve() if not urlsplit(link).scheme else None
            if target in pages and target not in reached:
                reached.add(target)
                todo.append(target)
    alone = [str(p.relative_to(root)) for p in pages if p not in reached and p.name != "search.html"]
    wrong += [f"no page leads to {name}" for name in alone]
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file())
    pictures = len(list(root.glob("_images/*")))
    print(f"site: {len(pages)} pages, {pictures} pictures, {inner} links inside, {len(outer)} outside, {size / 1e6:.1f} MB,"
          f" {len(wrong)} faults")
    print("\n".join(wrong[:50]), file=sys.stderr)
    return bool(wrong) or len(pages) < 50


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
