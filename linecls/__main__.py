"""`python -m linecls` is `linecls`."""

from linecls.launch import main

if __name__ == "__main__":
    main(prog_name="linecls")
