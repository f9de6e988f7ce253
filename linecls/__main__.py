"""`python -m linecls` is `linecls`."""

from linecls.cli import main

if __name__ == "__main__":
    main(prog_name="linecls")
