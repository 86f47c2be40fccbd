"""Every rg... name on a page is one of the public headers: check_names.py INCLUDE PAGE... [--also FOLDER...]"""
import re
import sys
from pathlib import Path

arguments, known = sys.argv[1:], set()
files = list(Path(arguments[0]).glob("rigor/*.h"))
if "--also" in arguments:
    at = arguments.index("--also")
    files += [f for folder in arguments[at + 1:] for f in Path(folder).rglob("*.[ch]")]
    del arguments[at:]
for header in files:
    known.update(re.findall(r"\brg_?[A-Za-z][A-Za-z0-9_]*", header.read_text(encoding="utf-8")))
wrong, count = [], 0
for page in arguments[1:]:
    text = Path(page).read_text(encoding="utf-8")
    for name, dots in re.findall(r"\b(rg(?:[A-Z]|_[a-z])[A-Za-z0-9_]*)(\.\.\.)?", text):
        count += 1
        part = dots or name.endswith("_")
        if name not in known and not any(part and k.startswith(name) for k in known):
            wrong.append(f"{page}: {name} is in no header")
if wrong or count < 50:
    sys.exit("\n".join(wrong) or f"{count} names: nothing was checked")
print(f"{count} names")
