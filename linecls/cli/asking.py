"""Which lines of an output answer, for the commands that agents start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from linecls.agent import Profile
    from linecls.spans import Span

_QUERY_LIMIT = 2000  # characters: more than any model reads of a query


def ask(query: str, raw: bytes, profile: Profile, *, daemon: bool | None = None, **loading: Any) -> list[Span]:
    """The lines of an output that answer, decoded as the profile wishes; model, device and threads as `prune` has.

    A model without the profile's operating point decodes with its default. daemon: as for `linecls prune`.
    Raises whatever loading and running the model raise.
    """
    from linecls.cli.prune import answer

    for point in (profile.operating_point, None):
        try:
            return answer(query[:_QUERY_LIMIT], raw, {"operating_point": point}, daemon, **loading)[1]
        except click.BadParameter:
            if point is None:
                raise
    raise AssertionError("the default operating point is always there")
