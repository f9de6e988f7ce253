r"""Byte-exact lines of an observation.

A line ends with `\n` and with nothing else: a `\r`, a form feed or U+2028 belongs to its line. The final
newline ends the last line and starts no further one, so `"a\nb\n"` has two lines and `""` has none.
Bytes that are no UTF-8 are carried as surrogate escapes and come back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import AnyStr

from linecls.spans import Span, merge

# Terminal escapes (CSI, OSC, two-byte) and control characters say nothing about what a line means.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
# So much is decoded and split at once, and the line after it: one character beyond Latin-1 makes each of a str's
# characters two or four bytes wide, and a log of 100 MB must not be 400 MB for that.
_BLOCK = 1 << 20
_PROBE = 1 << 16


@dataclass(frozen=True, slots=True)
class Observation:
    """The raw output of one tool call, split into verbatim lines.

    lines: each line with its terminator, so that `"".join(lines)` is the input again.
    is_bytes: whether the input was bytes; `select` answers in the same type.
    """

    lines: list[str]
    is_bytes: bool = field(default=False)

    @classmethod
    def of(cls, raw: str | bytes) -> Observation:
        """Split raw output. Accepts any str or bytes; never fails on content."""
        if isinstance(raw, (bytes, bytearray, memoryview)):
            lines: list[str] = []
            for block in _blocks(bytes(raw), b"\n"):
                lines += split_lines(block.decode("utf-8", "surrogateescape"))
            return cls(lines, True)
        if not isinstance(raw, str):
            raise TypeError(f"an observation is str or bytes, not {type(raw).__name__}")
        return cls(split_lines(raw), False)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def raw(self) -> str | bytes:
        """The input, unchanged."""
        return self._typed("".join(self.lines))

    def select(self, spans: Iterable[Span | tuple[int, int]]) -> str | bytes:
        """The lines of the spans, byte for byte, in the type of the input."""
        return self._typed("".join("".join(self.lines[s.start_line - 1 : s.end_line]) for s in merge(spans)))

    def _typed(self, text: str) -> str | bytes:
        return text.encode("utf-8", "surrogateescape") if self.is_bytes else text


def split_lines(text: str) -> list[str]:
    r"""Split on `\n` only, keeping terminators: `"".join(split_lines(t)) == t` for every str."""
    lines: list[str] = []
    for block in _blocks(text, "\n"):
        parts = block.split("\n")
        last = parts.pop()
        lines += [part + "\n" for part in parts]
        if last:
            lines.append(last)
    return lines


def _blocks(raw: AnyStr, newline: AnyStr) -> Iterator[AnyStr]:
    """Cut behind the first newline after each `_BLOCK`; the parts make up the whole."""
    start = 0
    while start < len(raw):
        stop = raw.find(newline, start + _BLOCK) + 1 or len(raw)
        yield raw[start:stop]
        start = stop


def scoring_text(line: str) -> str:
    """What the model reads of a line: no terminator, no terminal escapes, controls as spaces.

    A carriage return inside a line (a progress bar) is a space here; spaces at the end stay. Never used for
    output.
    """
    line = line.rstrip("\r\n")
    if line.isascii() and line.isprintable():  # nearly every line
        return line
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    return _CONTROLS.sub(" ", line)


def is_blank(query: str) -> bool:
    """Whether a query asks nothing: it holds white space and controls alone. Nobody prunes for one."""
    return not _CONTROLS.sub(" ", query).strip()


def is_text(raw: bytes) -> bool:
    """Whether an output is text: no NUL byte in its first 64 KiB, and nearly all of them UTF-8."""
    probe = raw[:_PROBE]
    if b"\0" in probe:
        return False
    odd = sum("\udc80" <= character <= "\udcff" for character in probe.decode("utf-8", "surrogateescape"))
    return odd * 10 <= len(probe)
