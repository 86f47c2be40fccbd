"""Pages quote the kept results: check_quotes.py ROOT RIGOR

Every page that quotes agrees with bench/results, pages of experiments have no typed numbers, every experiment of `rigor bench list` has kept results that are
whole and small, and a page with another number does not pass."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def need(holds, *text):
    if not holds:
        sys.exit("check_quotes: FAILED: " + " ".join(map(str, text)))


def run(*command):
    return subprocess.run([sys.executable, "-B", *command], capture_output=True, text=True)


def pages(root):
    everywhere = [(root, [], ["README.md"]), *os.walk(os.path.join(root, "docs"))]
    for folder, _, names in everywhere:
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                if name.endswith(".md") and "<!-- quote from " in file.read():
                    yield path


def check_typed(root):
    """Pages of experiments have no table and no number with a unit but those of the kept results."""
    folder = os.path.join(root, "docs", "benchmarks")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = re.sub(r"<!-- quote (?!from ).*?<!-- end quote -->", "", file.read(), flags=re.S)
        for line in text.splitlines():
            typed = line.startswith("|") or re.search(r"\d ?(us|ms|ns|um|mm|%|steps/s|degrees)\b|\d times|\d ?%", line)
            need(not typed, f"docs/benchmarks/{name}: typed by hand:", line)


def machine_of(root):
    with open(os.path.join(root, "docs", "benchmarks.md"), encoding="utf-8") as file:
        named = re.findall(r"<!-- quote from ([\w.-]+) -->", file.read())
    need(len(set(named)) == 1, "docs/benchmarks.md quotes one machine:", named)
    return named[0]


def check_results(folder, rigor):
    listed = subprocess.run([rigor, "bench", "list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.split("measurements (")[0].splitlines()[1:]]
    for name in names:
        path = os.path.join(folder, name + ".json")
        need(os.path.exists(path), path, "is not there")
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        need(os.path.getsize(path) <= 100_000, path, "is large")
        need(found["fault"] is None and all(check["holds"] for check in found["checks"]), path, "failed")
        need(found["effort"] != "quick", path, "is of a quick pass")


def check_scripts(root):
    """Keep and quote a report of our own, in a copy: thinned where it is large, and any change is seen."""
    report = {"experiment": "made", "conclusion": "It is 3.", "fault": None, "checks": [], "seconds": 1, "load": 0.5,
              "build": {"commit": "abc", "processor": "P", "compiler": "C"},
              "tables": [{"name": "t", "columns": [{"name": "who", "unit": None, "format": None},
                                                   {"name": "what", "unit": None, "format": None},
                                                   {"name": "rate", "unit": "1/s", "format": "%.0f"},
                                                   {"name": "rate", "unit": "mm", "format": "%.2g"}],
                          "rows": [["a", "x", 12345.6, 0.123], ["a", "y", 7, None], ["b", "x", 1, 2]]}],
              "plots": [{"name": "p", "title": "P < Q", "x": "n", "y": "share", "groups": [],
                         "series": [{"name": "s", "x": list(range(40000)), "y": [0.5] * 40000}]},
                        {"name": "bars", "title": "B", "x": "", "y": "rate", "groups": ["left", "right"],
                         "series": [{"name": "s", "x": [0, 1], "y": [10, None]}, {"name": "t", "x": [0], "y": [2000]}]}]}
    page = ("<!-- quote from here -->\n<!-- quote machine -->\n<!-- end quote -->\n<!-- quote made conclusion -->\n"
            "old\n<!-- end quote -->\n<!-- quote made t; where who = a; columns what | rate#2 -->\n<!-- end quote -->\n"
            "<!-- quote made t; across who | what | rate | rate#2 -->\n<!-- end quote -->\n"
            "<!-- quote made plot p -->\n<!-- end quote -->\n<!-- quote made plot bars -->\n<!-- end quote -->\n"
            "<!-- quote summary; made | Fig. 9 | it is 3 -->\n<!-- end quote -->\n"
            "<!-- quote from there -->\n<!-- quote made conclusion -->\n<!-- end quote -->\n")
    with tempfile.TemporaryDirectory() as folder:
        bench = os.path.join(folder, "tree", "bench")
        source, kept = os.path.join(folder, "report"), os.path.join(bench, "results", "here", "report")
        os.makedirs(bench)
        os.makedirs(source)
        for script in ("keep.py", "quote.py", "figures.py"):
            shutil.copy(os.path.join(root, "bench", script), bench)
        with open(os.path.join(source, "made.json"), "w", encoding="utf-8") as file:
            json.dump(report, file)
        with open(os.path.join(source, "summary.md"), "w", encoding="utf-8") as file:
            file.write("summary\n")
        done = run(os.path.join(bench, "keep.py"), source, kept)
        need(done.returncode == 0, done)
        with open(os.path.join(kept, "made.json"), encoding="utf-8") as file:
            found = json.load(file)
        curve = found["plots"][0]["series"][0]["x"]
        need(found["tables"] == report["tables"] and curve[0] == 0 and curve[-1] == 39999 and found["thinned"] > 1,
             "a large file is not kept as it should")
        there = os.path.join(bench, "results", "there", "report")
        os.makedirs(there)
        with open(os.path.join(there, "made.json"), "w", encoding="utf-8") as file:
            json.dump(dict(report, conclusion="It is 4 there."), file)
        path = os.path.join(folder, "page.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        quote = os.path.join(bench, "quote.py")
        need(run(quote, "--check", path).returncode != 0, "an empty quote passes")
        need(run(quote, path).returncode == 0 and run(quote, "--check", path).returncode == 0, "a page is not written")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for line in ("> It is 3.", "> It is 4 there.", "| x | 0.12 |", "| y | - |", "| a | 12 346, 0.12 | 7, - |",
                     "| b | 1, 2 |  |", "| Fig. 9 | it is 3 | It is 3. | `rigor bench made` |",
                     "![P < Q](tree/docs/figures/here_made_p.svg)", "Commit abc, P, compiler C: made in 1 s"):
            need(line in text, line, "is not in", text)
        figure = os.path.join(folder, "tree", "docs", "figures", "here_made_bars.svg")
        with open(figure, encoding="utf-8") as file:
            drawn = file.read()
        need(drawn.count("<rect") == 4 and ">right</text>" in drawn, "frame, background and two bars", drawn)
        with open(figure, "w", encoding="utf-8") as file:
            file.write(drawn.replace("right", "wrong"))
        need(run(quote, "--check", path).returncode != 0, "a changed figure passes")
        need(run(quote, path).returncode == 0, "a figure is not drawn anew")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("12 346", "12 347"))
        need(run(quote, "--check", path).returncode != 0, "a changed number passes")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<!-- quote made conclusion -->\n<!-- end quote -->\n<!-- quote from here -->\n")
        need("where its numbers are from" in run(quote, path).stderr, "a quote from nowhere passes")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<!-- quote from here -->\n<!-- quote made conclusion -->\n<!-- end quote -->\n")
        need(run(quote, "--from", "there", path).returncode == 0, "a page does not change its machine")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        need("<!-- quote from there -->" in text and "It is 4 there." in text, "another machine is not quoted", text)
        need(not os.path.exists(figure), "a figure that no page shows stays")
        for wrong in ("made u", "made t; columns nothing", "made t; where who = c", "made t; turn who", "nobody t", "made plot q"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"<!-- quote from here -->\n<!-- quote {wrong} -->\n<!-- end quote -->\n")
            done = run(quote, "--from", "here", path)
            need(done.returncode == 1 and "quote: " in done.stderr and "Traceback" not in done.stderr, wrong, done)
        need(run(quote, path).returncode == 0, "what the kept report lacks stops a page")
        with open(path, encoding="utf-8") as file:
            need("*Not in the kept report" in file.read(), "a page does not say what the kept report lacks")


def check_parts(root):
    """Single experiments and rows of one engine are kept beside what is there."""
    columns = [{"name": name, "unit": None, "format": form} for name, form in (("engine", None), ("steps/s", "%.0f"), ("depth", "%.2g"))]

    def report(commit, rows):
        return {"experiment": "made", "conclusion": commit, "fault": None, "checks": [], "seconds": 1, "load": 9, "notes": [],
                "build": {"commit": commit, "processor": "P", "compiler": "C"},
                "tables": [{"name": "t", "columns": columns, "rows": rows}], "plots": []}

    def write(folder, name, made):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(made, file)

    with tempfile.TemporaryDirectory() as folder:
        source, kept = os.path.join(folder, "report"), os.path.join(folder, "kept")
        keep = os.path.join(root, "bench", "keep.py")
        write(source, "made", report("new", [["old one", 50, 0.5], ["Jolt 10", 70, 0.25]]))
        write(kept, "made", report("old", [["old one", 100, 0.5]]))
        write(kept, "other", report("old", []))
        for path, commit in ((source, "new"), (kept, "old")):
            with open(os.path.join(path, "summary.md"), "w", encoding="utf-8") as file:
                file.write(f"Commit {commit}, P.\n\n**Made** (`made`, x). {commit}\n\n**Other** (`other`, x). {commit}\n\n")
        done = run(keep, "--rows", "Jolt", source, kept, "made")
        with open(os.path.join(kept, "made.json"), encoding="utf-8") as file:
            found = json.load(file)
        need(done.returncode == 0 and found["tables"][0]["rows"] == [["old one", 100, 0.5], ["Jolt 10", None, 0.25]], done, found)
        need(found["build"]["commit"] == "old" and "commit new" in found["notes"][0], found)
        write(source, "made", report("new", [["old one", 50, 0.6], ["Jolt 10", 70, 0.25]]))
        need("differ from the kept ones" in run(keep, "--rows", "Jolt", source, kept, "made").stderr, "other rows may differ")
        need(run(keep, source, kept, "made").returncode == 0 and os.path.exists(os.path.join(kept, "other.json")), "one alone")
        with open(os.path.join(kept, "summary.md"), encoding="utf-8") as file:
            need(file.read() == "Commit old, P.\n\n**Made** (`made`, x). new (Commit new.)\n\n**Other** (`other`, x). old\n\n",
                 "the summary")
        need("no results of absent" in run(keep, source, kept, "absent").stderr, "what is not there is kept")


def main():
    root, rigor = sys.argv[1:]
    check_parts(root)
    check_scripts(root)
    found = list(pages(root))
    need(found, "no page quotes anything")
    done = run(os.path.join(root, "bench", "quote.py"), "--check", *found)
    need(done.returncode == 0, done.stderr)
    check_typed(root)
    check_results(os.path.join(root, "bench", "results", machine_of(root), "report"), rigor)
    print("check_quotes: ok:", ", ".join(os.path.basename(page) for page in found))


main()
