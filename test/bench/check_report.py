"""What a report must have, whatever the machine: check_report.py FOLDER | --run RIGOR NAME...

Files are there and whole, numbers are finite or said to be missing, checks hold, and every experiment comes
to a conclusion. With --run the experiments named are made first, quickly, and a list is checked as well."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile


def fail(*text):
    sys.exit("check_report: FAILED: " + " ".join(map(str, text)))


def need(holds, *text):
    if not holds:
        fail(*text)


def check_csv(path, columns, rows):
    with open(path, encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    need(len(found) == rows + 1, path, "has", len(found) - 1, "rows instead of", rows)
    need(all(len(row) == columns for row in found), path, "has rows of another length")


def check_experiment(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        found = json.load(file)
    need(found["experiment"] == name, name, "is called", found["experiment"])
    need(found["fault"] is None, name, found["fault"])
    need(found["conclusion"] and found["question"] and found["source"], name, "says nothing")
    need("nan" not in found["conclusion"].split(), name, found["conclusion"])
    for check in found["checks"]:
        need(check["holds"], name, check["text"])
    need(found["build"]["commit"] and found["build"]["processor"], name, "does not say where it ran")
    numbers = 0
    for table in found["tables"]:
        need(table["rows"], name, table["name"], "is empty")
        columns = len(table["columns"])
        for row in table["rows"]:
            need(len(row) == columns, name, table["name"], "has a row of", len(row))
            need(any(cell is not None for cell in row[1:]), name, table["name"], row, "has no values")
            numbers += sum(isinstance(cell, (int, float)) for cell in row)
        check_csv(os.path.join(folder, f"{name}_{table['name']}.csv"), columns, len(table["rows"]))
    for plot in found["plots"]:
        need(plot["series"], name, plot["name"], "has no curve")
        for series in plot["series"]:
            need(len(series["x"]) == len(series["y"]) > 0, name, plot["name"], series["name"])
            need(None not in series["x"], name, plot["name"], series["name"], "has gaps in x")
        check_csv(os.path.join(folder, f"{name}_{plot['name']}.csv"), 3,
                  sum(len(series["x"]) for series in plot["series"]))
    need(numbers > 0 or found["checks"], name, "has neither numbers nor checks")
    return found


def check_page(folder, found):
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
        page = file.read()
    for name, experiment in found.items():
        need(f'<section id="{name}">' in page, name, "is not on the page")
        need(page.count("<svg ") >= len(experiment["plots"]), name, "lacks plots")
    need(not re.search(r'(src|href)="(?!#|data:)[^"]*(?<!\.json)"', page), "the page needs other files")
    need(not re.search(r"[^a-z]-?(nan|inf)[^a-z]", re.sub(r"<title>.*?</title>", "", page)
                       .split("<body>")[1]), "the page shows numbers that are none")
    need(page.rstrip().endswith("</html>"), "the page is not whole")


def check(folder, names):
    found = {name: check_experiment(folder, name) for name in names}
    check_page(folder, found)
    print("check_report: ok:", ", ".join(names))


def main():
    if sys.argv[1] == "--run":
        rigor, names = sys.argv[2], sys.argv[3:]
        listed = subprocess.run([rigor, "bench", "list"], capture_output=True, text=True, check=True)
        for name in names:
            need(f"  {name} " in listed.stdout, name, "is not in the list")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([rigor, "bench", "report", *names, "--quick", "--out", folder],
                                  capture_output=True, text=True)
            need(done.returncode == 0, done.stderr)
            check(folder, names)
        done = subprocess.run([rigor, "bench", "report", "nothing"], capture_output=True, text=True)
        need(done.returncode == 2 and "'nothing' is not an experiment" in done.stderr, done)
    else:
        folder = sys.argv[1]
        sections = os.listdir(os.path.join(folder, "sections"))
        check(folder, sorted(name[: -len(".html")] for name in sections if name.endswith(".html")))


main()
