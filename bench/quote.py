#!/usr/bin/env python3
"""Tables and conclusions of kept results on the pages that quote them: quote.py [--check|--from MACHINE] PAGE...

A page says where its numbers are from, and each block what it shows:

    <!-- quote from epyc-2core -->
    <!-- quote EXPERIMENT conclusion -->
    <!-- quote EXPERIMENT TABLE [; columns A | B ...] [; where A = X ...] [; across A | B | C ...] -->
    <!-- quote EXPERIMENT plot NAME -->
    <!-- quote summary; EXPERIMENT | FIGURE | CLAIM; ... -->
    ...
    <!-- end quote -->

What stands between is written anew from bench/results/epyc-2core/report/EXPERIMENT.json; with --check it only has
to be the same, and with --from MACHINE the pages quote that machine from now on, figures of others go, and all that is
quoted has to be there (else a line says that it is not in the kept report). A machine holds until the next one is named. Columns are named as in the report, the second one of the same name "name#2". "across" has a row for each A, a column for each B, and C, ... in the cells. "machine" in
place of an experiment: where and when. A plot becomes docs/figures/MACHINE_EXPERIMENT_NAME.svg. A summary has a row
for each experiment: a figure of the paper and what it claims, the conclusion here, and the command."""
import json
import os
import re
import sys
import textwrap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import figures  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
FIGURES = os.path.normpath(os.path.join(ROOT, "..", "..", "docs", "figures"))
SOURCE = re.compile(r"<!-- quote from ([\w.-]+) -->")
BLOCK = re.compile(r"(<!-- quote (?!from )(?P<what>[^>]*?) -->\n)(?P<old>.*?)(<!-- end quote -->)", re.S)


def fail(*text):
    sys.exit("quote: " + " ".join(map(str, text)))


class Missing(Exception):
    """What a page quotes and the kept results do not have."""


# Stands in a page until the next report is kept, where a page quotes more than the kept one has.
PLACEHOLDER = "*Not in the kept report, which is older than this part of the page.*"


def load(results, name):
    path = os.path.join(results, name + ".json")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        raise Missing(f"{path} is not there") from None


