"""Frozen problems are those that their checksums say, and as many as README.md says: check_problems.py ROOT"""
import hashlib
import os
import sys
import tarfile


def need(holds, *text):
    if not holds:
        sys.exit("check_problems: FAILED: " + " ".join(map(str, text)))


def main():
    folder = os.path.join(sys.argv[1], "bench", "problems")
    with open(os.path.join(folder, "SHA256SUMS"), encoding="utf-8") as file:
        sums = dict(reversed(line.split()) for line in file)
    single = {f"single/{name}" for name in os.listdir(os.path.join(folder, "single"))}
    need(set(sums) == single | {"collections.tar.xz"}, "not the files of SHA256SUMS")
    for name, expected in sums.items():
        with open(os.path.join(folder, name), "rb") as file:
            need(hashlib.sha256(file.read()).hexdigest() == expected, name, "was changed")
    with tarfile.open(os.path.join(folder, "collections.tar.xz")) as tar:
        names = tar.getnames()
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        need(f"| {len(names)} problems of stacks" in file.read(), "README.md does not say", len(names))


if __name__ == "__main__":
    main()
