"""What a rule is, and the lines as rules see them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linecls.observation import scoring_text

# A longer line is judged by its first and its last characters: 10 MB of minified text must cost nothing.
_HEAD, _TAIL = 2000, 500

# What logs and wrappers put before a line, each piece with the one space that ends it, so that the indentation of
# the line itself stays.
_PREFIX = re.compile(
    r"(?:[A-Za-z][\w.@-]{0,60} {1,20}\| "  # docker compose: `web_1  | `
    r"|[^\t]{1,80}\t[^\t]{1,80}\t\ufeff?(?=\d{4}-)"  # a CI job and its step
    r"|\#\d{1,4} \d{1,5}\.\d{1,4} |\d{1,5}\.\d{3} (?=\S)"  # docker build
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?\]? (?:\d\d[OE]\+? )?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./()-]{1,60}(?:\[\d{1,9}\])?: "  # syslog
    r"|\[pod/[\w/.@-]{1,120}\] "
    r"|\s{0,8}\[(?!error|fatal|crit|emerg|panic|alert)[a-z][\w./-]{0,40}\] "  # a step, a thread, an Ant task
    r"|[│╷╵] ?){1,5}"  # Terraform's box
)
_STAMPED = re.compile(
    r"\W{0,3}(?:[A-Z], \[)?(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d[:/]\d\d[:/]\d\d[ .,\]]|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d"
    r"|\d{1,9}\.\d{3,6}[\]:]? )"
)


@dataclass(frozen=True)
class Rule:
    """How a failing line looks.

    keywords: lower case; a line that holds none of them is never looked at.
    pattern: searched in the line without terminal escapes, terminator and log prefix. Every repetition is bounded
        or cannot overlap with its neighbour: time is linear in the line.
    block: from the index of a hit to the 0-based half-open range of lines that belong to it (a traceback, a
        compiler's snippet). It looks back over a bounded number of lines only.
    stamped: only lines of a log, which begin with a time; the pattern then sees the prefix too.
    """

    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    block: Callable[[Lines, int], tuple[int, int]] | None = None
    stamped: bool = False

    def hits(self, lines: Lines, index: int) -> bool:
        """Whether the line fails by this rule."""
        if not self.stamped:
            return self.pattern.search(lines.body(index)) is not None
        text = lines.text(index)
        return _STAMPED.match(text) is not None and self.pattern.search(text) is not None


class Lines:
    """The lines of an observation as rules see them: short, clean, and found by keyword quickly."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._texts = [_short(line) for line in lines]
        self._bodies: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, index: int) -> str:
        """A line with its log prefix."""
        return self._texts[index]

    def body(self, index: int) -> str:
        """A line without log prefix; its own indentation stays."""
        if index not in self._bodies:
            text = self._texts[index]
            match = _PREFIX.match(text)
            self._bodies[index] = text[match.end() :] if match else text
        return self._bodies[index]

    def indent(self, index: int) -> int:
        """Leading blanks of a line's body; a tab counts as one. A blank line has -1."""
        body = self.body(index)
        stripped = body.lstrip()
        return len(body) - len(stripped) if stripped else -1

    def with_keywords(self, keywords: Iterable[str]) -> dict[str, list[int]]:
        """For each keyword the indices of the lines that hold it, in any ASCII case, ascending."""
        data = "\n".join(self._texts).encode("utf-8", "surrogatepass").lower()  # bytes: ASCII only, same length
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).tolist()
        ends.append(len(data))
        return {word: _lines_with(word.encode(), data, ends) for word in keywords}

    @staticmethod
    def candidates(hits: dict[str, list[int]], keywords: Collection[str]) -> list[int]:
        """Indices of the lines that hold any of the keywords, ascending."""
        found = [hits[word] for word in keywords if hits[word]]
        return found[0] if len(found) == 1 else sorted(set().union(*found))


