"""Every rg... name on a page is one of the public headers: check_names.py INCLUDE PAGE..."""
import re
import sys
from pathlib import Path

known = set()
for header in Path(sys.argv[1]).glob("rigor/*.h"):
    known.update(re.findall(r"\brg_?[A-Za-z][A-Za-z0-9_]*", header.read_text(encoding="utf-8")))
wrong, count = [], 0
for page in sys.argv[2:]:
    text = Path(page).read_text(encoding="utf-8")
    for name in re.findall(r"\brg(?:[A-Z]|_[a-z])[A-Za-z0-9_]*", text):
        count += 1
        if name not in known and not any(k.startswith(name) for k in known if name.endswith("_")):
            wrong.append(f"{page}: {name} is in no header")
if wrong or count < 50:
    sys.exit("\n".join(wrong) or f"{count} names: nothing was checked")
print(f"{count} names")
