"""`linecls expand`: the original lines that a marker stands for."""

from __future__ import annotations

import click

from linecls.errors import StoreError
from linecls.streams import write_stdout

_HELP = """Print the lines that a marker line says were omitted, byte for byte.

REFERENCE is what stands in the marker: ID for the whole output, ID:A-B for its lines A to B, ID:A for one.

\b
Examples:
  linecls expand 3f9a2c1b:13-64
  linecls expand 3f9a2c1b | grep -n refused

Originals are kept for 7 days in a directory of your own: LINECLS_STORE, or linecls/outputs in the cache directory.

\b
Exit status:
  0    done
  2    not a reference, or no such output or lines; one line on stderr says which
"""


@click.command(
    "expand",
    help=_HELP,
    short_help="Print what a marker line says was omitted.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("reference")
def command(reference: str) -> None:
    """The click command; see `_HELP`."""
    from linecls.store import Store, parse_reference

    wanted = parse_reference(reference)
    store = Store.of_user()
    if store is None:
        raise StoreError("the store is off (LINECLS_STORE is empty), so there is nothing to expand")
    write_stdout(store.expand(wanted))
