#!/usr/bin/env python3
"""How hard pages are to read: test/docs/readability.py [--git REVISION] [PAGE...], from the root of the repository.

Without pages: README, the start page, tutorials, how-tos and the book. Code, tables, headings and links' targets do not
count. For each page and for all: words, words per sentence, share of sentences above 25 words, Flesch's reading ease
(206.8 - 1.015 words per sentence - 84.6 syllables per word: 60 is plain, 30 is hard), and per 1000 words the nouns that
are clauses ("what moves", "where it is") and private verbs (ask, tell, wait, yield, brace, believe).
"""
import re
import subprocess
import sys
from pathlib import Path

CLAUSE = re.compile(r"(?:^|[.:;,] |\b(?:of|by|from|with|for|to|in|on|and|as|than|is|are|says?) )(?:what|where|whether) \w+", re.M | re.I)
PRIVATE = re.compile(r"\b(?:ask(?:s|ed|ing)?|tell(?:s|ing)?|told|waits?|waiting|yield(?:s|ed|ing)?|brace[sd]?|believe[sd]?)\b", re.I)


def prose(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!-- quote .*?<!-- end quote -->|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^(?:\||#| {4,}\S|!\[).*$", "", text, flags=re.M)
    text = re.sub(r"^(?:- |\d+\. |> )", "\n", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "code", text)


def syllables(word):
    groups = re.findall(r"[aeiouy]+", word.lower())
    silent = word.lower().endswith("e") and not word.lower().endswith(("le", "ee"))
    return max(1, len(groups) - silent)


def sentences(text):
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z\"'*(\[])|(?<=[.!?:])\s*$", " ".join(paragraph.split())):
            words = re.findall(r"[A-Za-z][A-Za-z'-]*", sentence)
            if len(words) > 1:
                yield words


def measure(text):
    text = prose(text)
    found = list(sentences(text))
    words = [w for s in found for w in s]
    return {"sentences": len(found), "words": len(words), "long": sum(len(s) > 25 for s in found),
            "syllables": sum(map(syllables, words)), "clauses": len(CLAUSE.findall(text)),
            "private": len(PRIVATE.findall(text))}


def line(name, m):
    n, w = max(m["sentences"], 1), max(m["words"], 1)
    ease = 206.8 - 1.015 * w / n - 84.6 * m["syllables"] / w
    return (f"| {name} | {m['words']} | {w / n:.1f} | {100 * m['long'] / n:.0f} % | {ease:.0f} | {1000 * m['clauses'] / w:.1f} | "
            f"{1000 * m['private'] / w:.1f} |")


def main(arguments):
    revision = None
    if arguments[:1] == ["--git"]:
        revision, arguments = arguments[1], arguments[2:]

    def read(page):
        if revision is None:
            return Path(page).read_text(encoding="utf-8")
        return subprocess.run(["git", "show", f"{revision}:{page}"], capture_output=True, text=True, check=True).stdout

    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", revision or "HEAD"], capture_output=True, text=True,
                            check=True).stdout.split()
    pages = arguments or [p for p in listed if re.fullmatch(
        r"README\.md|docs/(?:start|overview|hello|faq|viewer|python|limits|scale|which-engine)\.md|docs/(?:howto|book|from)/.*\.md", p)]
    print("| page | words | words per sentence | above 25 | reading ease | clauses as nouns | private verbs |\n" + "|---" * 7 + "|")
    total = {}
    for page in pages:
        m = measure(read(page))
        print(line(page, m))
        total = {k: total.get(k, 0) + v for k, v in m.items()}
    print(line("all", total))


main(sys.argv[1:])
