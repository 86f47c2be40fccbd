#!/usr/bin/env python3
"""Makes the documentation site from the pages of docs: docs/site/make.py PROGRAM OUTPUT [VERSION]

PROGRAM is rigor, whose --help becomes pages of reference. The site is OUTPUT/html; open index.html, from a disk
or a server. Needs Sphinx, MyST, its tabs, Furo and doxygen (./setup docs), and no network, neither here nor to read it.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import contents  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402
from contents import DOCS, HERE, ROOT  # noqa: E402

LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".xml": "xml", ".urdf": "xml", ".txt": "text", ".sh": "sh"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def file_pages(site, source):
    """A page for every file of the repository that a page links to; of a folder, the list of its files."""
    todo, done = set(site.files), set()
    while todo:
        name = todo.pop()
        done.add(name)
        path = ROOT / name
        text = f"---\norphan: true\n---\n\n# {name}\n\n"
        if path.is_dir():
            tracked = subprocess.run(["git", "ls-files", name], cwd=ROOT, text=True, capture_output=True,
                                     check=False).stdout.split() or [str(p.relative_to(ROOT)) for p in path.iterdir()]
            files = [f for f in tracked if Path(f).suffix in LANGUAGES]
            text += "".join(f"- [{f}]({os.path.relpath('source/' + f, os.path.dirname('source/' + name))}.md)\n"
                            for f in files)
            todo |= {f for f in files if f not in done}
        else:
            code = path.read_text(encoding="utf-8", errors="replace")
            text += f"`````{LANGUAGES.get(path.suffix, 'text')}\n{code}`````\n"
        write(source / f"source/{name}.md", text)


def section_pages(sections, source):
    for section in sections:
        entries = []
        for page in section.pages:
            place = {"=c": "reference/c/index", "=python": "reference/python/index",
                     "=cli": "reference/cli/index"}.get(page) or pages.Site.place(page)
            entries.append("/" + place)
        write(source / f"sections/{section.name}.md",
              f"# {section.title}\n\n{section.about}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n")
    cards = "\n".join(f'<a class="card" href="sections/{s.name}.html"><b>{s.title}</b><span>{s.about}</span></a>'
                      for s in sections)
    names = "\n".join("/sections/" + s.name for s in sections)
    front = (HERE / "front.txt").read_text(encoding="utf-8")
    write(source / "index.md", front.replace("CARDS", f'<div class="cards">\n{cards}\n</div>\n')
          + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n")


def interface_pages(declarations, program, source):
    out = reference.title("C") + ":doc:`/api` has the rules; these are the calls, by header.\n\n.. toctree::\n\n"
    for header in declarations.headers:
        if header != "rigor":
            write(source / f"reference/c/{header}.rst", declarations.page(header))
            out += f"   {header}\n"
    write(source / "reference/c/index.rst", out)
    python, missing = reference.python_pages()
    for name, text in {f"python/{k}": v for k, v in python.items()}.items():
        write(source / f"reference/{name}.rst", text)
    for name, text in reference.command_pages(program).items():
        write(source / f"reference/cli/{name}.rst", text)
    return [f"rigor.{name} has no page" for name in missing]


def main(program, output, version="") -> int:
    sections, problems = contents.read()
    source, out = Path(output) / "source", Path(output) / "html"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(parents=True)
    declarations = reference.Declarations()
    site = pages.Site([p for s in sections for p in s.pages if not p.startswith("=")], declarations.names)
    for page in site.pages:
        write(source / (site.place(page) + ".md"), pages.convert(site, page))
    for folder in ("images", "figures"):
        shutil.copytree(DOCS / folder, source / folder)
    problems += interface_pages(declarations, os.path.abspath(program), source)
    file_pages(site, source)
    section_pages(sections, source)
    for name in ("conf.py", "style.css"):
        shutil.copy(HERE / name, source / name)
    log = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-j", "2", "-D", f"version={version}", "-D",
                          f"html_title=rigor {version}".strip(), str(source), str(out)],
                         text=True, capture_output=True, check=False)
    problems += [line.replace(str(source.resolve()) + "/", "") for line in log.stderr.splitlines()
                 if re.search(r"WARNING|ERROR|rror:", line)]
    if problems or log.returncode:
        print("\n".join(problems) or log.stderr, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
