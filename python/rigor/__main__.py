"""`python -m rigor ...` is the program `rigor ...`."""

from _rigor_program import main

main()
