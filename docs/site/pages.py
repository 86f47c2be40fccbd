"""Turns the pages of docs into sources of the site: links, names of the interface, equations, glossary."""
import html
import os
import re
from pathlib import Path

from contents import ROOT

GREEK = {name: chr(code) for name, code in (
    ("alpha", 945), ("beta", 946), ("gamma", 947), ("delta", 948), ("eps", 949), ("epsilon", 949), ("eta", 951),
    ("theta", 952), ("kappa", 954), ("lambda", 955), ("mu", 956), ("nu", 957), ("rho", 961), ("sigma", 963),
    ("tau", 964), ("phi", 966), ("omega", 969), ("Gamma", 915), ("Delta", 916), ("Lambda", 923), ("Sigma", 931),
    ("Phi", 934))}
WORDS = "|".join(sorted(GREEK, key=len, reverse=True))
TOKEN = re.compile(r"""
    (?P<fence>^[ ]*```.*?^[ ]*```[^\n]*$)
  | (?P<comment><!--.*?-->)
  | (?P<html><div[ ]class="equations">.*?</div></div>)
  | (?P<heading>^\#+[ ][^\n]*$)
  | (?P<image>!\[[^\]]*\]\([^)]*\))
  | (?P<link>\[(?:[^\]`]|`[^`]*`)*\]\([^)\s]+\))
  | (?P<code>``[^`]+``|`[^`]+`)
  | (?P<equation>(?:^[ ]{4,}\(\d+\)[ ][^\n]*\n(?:[ ]{5,}[^\n]*\n)*)+)
  | (?P<cite>\b(?:PAGES)\.\d+(?:-\d+)?\b(?!\.\d))
  | (?P<name>\brg(?:[A-Z]|_[a-z])\w+)
  | (?P<symbol>(?<![\w/.-])(?:(?:WORDS)(?:_[A-Za-z]+,?[a-z]?)?\b|(?:WORDS|[A-Za-z])(?:_\w+(?:,\w)?|\^[+-]?\w+)(?![\w/.(])
       |<=|>=|<-(?=[ ])|\(\+\)))
""".replace("WORDS", WORDS), re.S | re.M | re.X)


class Site:
    """Where pages, files and names are on the site."""

    def __init__(self, pages, names):
        self.pages = set(pages)
        self.names = names  # of C: their role and header
        self.theory = sorted(Path(p).stem for p in pages if p.startswith("docs/theory/"))
        self.files = set()  # of the repository, that pages link to
        self.token = re.compile(TOKEN.pattern.replace("PAGES", "|".join(self.theory)), TOKEN.flags)

    @staticmethod
    def place(page):
        """Path of a page on the site, without its suffix."""
        page = page.removeprefix("docs/")
        return page.removesuffix(".md").replace("README", "readme")


def relative(target, page):
    return os.path.relpath(target, os.path.dirname(Site.place(page)) or ".")