def cell_text(column, value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value.replace("|", "\\|")
    text = (column.get("format") or "%.4g") % value
    return f"{value:,.0f}".replace(",", " ") if re.fullmatch(r"-?\d{5,}", text) else text


def heading(column):
    return column["name"] + (f" [{column['unit']}]" if column["unit"] else "")


class Table:
    def __init__(self, found, name):
        tables = {table["name"]: table for table in found["tables"]}
        if name not in tables:
            raise Missing(f"{found['experiment']} has no table {name} but {', '.join(tables)}")
        self.columns, self.rows = tables[name]["columns"], tables[name]["rows"]
        self.where = f"{found['experiment']} {name}"

    def index(self, name):
        wanted, _, nth = name.strip().partition("#")
        hits = [i for i, column in enumerate(self.columns) if column["name"] == wanted]
        if len(hits) < int(nth or 1):
            raise Missing(f"{self.where} has no column {name!r} but {[column['name'] for column in self.columns]}")
        return hits[int(nth or 1) - 1]

    def text(self, row, i):
        return cell_text(self.columns[i], row[i])

    def select(self, conditions):
        for condition in conditions:
            name, _, values = condition.partition("=")
            i, wanted = self.index(name), values.strip()
            self.rows = [row for row in self.rows if self.text(row, i) == wanted]
        if not self.rows:
            raise Missing(f"{self.where} has no rows where {', '.join(conditions)}")

    def lines(self, head, numbers, rows):
        yield "| " + " | ".join(head) + " |"
        yield "|" + "|".join("---:" if number else "---" for number in numbers) + "|"
        for row in rows:
            yield "| " + " | ".join(row) + " |"

    def plain(self, names):
        chosen = [self.index(name) for name in names] if names else range(len(self.columns))
        return self.lines([heading(self.columns[i]) for i in chosen],
                          [self.columns[i].get("format") for i in chosen],
                          [[self.text(row, i) for i in chosen] for row in self.rows])

    def across(self, names):
        down, over, *shown = [self.index(name) for name in names]
        keys, tops, cells = [], [], {}
        for row in self.rows:
            key, top = self.text(row, down), self.text(row, over)
            keys += [key] if key not in keys else []
            tops += [top] if top not in tops else []
            cells[key, top] = ", ".join(self.text(row, i) for i in shown)
        first = heading(self.columns[down]) + ": " + ", ".join(heading(self.columns[i]) for i in shown)
        return self.lines([first, *tops], [False] + [True] * len(tops),
                          [[key] + [cells.get((key, top), "") for top in tops] for key in keys])


def quote_machine(results):
    found = [load(results, name[:-5]) for name in sorted(os.listdir(results)) if name.endswith(".json")]
    builds = {(one["build"]["commit"], one["build"]["processor"], one["build"]["compiler"]) for one in found}
    lines = []
    for commit, processor, compiler in sorted(builds):
        mine = [one for one in found if one["build"]["commit"] == commit]
        many = f"{len(mine)} experiments" if len(mine) > 1 else mine[0]["experiment"]
        lines.append(f"Commit {commit}, {processor}, compiler {compiler}: {many} in "
                     f"{sum(one['seconds'] for one in mine):.0f} s, load of the machine at their starts "
                     f"{min(one['load'] for one in mine):.2f} to {max(one['load'] for one in mine):.2f}.")
    return lines


def quote_summary(results, rows):
    yield "| paper | what it claims | found here | command |"
    yield "|---|---|---|---|"
    for row in rows:
        experiment, figure, claim = (part.strip() for part in row.split("|"))
        found = load(results, experiment)
        text = (found["conclusion"] or found["fault"]).replace("|", "\\|")
        yield f"| {figure} | {claim} | {text} | `rigor bench {experiment}` |"


def quote_plot(results, found, name, folder, written):
    plots = {plot["name"]: plot for plot in found["plots"]}
    if name not in plots:
        raise Missing(f"{found['experiment']} has no plot {name} but {', '.join(plots)}")
    machine = os.path.basename(os.path.dirname(results))
    file = f"{machine}_{found['experiment']}_{name}.svg"
    written[os.path.join(FIGURES, file)] = figures.draw(plots[name])
    place = os.path.relpath(os.path.join(FIGURES, file), folder)
    return [f"![{plots[name]['title']}]({place})"]


def quote(results, what, folder, written):
    first, *clauses = [part.strip() for part in what.split(";")]
    if first == "machine":
        return quote_machine(results)
    if first == "summary":
        return list(quote_summary(results, clauses))
    experiment, _, name = first.partition(" ")
    found = load(results, experiment)
    if name == "conclusion":
        return ["> " + line for line in textwrap.wrap(found["conclusion"] or found["fault"], 98)]
    if name.startswith("plot "):
        return quote_plot(results, found, name[5:].strip(), folder, written)
    table, columns, across = Table(found, name), None, None
    for clause in clauses:
        verb, _, rest = clause.partition(" ")
        names = [part.strip() for part in rest.split("|")]
        if verb == "where":
            table.select(names)
        elif verb == "columns":
            columns = names
        elif verb == "across" and len(names) >= 3:
            across = names
        else:
            fail(what, "cannot be read")
    return list(table.across(across) if across else table.plain(columns))


def fill(page, machine=None):
    with open(page, encoding="utf-8") as file:
        old = file.read()
    if machine:
        old = SOURCE.sub(f"<!-- quote from {machine} -->", old)
    if old.count("<!-- end quote -->") != len(BLOCK.findall(old)):
        fail(page, "has a quote without an end, or an end without a quote")
    written, folder = {}, os.path.dirname(os.path.abspath(page))
    sources = [(one.start(), one.group(1)) for one in SOURCE.finditer(old)]

    def renew(block):
        named = [machine for start, machine in sources if start < block.start()]
        if not named:
            fail(page, "does not say where its numbers are from")
        results = os.path.join(ROOT, named[-1], "report")
        try:
            lines = quote(results, block.group("what"), folder, written)
        except Missing as missing:
            if machine:
                fail(page + ":", missing)
            lines = [PLACEHOLDER]
        return block.group(1) + "\n".join(lines) + "\n" + block.group(4)

    return old, BLOCK.sub(renew, old), written


def is_file(path, text):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() == text
    except OSError:
        return False


def drop_figures(drawn):
    """Remove figures of kept results that no page shows any more."""
    for name in os.listdir(FIGURES) if os.path.isdir(FIGURES) else []:
        path = os.path.join(FIGURES, name)
        if name.split("_")[0] in os.listdir(ROOT) and path not in drawn:
            os.remove(path)


def main():
    arguments, machine = sys.argv[1:], None
    check = arguments[:1] == ["--check"]
    if arguments[:1] == ["--from"] and len(arguments) > 1:
        machine, arguments = arguments[1], arguments[1:]
    pages = arguments[1:] if check or machine else arguments
    if not pages or pages[0].startswith("--"):
        fail("quote.py [--check|--from MACHINE] PAGE...")
    stale, figures_drawn = [], set()
    for page in pages:
        old, new, drawn = fill(page, machine)
        figures_drawn.update(drawn)
        for path, text in [(page, new), *drawn.items()]:
            if not is_file(path, text) and check:
                stale.append(path)
            elif not is_file(path, text):
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if machine:
        drop_figures(figures_drawn)
    if stale:
        fail(", ".join(stale), "differ from the kept results; make bench-quotes writes them anew")
    print("quote:", len(pages), "pages agree with the kept results")


if __name__ == "__main__":
    main()
