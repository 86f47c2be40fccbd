"""The table of docs/tasks.md is what rigor.c and mujoco.c hold: check.py FOLDER TABLE [--write]"""
import re
import sys
from pathlib import Path


def tasks(path):
    """Lines of code of each task, by name; names of tasks that are not compiled end in (3.2)."""
    found, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("//: "):
            name = text[4:]
            found[name] = 0
        elif text == "//;":
            name = None
        elif name is not None and text and not text.startswith("//"):
            found[name] += 1
    return found


def main():
    folder, page = Path(sys.argv[1]), Path(sys.argv[2])
    ours = tasks(folder / "rigor.c")
    theirs, newer = {}, set()
    for name, count in tasks(folder / "mujoco.c").items():
        plain = name.removesuffix(" (3.2)")
        theirs[plain] = count
        if plain != name:
            newer.add(plain)
    if set(ours) != set(theirs) or len(ours) != 20:
        sys.exit(f"{len(ours)} tasks, not in both: {set(ours) ^ set(theirs)}")
    more = [name for name in ours if ours[name] > theirs[name]]
    if more:
        sys.exit(f"more lines than MuJoCo: {more}")
    rows = [f"| {name} | {ours[name]} | {theirs[name]}{' *' if name in newer else ''} |"
            for name in ours]
    rows.append(f"| all | {sum(ours.values())} | {sum(theirs.values())} |")
    text = page.read_text(encoding="utf-8")
    table = "| task | rigor | MuJoCo |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    if "--write" in sys.argv:
        text = re.sub(r"\| task \| rigor \| MuJoCo \|\n(\|.*\n)*", table, text)
        page.write_text(text, encoding="utf-8")
    if table not in text:
        sys.exit(f"{page} should say:\n{table}")


main()
