"""The site: each page has one place in its contents, and pages are converted as they should be: test_site.py ROOT"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
del sys.argv[1:]
sys.path.insert(0, str(ROOT / "docs/site"))
import contents  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402


class Contents(unittest.TestCase):
    def test_every_page_is_in_it(self):
        sections, problems = contents.read()
        self.assertEqual(problems, [])
        listed = {page for section in sections for page in section.pages}
        self.assertLessEqual({str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")}, listed)

    def test_faults_are_found(self):
        text = "start: Start\nFirst.\nhello.md\nhello.md\n"
        problems = contents.read(text)[1]
        self.assertIn("contents.txt: docs/hello.md stands in it twice", problems)
        self.assertIn("docs/overview.md is in no section of docs/site/contents.txt", problems)
        self.assertIn("contents.txt: there is no page nothing.md", contents.read(text + "nothing.md\n")[1])


class Pages(unittest.TestCase):
    def setUp(self):
        found = [p for s in contents.read()[0] for p in s.pages if not p.startswith("=")]
        self.site = pages.Site(found, {"rgWorld_Step": "func"})

    def test_links(self):
        target = lambda link, page="docs/howto/simulate.md": pages.target_of(self.site, page, link)
        self.assertEqual(target("../overview.md"), "../overview.md")
        self.assertEqual(target("compose.md#parts"), "compose.md#parts")
        self.assertEqual(target("../../examples/README.md"), "../examples/readme.md")
        self.assertEqual(target("../../include/rigor/world.h"), "../reference/c/world.rst")
        self.assertEqual(target("../../src/world/step.c"), "../source/src/world/step.c.md")
        self.assertIn("src/world/step.c", self.site.files)

    def test_formulas(self):
        self.assertEqual(pages.formula("sigma = (G + R) lambda_t,i + g"), "σ = (G + R) λ<sub>t,i</sub> + g")
        self.assertEqual(pages.formula("G = J M^-1 J'"), "G = J M<sup>-1</sup> J′")
        self.assertEqual(pages.formula("a <= b < c"), "a ≤ b &lt; c")
        made = pages.equations("    (1)  x = mu y    a remark\n    (2)  z = 0\n", "ncp", lambda text: text)
        self.assertIn('id="eq-ncp-1"', made)
        self.assertIn('<span class="remark">a remark</span>', made)
        self.assertIn("<span>z = 0</span>", made)

    def test_conversion(self):
        text = pages.convert(self.site, "docs/theory/ncp.md")
        self.assertIn('href="ncp.html#eq-ncp-3"', text)
        self.assertNotIn("    (3) ", text)

    def test_tabs(self):
        text = "# A\n\n```c\nint x;\n```\n\nIt prints\n\n```text\n1\n```\n\nMore.\n\n## In Python\n\n```python\nx = 1\n```\n\nEnd.\n"
        made = pages.side_by_side(text)
        self.assertIn("`````{tab} C\n```c\nint x;\n```\n\nIt prints\n\n```text\n1\n```\n`````", made)
        self.assertIn("`````{tab} Python\n```python\nx = 1\n```\n`````\n\n\nMore.", made)
        self.assertNotIn("## In Python", made)
        self.assertTrue(made.endswith("\nEnd.\n"))
        self.assertEqual(pages.side_by_side("```python\nx\n```\n"), "```python\nx\n```\n")

    def test_glossary(self):
        made = pages.glossary("Before.\n\n**slip** (sliding): motion along\nthe surface.\n\n**stick**: none.\n\nAfter.\n")
        self.assertIn("```{glossary}\nslip\nsliding\n    motion along\n    the surface.\n\nstick\n    none.\n", made)
        self.assertTrue(made.startswith("Before.") and made.endswith("After.\n"))


class Sources(unittest.TestCase):
    """Pages that explain the code name files that are there, and quote lines that they have."""

    PAGES = sorted((ROOT / "docs/howto").glob("add-*.md"))

    def test_files_are_there(self):
        count = 0
        for page in self.PAGES:
            for name in re.findall(r"`((?:src|include|test|cli|docs|models)/[\w./-]+\.\w+)`", page.read_text(encoding="utf-8")):
                if "<" not in name:
                    count += 1
                    self.assertTrue((ROOT / name).is_file(), f"{page.name}: {name}")
        self.assertGreater(count, 20)

    def test_quotes(self):
        """A block of C belongs to the file that was named last before it, or first behind it."""
        count = 0
        for page in self.PAGES:
            text = page.read_text(encoding="utf-8")
            for block in re.finditer(r"^ *```c\n(.*?)^ *```", text, re.S | re.M):
                name = re.compile(r"`(src/[\w./-]+\.[ch])`")
                near = [m.group(1) for m in name.finditer(text[:block.start()])][-1:] \
                    + [m.group(1) for m in name.finditer(text[block.end():])][:1]
                quoted = re.sub(r"\s+", "", block.group(1))
                count += 1
                self.assertTrue(any(quoted in re.sub(r"\s+", "", (ROOT / n).read_text(encoding="utf-8")) for n in near),
                                f"{page.name}: not in {near}:\n{block.group(1)}")
        self.assertGreater(count, 8)


class Reference(unittest.TestCase):
    def test_python_is_whole(self):
        made, missing = reference.python_pages()
        self.assertEqual(missing, [])
        self.assertIn(".. py:method:: step(", made["world"])
        self.assertNotIn("_open", made["world"])

    def test_options(self):
        self.assertEqual(reference.option_line("  --dt DT              time step [s]"),
                         ("--dt", " DT", "time step [s]"))
        self.assertIsNone(reference.option_line("usage: rigor simulate"))


if __name__ == "__main__":
    unittest.main()
