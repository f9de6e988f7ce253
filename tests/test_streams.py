"""Writing to the standard streams, whatever has become of them."""

from __future__ import annotations

import io
import os
import threading
import time
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


class Interrupted(io.RawIOBase):
    """A descriptor without a buffer whose every write a signal interrupts after some bytes."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.taken += bytes(data[:8192])
        return min(len(data), 8192)


def test_a_write_that_takes_a_part_is_gone_on_with() -> None:
    stream = Interrupted()
    data = os.urandom(20_000)
    streams.write_all(stream, data)  # type: ignore[arg-type]
    assert stream.taken == data


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
@pytest.mark.parametrize("buffering", [0, -1])
def test_a_pipe_that_does_not_block(buffering: int) -> None:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    data, got = os.urandom(300_000), []

    def read() -> None:
        time.sleep(0.05)  # the pipe is full by then
        with open(source, "rb") as reader:
            got.append(reader.read())

    thread = threading.Thread(target=read)
    thread.start()
    with open(sink, "wb", buffering=buffering) as stream:
        streams.write_all(stream, data)
    thread.join(10)
    assert got == [data]
