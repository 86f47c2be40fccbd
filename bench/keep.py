#!/usr/bin/env python3
"""Keep the numbers of a report in the repository: keep.py [--rows ENGINE] REPORT RESULTS [EXPERIMENT...]

Copies the JSON files and the conclusions, of all experiments or of those named. A file above 100 KB keeps all of
its tables, and of each curve every k-th point, with the first and the last one, so that it fits without line breaks;
the field "thinned" says what k was.

--rows ENGINE adds the rows of one engine from a run of another commit to the kept tables, where all other rows are
the same in both runs but for rates. Its own rates are left out, and a note names commit and load."""
import json
import os
import re
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


def read(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if found["fault"] or not all(check["holds"] for check in found["checks"]):
        sys.exit(f"keep: {path} failed; nothing more is kept")
    return found


def keep_file(source, target):
    found = read(source)
    text = fit(found) if os.path.getsize(source) > MOST else None
    if text is None:
        shutil.copyfile(source, target)
    else:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    if os.path.getsize(target) > MOST:
        sys.exit(f"keep: {target} has more than {MOST} bytes of tables")


def add_rows(source, target, engine):
    new, kept = read(source), read(target)
    added = 0
    for table in kept["tables"]:
        other = next((one for one in new["tables"] if one["name"] == table["name"]), None)
        if other is None or other["columns"] != table["columns"]:
            sys.exit(f"keep: {source} has no table {table['name']} with the same columns")
        rates = [column["name"].startswith("steps/s") for column in table["columns"]]

        def without_rates(row, rates=rates):
            return [None if rate else value for value, rate in zip(row, rates)]

        theirs = [row for row in other["rows"] if str(row[0]).startswith(engine)]
        rest = [without_rates(row) for row in other["rows"] if row not in theirs]
        table["rows"] = [row for row in table["rows"] if not str(row[0]).startswith(engine)]
        if rest != [without_rates(row) for row in table["rows"]]:
            sys.exit(f"keep: {source}, {table['name']}: other rows differ from the kept ones by more than rates")
        table["rows"] += [without_rates(row) for row in theirs]
        added += len(theirs)
    if added == 0:
        sys.exit(f"keep: {source} has no rows of {engine}")
    kept["notes"] = [note for note in kept["notes"] if not note.startswith(f"Rows of {engine}")]
    kept["notes"].append(f"Rows of {engine} are of commit {new['build']['commit']}, on the same type of machine at a "
                         f"load of {new['load']:.0f}: without rates, and not in the conclusion. All other rows of "
                         "that run agree with these, but for rates.")
    text = json.dumps(kept, indent=2)
    with open(target, "w", encoding="utf-8") as file:
        file.write((text if len(text) <= MOST else fit(kept)) + "\n")


def paragraph_name(paragraph):
    found = re.match(r"\*\*[^*]*\*\* \(`([\w-]+)`", paragraph)
    return found.group(1) if found else None


def keep_summary(source, target, named):
    """Conclusions of the experiments named; those of another commit than the first line's say of which."""
    with open(source, encoding="utf-8") as file:
        new = file.read().strip().split("\n\n")
    with open(target, encoding="utf-8") as file:
        kept = file.read().strip().split("\n\n")
    commit = new[0].split(",")[0]
    mark = "" if commit == kept[0].split(",")[0] else f" ({commit}.)"
    by_name = {paragraph_name(one): one + mark for one in new if paragraph_name(one) in named}
    kept = [by_name.get(paragraph_name(one), one) for one in kept]
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n\n".join(kept) + "\n\n")


def main():
    arguments = sys.argv[1:]
    engine = None
    if arguments[:1] == ["--rows"] and len(arguments) > 1:
        engine, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2 or (engine and len(arguments) < 3):
        sys.exit("keep: keep.py [--rows ENGINE] REPORT RESULTS [EXPERIMENT...]")
    report, results, *named = arguments
    os.makedirs(results, exist_ok=True)
    there = sorted(name[:-5] for name in os.listdir(report) if name.endswith(".json"))
    missing = [name for name in named if name not in there]
    if not there or missing:
        sys.exit(f"keep: {report} has no results{' of ' + ', '.join(missing) if missing else ''}; make bench first")
    for name in os.listdir(results):
        if not named and name.endswith(".json") and name[:-5] not in there:
            os.remove(os.path.join(results, name))
    for name in named or there:
        source, target = (os.path.join(folder, name + ".json") for folder in (report, results))
        if engine:
            add_rows(source, target, engine)
        else:
            keep_file(source, target)
    if not named:
        shutil.copyfile(os.path.join(report, "summary.md"), os.path.join(results, "summary.md"))
    elif not engine:
        keep_summary(os.path.join(report, "summary.md"), os.path.join(results, "summary.md"), named)
    print(f"keep: {len(named or there)} experiments in {results}")


if __name__ == "__main__":
    main()
