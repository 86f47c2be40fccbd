"""Pages of reference: C from the headers (doxygen reads them), Python from its sources, the program from --help."""
import ast
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from contents import ROOT

ROLES = {"function": "func", "struct": "struct", "enum": "enum", "enumvalue": "enumerator", "typedef": "type",
         "define": "macro"}


def title(text, mark="="):
    return f"{text}\n{mark * len(text)}\n\n"


def indented(text, by="   "):
    return "".join(by + line + "\n" if line.strip() else "\n" for line in text.splitlines())


# ---- C


class Declarations:
    """What the public headers declare, in their order."""

    def __init__(self):
        with tempfile.TemporaryDirectory() as work:
            settings = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8") + f"""
                INPUT = include/rigor
                USE_MDFILE_AS_MAINPAGE =
                OUTPUT_DIRECTORY = {work}
                GENERATE_HTML = NO
                GENERATE_XML = YES
                XML_PROGRAMLISTING = NO
                WARN_AS_ERROR = NO
                WARNINGS = NO
            """
            subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True, capture_output=True)
            xml = Path(work) / "xml"
            self.headers = {}  # name: entries by line
            self.names = {}
            for path in sorted((ROOT / "include/rigor").glob("*.h")):
                tree = ET.parse(xml / f"{path.stem.replace('_', '__')}_8h.xml").getroot().find("compounddef")
                entries = [(self.line(m), m.get("kind"), m) for m in tree.findall("sectiondef/memberdef")]
                for inner in tree.findall("innerclass"):
                    compound = ET.parse(xml / f"{inner.get('refid')}.xml").getroot().find("compounddef")
                    entries.append((self.line(compound), "struct", compound))
                self.headers[path.stem] = sorted(entries, key=lambda e: e[0])
                for _, kind, element in entries:
                    self.learn(kind, element)

    @staticmethod
    def line(element):
        return int(element.find("location").get("line"))

    def learn(self, kind, element):
        name = element.findtext("compoundname") or element.findtext("name")
        if name and kind in ROLES and (kind != "typedef" or name not in self.names) and "::" not in name:
            self.names[name] = ROLES[kind]
        for value in element.findall("enumvalue"):
            self.names[value.findtext("name")] = "enumerator"

    def words(self, *elements):
        """Text of descriptions, names as references."""
        text = " ".join("".join(e.itertext()) for e in elements if e is not None)
        text = re.sub(r"\s+", " ", text).strip()
        text = re.sub(r"([\\*|`])", r"\\\1", text)
        return re.sub(r"\w+(\(\))?", lambda m: self.reference(m.group(0)), text)

    def reference(self, word):
        name = word.removesuffix("()")
        if name in self.names:
            return f":c:{self.names[name]}:`{name}`\\ "
        return word[:-1] + "\\_" if word.endswith("_") else word

    def about(self, element):
        return self.words(element.find("briefdescription"), element.find("detaileddescription"))

    def entry(self, kind, element):
        flat = lambda e, tag: re.sub(r"\s+", " ", "".join(e.find(tag).itertext())) if e.find(tag) is not None else ""
        name = element.findtext("compoundname") or element.findtext("name") or ""
        if kind == "function":
            kind_of = re.sub(r"\b(static|inline)\b ?", "", flat(element, "type"))
            return f".. c:function:: {kind_of} {name}{flat(element, 'argsstring')}", self.about(element)
        if kind == "define":
            arguments = [p.findtext("defname") for p in element.findall("param")]
            return f".. c:macro:: {name}{'(' + ', '.join(arguments) + ')' if arguments else ''}", self.about(element)
        if kind == "typedef":
            if self.names.get(name) != "type":
                return None
            kind_of = flat(element, "type")
            opaque = kind_of.startswith(("struct", "enum"))
            return (f".. c:type:: {name}" if opaque
                    else f".. c:type:: {kind_of} {name}{flat(element, 'argsstring')}"), self.about(element)
        if kind == "enum" and name and not name.startswith("@"):
            body = self.about(element) + "\n\n"
            for value in element.findall("enumvalue"):
                body += f".. c:enumerator:: {value.findtext('name')}\n\n" + indented(self.about(value)) + "\n"
            return f".. c:enum:: {name}", body
        if kind == "enum":
            return None
        if kind == "struct" and "::" not in name and "@" not in name:
            body = self.about(element) + "\n\n"
            for member in element.findall("sectiondef/memberdef"):
                if member.get("kind") == "variable" and "@" not in flat(member, "type"):
                    field = f"{flat(member, 'type')} {member.findtext('name')}{flat(member, 'argsstring')}"
                    body += f".. c:member:: {field}\n\n" + indented(self.about(member)) + "\n"
            return f".. c:struct:: {name}", body
        return None

    def page(self, header):
        path = ROOT / f"include/rigor/{header}.h"
        first = re.match(r"// (.*?)\n(?!//)", path.read_text(encoding="utf-8"), re.S)
        out = title(f"rigor/{header}.h")
        if first:
            out += self.words(ET.fromstring("<p/>"), _text(re.sub(r"\n// ?", " ", first.group(1)))) + "\n\n"
        for _, kind, element in self.headers[header]:
            made = self.entry(kind, element)
            if made:
                out += made[0] + "\n\n" + indented(made[1]) + "\n"
        return out


def _text(words):
    element = ET.Element("p")
    element.text = words
    return element


# ---- Python

MODULES = {"fclib": "FCLIB files", "convert": "values beside those of other libraries", "gym": "environments for learning",
           "jax": "JAX", "torch": "PyTorch", "view": "the viewer"}


def docstring(node):
    text = ast.get_docstring(node) or ""
    text = re.sub(r"([\\*|])", r"\\\1", text)
    text = re.sub(r"`([^`]+)`(\w?)", lambda m: f"``{m.group(1)}``" + ("\\ " + m.group(2) if m.group(2) else ""), text)
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        code = paragraph.startswith("    ")
        parts.append("::\n\n" + re.sub(r"\\([*|\\])", r"\1", paragraph) if code
                     else re.sub(r"(\w)_(?=\W|$)", r"\1\\_", re.sub(r"\n *", "\n", paragraph)))
    return "\n\n".join(parts)


def signature(node, method):
    arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): pass"))).body[0].args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    if method and arguments.args:
        arguments.args = arguments.args[1:]
    return "(" + ast.unparse(arguments) + ")"


def decorators(node):
    return {ast.unparse(d).split("(")[0].split(".")[-1] for d in node.decorator_list}


def python_function(node, prefix="", method=False):
    marks = decorators(node)
    if marks & {"setter", "overload"}:
        return ""
    if "property" in marks or "cached_property" in marks:
        head = f".. py:property:: {prefix}{node.name}"
    else:
        kind = "method" if method else "function"
        head = f".. py:{kind}:: {prefix}{node.name}{signature(node, method and 'staticmethod' not in marks)}"
        head += "".join(f"\n   :{m}:" for m in ("classmethod", "staticmethod") if m in marks)
    return head + "\n\n" + indented(docstring(node)) + "\n"


def python_class(node, prefix, lines):
    makers = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    bases = {ast.unparse(b) for b in node.bases}
    out = f".. py:class:: {prefix}{node.name}{signature(makers[0], True) if makers else ''}\n\n"
    body = docstring(node) + "\n\n"
    if any("Error" in b or "Exception" in b for b in bases):
        out = f".. py:exception:: {prefix}{node.name}\n\n"
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            remark = re.search(r"#: ?(.*)", lines[item.end_lineno - 1])
            kind = ast.unparse(item.annotation).strip("'\"")
            body += f".. py:attribute:: {item.target.id}\n   :type: {kind}\n\n"
            body += indented(re.sub(r"([\\*|`])", r"\\\1", remark.group(1)) if remark else "") + "\n"
        elif isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            body += python_function(item, method=True)
    return out + indented(body) + "\n"


def python_pages():
    """Names of `rigor.__all__`, by the module that defines them, and the public modules."""
    folder = ROOT / "python/rigor"
    start = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    public = next(ast.literal_eval(n.value) for n in start.body
                  if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__")
    out = {"index": title("Python") + ":doc:`The guide </python>` explains; these are the calls.\n\n"
           ".. toctree::\n   :hidden:\n\n"}
    listed = set()
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree, lines = ast.parse(text), text.splitlines()
        own = path.stem in MODULES
        prefix = f"rigor.{path.stem}." if own else "rigor."
        body = ""
        for node in tree.body:
            if isinstance(node, ast.Assign) and not own and ast.unparse(node.targets[0]) in public and path.stem != "__init__":
                listed.add(ast.unparse(node.targets[0]))
                body += f".. py:data:: rigor.{ast.unparse(node.targets[0])}\n\n   ``{ast.unparse(node.value)}``\n\n"
            name = getattr(node, "name", "_")
            if name.startswith("_") or (not own and name not in public):
                continue
            if isinstance(node, ast.ClassDef):
                body += python_class(node, prefix, lines)
            elif isinstance(node, ast.FunctionDef):
                body += python_function(node, prefix)
            listed.add(name)
        if not body:
            continue
        stem = path.stem.strip("_")
        about = docstring(tree).partition("\n\n")[0]
        heading = f"rigor.{stem}" if own else {"core": "Errors and values"}.get(stem, stem.capitalize())
        out[stem] = title(heading) + about + "\n\n" + body
        out["index"] += f"   {stem}\n"
    out["index"] += "\n"
    for stem in [k for k in out if k != "index"]:
        out["index"] += f"- :doc:`{stem}`: {out[stem].split(chr(10))[3]}\n"
    missing = [n for n in public if n not in listed and not n.isupper() and n not in MODULES]
    return out, missing


# ---- the program


def option_line(line):
    match = re.match(r"  (--?[a-z][\w-]*(?:, --[a-z-]+)?)( ?[^ ]*) +(\S.*)$", line)
    return match.groups() if match else None


def command_page(program, verb):
    done = subprocess.run([program, *verb, "--help"], capture_output=True, text=True, check=False, cwd=ROOT)
    said = done.stdout or done.stderr  # small programs of bench answer anything with their usage
    name = " ".join(["rigor", *verb])
    head = said.split("\n  --")[0].split("\n  -")[0].rstrip()
    out = title(name) + f".. program:: {name}\n\n::\n\n" + indented(head) + "\n"
    for line in said.splitlines():
        found = option_line(line)
        if found:
            words = re.sub(r"([\\*|`])", r"\\\1", found[2])
            out += f".. option:: {found[0]}{' ' + found[1].strip() if found[1].strip() else ''}\n\n   {words}\n\n"
    return out, said


def command_pages(program):
    first, said = command_page(program, [])
    verbs = [[v] for v in re.findall(r"^  ([a-z]+)  ", said, re.M)]
    inner = re.findall(r"^  ([a-z]+)  ", command_page(program, ["bench"])[1], re.M)
    out = {"index": title("The program") + "::\n\n" + indented(said) + "\n.. toctree::\n   :maxdepth: 1\n\n"}
    for verb in verbs + [["bench", v] for v in inner]:
        stem = "-".join(verb)
        out[stem] = command_page(program, verb)[0]
        out["index"] += f"   {stem}\n"
    return out
