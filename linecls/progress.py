"""How far the pruning of a long input is, and other long work, on standard error."""

from __future__ import annotations

import os
import sys
import time

from linecls.streams import warn, write_stderr

NOTE_SECONDS = 30.0  # between two lines about a long run where stderr is no terminal

HINT = "--max-bytes lets a longer input through unpruned"

_BAR_AFTER = 2.0  # seconds
_NOTE_AFTER = 5.0
_LONG = 20.0  # seconds to go of which a terminal, too, hears how to avoid them
_REDRAW = 0.5
_CELLS = 20


class Progress:
    """A bar on a terminal, and one line elsewhere, when it takes long enough that somebody wonders."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._next = self._begun + (_BAR_AFTER if self._is_terminal else _NOTE_AFTER)
        self._width = 0
        self._has_noted = False

    def show(self, done: int, total: int) -> None:
        """So many lines of the total are done."""
        now = time.monotonic()
        if now < self._next or not 0 < done < total:
            return
        to_go = (now - self._begun) * (total - done) / done
        left = clock(to_go)
        if not self._has_noted and (to_go >= _LONG or not self._is_terminal):
            self.clear()
            warn(f"note: {done:,} of {total:,} lines are read, about {left} to go; {HINT}")
            self._has_noted = True
        if not self._is_terminal:
            self._next = float("inf")
            return
        filled = _CELLS * done // total
        bar = "#" * filled + "-" * (_CELLS - filled)
        text = f"linecls: [{bar}] {done / total:.0%}, {done:,} of {total:,} lines, {left} left"
        text = text[: _columns() - 1]  # a line that wraps could not be written over
        write_stderr("\r" + text.ljust(self._width))
        self._width = len(text)
        self._next = now + _REDRAW

    def clear(self) -> None:
        """Take the bar away."""
        if self._width:
            write_stderr("\r" + " " * self._width + "\r")
            self._width = 0


class Reminder:
    """Tells when a line about a long run is due: half a minute after the one before, and first after the start."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether it is; then the next one is due half a minute from now."""
        now = time.monotonic()
        if now - self._last < NOTE_SECONDS:
            return False
        self._last = now
        return True


class Count:
    """So many of a total are done: a line now and then, for long work where stderr is no terminal."""

    def __init__(self, total: int, unit: str) -> None:
        self._total, self._unit = total, unit
        self._done = 0
        self._begun = time.monotonic()
        self._reminder = Reminder()

    def advance(self, count: int = 1, label: str = "") -> None:
        """So many more are done, of the work that the label names."""
        self._done += count
        if self._reminder.is_due() and 0 < self._done < self._total:
            left = (time.monotonic() - self._begun) * (self._total - self._done) / self._done
            head = f"{label}: " if label else ""
            warn(f"{head}{self._done:,} of {self._total:,} {self._unit}, about {clock(left)} to go")


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
