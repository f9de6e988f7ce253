"""Writing to the standard streams, whatever has become of them."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from linecls import streams


def test_bytes_and_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    streams.write_stdout(b"\xff\r\nno end")
    streams.warn("two\n  lines  of é")
    assert capfdbinary.readouterr() == (b"\xff\r\nno end", "linecls: two lines of é\n".encode())


def test_closed_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(streams.OutputError, match="standard output is closed"):
        streams.write_stdout(b"x")
    for stderr in (None, io.StringIO()):
        if stderr is not None:
            stderr.close()
        monkeypatch.setattr("sys.stderr", stderr)
        streams.warn("nobody hears this")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    full = io.TextIOWrapper(io.FileIO(os.open("/dev/full", os.O_WRONLY), "w"), write_through=True)
    monkeypatch.setattr("sys.stdout", full)
    with pytest.raises(streams.OutputError, match="No space left on device; it is incomplete; the log has it"):
        streams.write_stdout(b"x" * 100_000, kept_elsewhere="the log has it")
    full.write("it goes nowhere now")  # nothing is left that could complain at the end
    full.close()
