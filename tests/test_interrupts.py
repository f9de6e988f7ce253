"""No byte of an input is lost to a signal, whenever it comes."""

from __future__ import annotations

import io
import os
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from linecls import interrupts
from linecls.interrupts import Interrupted, Interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def handlers():
    """The signals as a process in the foreground has them, whatever the test run has inherited."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Pipe:
    """A pipe into which a thread writes numbered lines until it is told to end; `written` has all of them."""

    def __enter__(self):
        self.source, self.sink = os.pipe()
        self.stream = open(self.source, "rb", buffering=0)
        self.written = b""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()
        return self

    def _write(self):
        number = 0
        with suppress(BrokenPipeError):  # a test that reads no more
            while not self._ends.is_set():
                piece = b"".join(b"%d\n" % n for n in range(number, number + 50))
                os.write(self.sink, piece)  # less than a pipe takes at once: whole or waiting
                self.written += piece
                number += 50
                time.sleep(0.0001)
        os.close(self.sink)

    def end(self):
        """Let it end, some time from now."""
        self._ends.set()

    def rest(self):
        """What is left in the pipe after its end."""
        self.end()
        return self.stream.read()

    def __exit__(self, *_):
        self._ends.set()
        self.stream.close()
        self._thread.join()


def later(seconds, number):
    return threading.Timer(seconds, os.kill, (os.getpid(), number))


@contextmanager
def again_and_again(seconds, number):
    """Send a signal so many seconds from now and then every few milliseconds: two at once would count as one."""
    over = threading.Event()
    before = signal.signal(number, lambda *_: None)  # the last ones may come when nobody waits for them any more

    def send():
        over.wait(seconds)
        while not over.is_set():
            os.kill(os.getpid(), number)
            over.wait(0.005)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(number, before)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_read_and_what_is_left_are_all_that_was_written(seed):
    chance = random.Random(seed)
    number = chance.choice(NUMBERS)
    with Pipe() as pipe:
        signals = Interrupts()

        def read():
            with again_and_again(chance.uniform(0, 0.05), number), signals:
                signals.read(pipe.stream)

        with pytest.raises(Interrupted) as interrupt:
            read()
        assert interrupt.value.status == 128 + number
        assert signals.raw + pipe.rest() == pipe.written


@pytest.mark.parametrize("seed", range(12))
def test_what_was_handed_on_and_what_is_left_are_all_that_was_written(seed):
    chance = random.Random(seed)
    given: list[bytes] = []
    with Pipe() as pipe:
        signals = Interrupts()

        def hand_on():
            with signals:
                assert len(signals.read(pipe.stream, most=100)) > 100
                later(chance.uniform(0.005, 0.05), signal.SIGTERM).start()
                signals.pass_on(pipe.stream, given.append)

        with pytest.raises(Interrupted):
            hand_on()
        assert b"".join(given) + signals.raw + pipe.rest() == pipe.written


@pytest.mark.parametrize("seed", range(6))
def test_the_first_interrupt_waits_for_what_the_other_side_still_writes(seed):
    chance = random.Random(seed)
    with Pipe() as pipe:
        signals = Interrupts(until_read=True)

        def read():
            with signals:
                interrupted = chance.uniform(0, 0.05)
                later(interrupted, signal.SIGINT).start()
                threading.Timer(interrupted + 0.1, pipe.end).start()
                signals.read(pipe.stream)

        with pytest.raises(Interrupted) as interrupt:
            read()
        assert interrupt.value.status == 130
        assert signals.raw == pipe.written


def test_the_first_interrupt_waits_while_a_pipe_is_handed_on():
    given: list[bytes] = []
    with Pipe() as pipe:
        signals = Interrupts()

        def hand_on():
            with signals:
                signals.read(pipe.stream, most=100)
                os.kill(os.getpid(), signal.SIGINT)  # between the two
                threading.Timer(0.1, pipe.end).start()
                signals.pass_on(pipe.stream, given.append)

        with pytest.raises(Interrupted) as interrupt:
            hand_on()
        assert interrupt.value.status == 130
        assert b"".join(given) == pipe.written


def test_another_signal_ends_it_while_an_interrupt_waits():
    with Pipe() as pipe:
        signals = Interrupts(until_read=True)

        def read():
            with signals:
                later(0.02, signal.SIGINT).start()
                later(0.08, signal.SIGTERM).start()
                signals.read(pipe.stream)

        with pytest.raises(Interrupted) as interrupt:
            read()
        assert interrupt.value.number == signal.SIGTERM
        assert signals.raw + pipe.rest() == pipe.written


@pytest.mark.parametrize("is_silent", [True, False])
def test_an_interrupt_that_waits_for_long_says_so_once(monkeypatch, capsys, is_silent):
    monkeypatch.setattr(interrupts, "_PATIENCE", 0.02)
    source, sink = os.pipe()
    with Pipe() as pipe, open(source, "rb", buffering=0) as silent:
        ending = threading.Timer(0.3, lambda: (pipe.end(), os.close(sink)))

        def read():
            with Interrupts(until_read=True) as signals:
                later(0.02, signal.SIGINT).start()
                ending.start()
                signals.read(silent if is_silent else pipe.stream)

        with pytest.raises(Interrupted):
            read()
        ending.join()
    says = "reading on until the other side of the pipe ends; a second interrupt ends it at once"
    assert capsys.readouterr().err == f"linecls: interrupted: {says}\n"


def test_an_interrupt_at_a_terminal_ends_at_once():
    pty = pytest.importorskip("pty")
    controller, terminal = pty.openpty()
    signals = Interrupts(until_read=True)

    def read():
        with open(terminal, "rb", buffering=0) as stream, signals:
            os.write(controller, b"typed\n")
            later(0.05, signal.SIGINT).start()
            signals.read(stream)

    with pytest.raises(Interrupted) as interrupt:
        read()
    os.close(controller)
    assert (interrupt.value.status, signals.raw) == (130, b"typed\n")


def test_a_signal_before_the_reading_waits_for_it():
    with Pipe() as pipe:
        signals = Interrupts(until_read=True)

        def read(number):
            with signals:
                os.kill(os.getpid(), number)
                time.sleep(0.05)
                threading.Timer(0.1, pipe.end).start()
                signals.read(pipe.stream)

        with pytest.raises(Interrupted) as interrupt:
            read(signal.SIGINT)
        assert (interrupt.value.status, signals.raw) == (130, pipe.written)
    with Pipe() as pipe:
        signals = Interrupts(until_read=True)
        with pytest.raises(Interrupted) as interrupt:
            read(signal.SIGTERM)
        assert interrupt.value.status == 143
        assert signals.raw
        assert signals.raw + pipe.rest() == pipe.written


def test_a_second_signal_does_not_wait_for_the_reading():
    def wait():
        with Interrupts(until_read=True):
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)
            time.sleep(10)

    begun = time.monotonic()
    with pytest.raises(Interrupted):
        wait()
    assert time.monotonic() - begun < 5


def test_where_nothing_is_read_a_signal_that_waited_comes():
    reached = []

    def work(number):
        with Interrupts(until_read=True) as signals:
            if number is not None:
                os.kill(os.getpid(), number)
                time.sleep(0.05)
            reached.append(number)
            signals.settle()

    work(None)
    with pytest.raises(Interrupted):
        work(signal.SIGINT)
    assert reached == [None, signal.SIGINT]


def test_handed_over_a_signal_comes_to_the_handlers_before():
    Interrupts.hand_over()  # none is entered

    def work():
        with Interrupts(until_read=True):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            Interrupts.hand_over()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_whole_input_and_a_part_of_one():
    raw = os.urandom(300_000)
    signals = Interrupts()
    with signals:
        assert signals.read(io.BytesIO(raw)) == raw
        stream = io.BytesIO(raw)
        part = signals.read(stream, most=70_000)
        assert raw.startswith(part)
        assert 70_000 < len(part) < len(raw)
        assert signals.read(stream, before=part) == raw
        given: list[bytes] = []
        signals.pass_on(io.BytesIO(b"more"), given.append)
        assert b"".join(given) == raw + b"more"


def test_a_signal_outside_of_reading_leaves_what_was_read():
    signals = Interrupts()

    def work():
        with signals:
            signals.read(io.BytesIO(b"read"))
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

    with pytest.raises(Interrupted):
        work()
    assert signals.raw == b"read"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_was_ignored_stays_so():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts():
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.01)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_the_inner_of_two_goes_on_with_the_outer():
    with Interrupts() as outer:
        assert outer.read(io.BytesIO(b"read")) == b"read"
        with Interrupts.entered() as inner:
            assert inner is outer
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # it is over for both
        assert Interrupts.entered() is not outer


def test_in_another_thread_nothing_changes():
    seen = []

    def read():
        with Interrupts() as signals:
            own = Interrupts.entered() is not signals  # the main thread must not share it
            seen.append((signals.read(io.BytesIO(b"x")), signal.getsignal(signal.SIGTERM), own))

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert seen == [(b"x", signal.SIG_DFL, True)]
