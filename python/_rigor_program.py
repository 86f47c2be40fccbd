"""The program rigor, which lies in the package: `rigor ...` and `python -m rigor ...`."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).resolve().parent / "rigor" / "program" / "rigor"
    if not program.exists():
        sys.exit(f"rigor: {program} is not there; the package was built without it")
    try:
        os.execv(program, ["rigor", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rigor: {program}: {error.strerror}")


if __name__ == "__main__":
    main()