def _lines_with(word: bytes, data: bytes, ends: list[int]) -> list[int]:
    """Indices of the lines that hold the word; `ends` has the offset behind each line, ascending."""
    found = []
    place = data.find(word)
    while place >= 0:
        index = bisect_left(ends, place)
        found.append(index)
        place = data.find(word, ends[index])
    return found


def _short(line: str) -> str:
    if len(line) > _HEAD + _TAIL:
        line = f"{line[:_HEAD]} {line[-_TAIL:]}"
    return scoring_text(line).replace("\n", " ")


_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


def quoted_changes(view: Lines) -> NDArray[np.bool_]:
    """Mask [L] of the lines inside the hunks of unified diffs, their heads included.

    A hunk's head says how many old and new lines follow; the count ends where a line could not be one of them.
    """
    mask = np.zeros(len(view), dtype=bool)
    stop = 0
    for head in view.with_keywords(("@@ -",))["@@ -"]:
        if head < stop or (match := _HUNK.match(view.body(head).lstrip())) is None:
            continue
        margin = max(view.indent(head), 0)
        old, new = (int(count) if count else 1 for count in match.groups())
        stop = head + 1
        while stop < len(view) and (old > 0 or new > 0):
            sign = view.body(stop)[margin : margin + 1]
            if sign not in ("+", "-", " ", "", "\\"):
                break
            old -= sign in ("-", " ", "")
            new -= sign in ("+", " ", "")
            stop += 1
        mask[head:stop] = True
    return mask


# Blocks that several ecosystems share


def following(keep: Callable[[Lines, int, int], bool], limit: int) -> Callable[[Lines, int], tuple[int, int]]:
    """A block of the hit and of up to `limit` lines after it, as long as keep(lines, hit, index) holds."""

    def block(lines: Lines, hit: int) -> tuple[int, int]:
        stop = hit + 1
        while stop < len(lines) and stop - hit <= limit and keep(lines, hit, stop):
            stop += 1
        return hit, stop

    return block


def deeper(lines: Lines, hit: int, index: int) -> bool:
    """Whether a line is indented more than the hit."""
    return lines.indent(index) > lines.indent(hit)


def not_blank(lines: Lines, hit: int, index: int) -> bool:
    """Whether a line has any text."""
    return lines.indent(index) >= 0


def matching(pattern: str) -> Callable[[Lines, int, int], bool]:
    """Whether a line starts with the pattern."""
    compiled = re.compile(pattern)
    return lambda lines, hit, index: compiled.match(lines.body(index)) is not None


_SNIPPET = re.compile(r"\s*(?:>?\s{0,4}\d{0,7} ?[|│┃]|-->|[╭╰]|= ?(?:note|help)|(?:note|help): |[·‾┬─])")
_CARET = re.compile(r"(?:\[\w{1,10}\])?\s*(?:\d{0,7} ?[|│] ?)?\s*[\^~]+(?:$|\s)")
_DETAIL = re.compile(r"\s+(?:symbol|location|required|found|reason) {0,3}: ")
_SNIPPET_LIMIT = 80


def diagnostic(lines: Lines, hit: int) -> tuple[int, int]:
    """A compiler's message with what belongs to it.

    That is: lines indented deeper than the message, lines of a snippet's form, a code line above a line of
    carets (also behind one blank line), javac's details.
    """
    stop = hit + 1
    while stop < len(lines) and stop - hit < _SNIPPET_LIMIT:
        body = lines.body(stop)
        blank = not body.strip()
        after = lines.body(stop + 1) if stop + 1 < len(lines) else ""
        if not blank and (
            _SNIPPET.match(body) or _CARET.match(body) or _DETAIL.match(body) or deeper(lines, hit, stop)
        ):
            stop += 1
        elif not blank and _CARET.match(after):
            stop += 2
        elif blank and stop + 2 < len(lines) and re.match(r"\d{1,7}\s", after) and _CARET.match(lines.body(stop + 2)):
            stop += 3
        else:
            break
    return hit, stop