def title_of(page):
    return re.search(r"^# (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.M).group(1)


def target_of(site, page, link):
    """What a relative link of a page leads to on the site."""
    path, _, anchor = link.partition("#")
    if not path:
        return link
    full = os.path.normpath(os.path.join(os.path.dirname(page), path))
    anchor = "#" + anchor if anchor else ""
    if full in site.pages:
        return relative(Site.place(full) + ".md", page) + anchor
    if full + "/README.md" in site.pages:
        return relative(Site.place(full + "/README.md") + ".md", page)
    if full == "docs/theory":
        return relative("sections/theory.md", page)
    header = re.fullmatch(r"include/rigor/(\w+)\.h", full)
    if header:
        return relative(f"reference/c/{header.group(1)}.rst", page)
    site.files.add(full)
    return relative(f"source/{full}.md", page)


def formula(text):
    """HTML of an equation in plain text: Greek letters, subscripts and exponents."""
    text = html.escape(text, quote=False)
    text = re.sub(rf"(?<![A-Za-z])({WORDS})(?![A-Za-z])", lambda m: GREEK[m.group(1)], text)
    text = re.sub(r"(?<=[\w\u0370-\u03ff~')])_([\w\u0370-\u03ff]+(?:,[\w\u0370-\u03ff]+)?)", r"<sub>\1</sub>", text)
    text = re.sub(r"\^(\([^()]*\)|[+-]?[\w/\u0370-\u03ff]+|[*+'])", r"<sup>\1</sup>", text)
    text = text.replace("(+)", "⊕").replace("&lt;=", "≤").replace("&gt;=", "≥").replace("&lt;-", "←")
    text = re.sub(r"(?<=[\w)])'(?!\w)", "′", text)
    return re.sub(r"(?<= )-(?= )", "−", text)


def lines_of(text):
    """Lines of an equation; one that was broken at the edge of the page goes on."""
    out, broken = [], False
    for line in text.rstrip("\n").split("\n"):
        if broken:
            out[-1] += " " + line.strip()
        else:
            out.append(line.strip())
        broken = len(line.rstrip()) > 80
    return out


def equations(block, page, cite):
    """Numbered equations; words behind four spaces are a remark at the right."""
    out = ['<div class="equations">']
    for number, text in re.findall(r"^ {4,}\((\d+)\)((?: [^\n]*\n)(?: {5,}(?!\(\d+\) )[^\n]*\n)*)", block, re.M):
        body = []
        for line in lines_of(text):
            parts = re.split(r" {4,}", line)
            remark = ""
            if len(parts) == 2 and re.match(r"[A-Za-z\[]", parts[1]) and not re.search(r"=", parts[1]) and parts[0][-1] not in ":;,":
                remark = html.escape(parts.pop())
            body.append(f'<span class="line"><span>{cite(formula("   ".join(parts)))}</span>'
                        f'<span class="remark">{remark}</span></span>')
        out.append(f'<div class="equation" id="eq-{page}-{number}"><span class="body">{"".join(body)}</span>'
                   f'<a class="number" href="#eq-{page}-{number}">{page}.{number}</a></div>')
    return "\n".join([*out, "</div>", "", ""])


def formulas(match):
    """An equation without a number; fences stay."""
    if match.group(0).startswith("```"):
        return match.group(0)
    lines = "".join(f'<span class="line"><span>{formula(line)}</span></span>' for line in lines_of(match.group(0)))
    return f'<div class="equations"><div class="equation"><span class="body">{lines}</span></div></div>\n'


def glossary(text):
    """'**term**: meaning' paragraphs become a glossary, whose terms are in the index."""
    def block(match):
        term, other, meaning = match.group(1), match.group(2) or "", match.group(3)
        names = [name.strip() for name in [term, *other.strip(" ()").split(",")] if name.strip()]
        return "\n".join(names) + "\n" + "\n".join("    " + line for line in meaning.strip().split("\n")) + "\n"
    entry = r"^\*\*([^*]+)\*\*( \([^)]*\))?: ((?:.+\n?)+)"
    return re.sub(rf"(?:{entry}\n*)+", lambda m: "```{glossary}\n"
                  + "\n".join(block(e) for e in re.finditer(entry, m.group(0), re.M)) + "```\n\n", text, flags=re.M)


PROGRAM = r"^```{}\n(?:(?!^```).*\n)*?^```\n"
OUTPUT = r"(?:\n*(?:It prints\n\n+)?^```text\n(?:(?!^```).*\n)*?^```\n)?"
IN_C = re.compile(PROGRAM.format("c") + OUTPUT, re.M)
IN_PYTHON = re.compile(r"^## In Python\n+(?P<program>" + PROGRAM.format("python") + OUTPUT + r")", re.M)


def side_by_side(text):
    """The first program in C and the same program under "In Python", with their output, as two tabs."""
    c, python = IN_C.search(text), IN_PYTHON.search(text)
    if c is None or python is None or python.start() < c.end():
        return text
    tabs = "".join(f"`````{{tab}} {name}\n{code.strip()}\n`````\n\n"
                   for name, code in (("C", c.group(0)), ("Python", python.group("program"))))
    return text[:c.start()] + tabs + text[c.end():python.start()] + text[python.end():]


def convert(site, page):
    """Source of a page for the site."""
    text = (ROOT / page).read_text(encoding="utf-8")
    theory = page.startswith(("docs/theory/", "docs/notebook/", "docs/book/"))
    stem = Path(page).stem

    cited = re.compile(rf"\b(?:{'|'.join(site.theory)})\.\d+(?:-\d+)?\b(?!\.\d)")

    def cite(match):
        name, _, number = match.group(0).partition(".")
        target = relative(f"theory/{name}.html", page) + f"#eq-{name}-{number.split('-')[0]}"
        return f'<a class="cite" href="{target}">{match.group(0)}</a>'

    def replace(match):
        kind, token = match.lastgroup, match.group(0)
        if kind in ("fence", "heading", "html"):
            return token
        if kind == "comment":
            return ""
        if kind in ("image", "link"):
            label, link = re.fullmatch(r"(!?\[.*\])\(([^)]*)\)", token, re.S).groups()
            if re.match(r"[a-z]+:", link):
                return token
            if kind == "image":
                path = os.path.normpath(os.path.join(os.path.dirname(page), link))
                return f"{label}({relative(path.removeprefix('docs/'), page)})"
            full = os.path.normpath(os.path.join(os.path.dirname(page), link))
            if label.strip("[]`").endswith(".md") and full in site.pages:
                label = f"[{title_of(full)}]"
            return f"{label}({target_of(site, page, link)})"
        if kind in ("code", "name"):
            name = token.strip("`").removesuffix("()")
            return f"{{c:{site.names[name]}}}`{name}`" if name in site.names else token
        if kind == "equation":
            return equations(token, stem, lambda text: cited.sub(cite, text)) if theory else token
        if kind == "cite":
            return cite(match)
        if kind == "symbol" and theory:
            return formula(token)
        return token

    if page.startswith("docs/book/"):
        text = re.sub(r"^```.*?^```$|(?:^ {4}\S[^\n]*\n)+", formulas, text, flags=re.S | re.M)
    text = side_by_side(site.token.sub(replace, text))
    return glossary(text) if stem == "glossary" else text
