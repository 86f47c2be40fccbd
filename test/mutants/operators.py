"""Places of a C file where a small fault can be put, and the faults: sites(text) -> [Site].

Works on tokens of our own style (clang-format), not on a syntax tree. Faults are inside function bodies alone."""
import random
import re
from typing import NamedTuple

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
TYPES = {"const", "static", "double", "int", "char", "bool", "float", "void", "unsigned", "struct", "enum", "long",
         "size_t", "FILE"}
WORDS = TYPES | {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto",
                 "sizeof", "typedef"}
COMPARISONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
SUMS = {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
OPERATORS = ("comparison", "arithmetic", "constant", "condition", "statement", "return")


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Site(NamedTuple):
    operator: str
    start: int
    end: int
    texts: tuple  # what may stand there instead


def tokens(text):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def pairs(found):
    """Index of the partner of every bracket."""
    partner, open_ = {}, []
    for i, token in enumerate(found):
        if token.kind == "sign" and token.text in "([{":
            open_.append(i)
        elif token.kind == "sign" and token.text in ")]}" and open_:
            partner[i] = open_.pop()
            partner[partner[i]] = i
    return partner


def bodies(found, partner):
    """(first token, end, return type) of every function body."""
    i, begin = 0, 0
    while i < len(found):
        token = found[i]
        if token.text == "{" and token.kind == "sign":
            end = partner[i]
            if found[i - 1].text == ")":
                name = partner[i - 1] - 1
                kind = [t.text for t in found[begin:name] if t.text not in ("static", "inline", "RG_API")]
                yield i + 1, end, " ".join(kind)
                begin = end + 1
            i = end
        elif token.text == ";":
            begin = i + 1
        i += 1


def is_block(found, partner, i):
    """Whether the brace at i holds statements, not an initializer."""
    before = found[i - 1]
    if before.text == ")":
        head = found[partner[i - 1] - 1].text
        return head in ("if", "for", "while", "switch")
    return before.text in ("{", "}", ";", "else", "do", ":")


def statements(found, partner, first, end):
    """(first token, semicolon) of every simple statement of a body."""
    i = begin = first
    while i < end:
        text = found[i].text
        if text == "{" and found[i].kind == "sign":
            if is_block(found, partner, i):
                begin = i + 1
            else:
                i = partner[i]
        elif text == "}":
            begin = i + 1
        elif text == "(":
            head = found[i - 1].text
            i = partner[i]
            if head in ("if", "for", "while", "switch"):
                begin = i + 1
        elif text in ("else", "do") or text == ":" and found[begin].text in ("case", "default"):
            begin = i + 1
        elif text == ";":
            if i > begin:
                yield begin, i
            begin = i + 1
        i += 1


def is_declaration(found, begin):
    first, second = found[begin], found[begin + 1]
    pointer = second.text == "*" and second.start == first.end
    return first.text in TYPES or first.kind == "name" and (second.kind == "name" or pointer)


def is_binary(found, i, text):
    """Between two operands: a blank on either side is our style, T* and -x have none."""
    token = found[i]
    operand = found[i - 1].kind in ("name", "number") and found[i - 1].text not in WORDS or found[i - 1].text in (")", "]")
    return operand and text[token.start - 1].isspace() and text[token.end].isspace()


def constants(token):
    digits = token.text.rstrip("uUlL") if "." not in token.text else token.text
    if digits.isdigit():
        value, suffix = int(digits), token.text[len(digits):]
        return (f"{value + 1}{suffix}",) + ((f"{value - 1}{suffix}",) if value > 0 else ())
    return (f"(2 * {token.text})", "0.0") if not digits.lower().startswith("0x") else (f"({token.text} + 1)",)


def sites(text):
    found = tokens(text)
    partner = pairs(found)
    answer = []
    for first, end, kind in bodies(found, partner):
        sizes = set()  # tokens of array bounds, where a constant changes nothing that is seen
        for begin, stop in statements(found, partner, first, end):
            head = found[begin]
            if is_declaration(found, begin):
                equals = next((k for k in range(begin, stop) if found[k].text == "="), stop)
                sizes.update(range(begin, equals))
                continue
            returned = "return;" if kind == "void" else f"return ({kind}){{0}};"
            answer.append(Site("return", head.start, head.start, (returned + " ",)))
            if head.text not in WORDS and not (head.text == "(" and found[begin + 1].text == "void"):
                answer.append(Site("statement", head.start, found[stop].end, (";",)))
        for i in range(first, end):
            token = found[i]
            if token.kind == "number" and i not in sizes:
                answer.append(Site("constant", token.start, token.end, constants(token)))
            elif token.kind == "sign" and token.text in COMPARISONS:
                answer.append(Site("comparison", token.start, token.end, tuple(COMPARISONS[token.text])))
            elif token.kind == "sign" and token.text in SUMS and is_binary(found, i, text):
                answer.append(Site("arithmetic", token.start, token.end, (SUMS[token.text],)))
            elif token.kind == "sign" and token.text in ("&&", "||"):
                answer.append(Site("condition", token.start, token.end, ("||" if token.text == "&&" else "&&",)))
            elif token.text == "if":
                inside = text[found[i + 1].end:found[partner[i + 1]].start]
                answer.append(Site("condition", found[i + 1].start, found[partner[i + 1]].end, (f"(!({inside}))",)))
    return answer


def sample(files, seed, count):
    """Faults at random places of files {path: text}: first an operator, then one of its places anywhere."""
    generator = random.Random(seed)
    places = {operator: [] for operator in OPERATORS}
    for path in sorted(files):
        for site in sites(files[path]):
            places[site.operator].append((path, site))
    for _ in range(count):
        path, site = generator.choice(places[generator.choice(OPERATORS)])
        yield path, site, generator.choice(site.texts)
