#!/usr/bin/env python3
"""Keep the numbers of a report in the repository: keep.py REPORT RESULTS

Copies the JSON files and the conclusions. A file above 100 KB keeps all of its tables, and of each curve every
k-th point, with the first and the last one, so that it fits without line breaks; the field "thinned" says what
k was."""
import json
import os
import shutil
import sys

MOST = 100_000  # bytes


def thin(points, stride):
    last = len(points) - 1
    return [point for i, point in enumerate(points) if i % stride == 0 or i == last]


def fit(found):
    text = json.dumps(found, separators=(",", ":"))
    stride = 1
    while len(text) > MOST and stride < 4096:
        stride *= 2
        smaller = dict(found, thinned=stride)
        smaller["plots"] = [
            dict(plot, series=[dict(one, x=thin(one["x"], stride), y=thin(one["y"], stride)) for one in plot["series"]])
            for plot in found["plots"]]
        text = json.dumps(smaller, separators=(",", ":"))
    return text


def main():
    report, results = sys.argv[1:]
    os.makedirs(results, exist_ok=True)
    names = sorted(name for name in os.listdir(report) if name.endswith(".json"))
    if not names:
        sys.exit(f"keep: {report} has no results; make bench first")
    for name in os.listdir(results):
        if name.endswith(".json") and name not in names:
            os.remove(os.path.join(results, name))
    for name in names:
        source, target = os.path.join(report, name), os.path.join(results, name)
        with open(source, encoding="utf-8") as file:
            found = json.load(file)
        if found["fault"] or not all(check["holds"] for check in found["checks"]):
            sys.exit(f"keep: {name} failed; nothing more is kept")
        text = fit(found) if os.path.getsize(source) > MOST else None
        if text is None:
            shutil.copyfile(source, target)
        else:
            with open(target, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        if os.path.getsize(target) > MOST:
            sys.exit(f"keep: {name} has more than {MOST} bytes of tables")
    shutil.copyfile(os.path.join(report, "summary.md"), os.path.join(results, "summary.md"))
    print(f"keep: {len(names)} experiments in {results}")


if __name__ == "__main__":
    main()
