from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linecls import store as module
from linecls.cli import main
from linecls.errors import StoreError
from linecls.observation import Observation
from linecls.spans import Span
from linecls.store import Reference, Store, parse_reference

RAW = b"one\r\ntwo \xff\x00\n\nlast"
ID = hashlib.sha256(RAW).hexdigest()[:8]


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "outputs")


def test_what_is_saved_comes_back(store: Store) -> None:
    assert store.save(RAW) == ID == store.save(RAW)
    assert store.load(ID) == RAW
    assert store.expand(Reference(ID, None)) == RAW
    assert store.expand(Reference(ID, Span(1, 2))) == b"one\r\ntwo \xff\x00\n"
    assert store.expand(Reference(ID, Span(4, 4))) == b"last"
    assert [path.name for path in store.directory.iterdir()] == [f"{ID}.out"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.data())
def test_any_lines_come_back_byte_for_byte(store: Store, raw: bytes, data: st.DataObject) -> None:
    name = store.save(raw)
    assert store.load(name) == raw
    total = len(Observation.of(raw))
    if total:
        start = data.draw(st.integers(1, total))
        end = data.draw(st.integers(start, total))
        parts = [Span(1, start - 1)] * (start > 1) + [Span(start, end)] + [Span(end + 1, total)] * (end < total)
        assert b"".join(store.expand(Reference(name, part)) for part in parts) == raw


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_it_is_private(store: Store) -> None:
    store.save(RAW)
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((store.directory / f"{ID}.out").stat().st_mode) == 0o600
    store.directory.chmod(0o777)
    with pytest.raises(StoreError, match="others can write"):
        store.save(b"more")


@pytest.mark.skipif(os.name == "nt", reason="symbolic links")
def test_a_link_in_place_of_the_directory_or_a_file_is_refused(store: Store, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    store.directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="no directory of your own"):
        store.save(RAW)
    store.directory.unlink()
    store.save(RAW)
    (tmp_path / "secret").write_bytes(RAW)
    (store.directory / f"{ID}.out").unlink()
    (store.directory / f"{ID}.out").symlink_to(tmp_path / "secret")
    with pytest.raises(StoreError, match="cannot read"):
        store.load(ID)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(store: Store) -> None:
    store.save(RAW)
    os.unlink(store.directory / f"{ID}.out")
    os.mkfifo(store.directory / f"{ID}.out")
    with pytest.raises(StoreError, match="no regular file"):
        store.load(ID)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3f9a",
        "../../etc/passwd",
        "3f9a2c1b/../x",
        "3F9A2C1B",
        "3f9a2c1b:",
        "3f9a2c1b:a-b",
        "3f9a2c1b:0-3",
        "3f9a2c1b:9-3",
        "3f9a2c1b:1-2-3",
        "3f9a2c1b:1-9999999999999",
        "a" * 65,
        "3f9a2c1b\x00",
        "3f9a2c1b:1-2; rm -rf ~",
        "x" * 1_000_000,
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(StoreError) as error:
        parse_reference(text)
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)


def test_references() -> None:
    assert parse_reference("3f9a2c1b") == Reference("3f9a2c1b", None)
    assert parse_reference(" 3f9a2c1b:13-64\n") == Reference("3f9a2c1b", Span(13, 64))
    assert parse_reference("3f9a2c1b:7") == Reference("3f9a2c1b", Span(7, 7))


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", ".", "ABCDEF01", "3f9a2c1b.out"])
def test_load_takes_no_paths(store: Store, name: str) -> None:
    store.save(RAW)
    (store.directory.parent / "secret.out").write_bytes(b"x")
    with pytest.raises(StoreError, match="is no id"):
        store.load(name)


def test_missing_damaged_and_out_of_range(store: Store) -> None:
    with pytest.raises(StoreError, match=r"there is no output 3f9a2c1b .* run the command again"):
        store.load("3f9a2c1b")
    store.save(RAW)
    with pytest.raises(StoreError, match=f"output {ID} has 4 lines, not 5"):
        store.expand(Reference(ID, Span(2, 5)))
    (store.directory / f"{ID}.out").write_bytes(b"cut")
    with pytest.raises(StoreError, match="is damaged"):
        store.load(ID)
    assert store.save(RAW) == ID
    assert store.load(ID) == RAW


def test_outputs_that_share_their_first_digits_keep_apart(store: Store, monkeypatch) -> None:
    class Weak:
        """A hash whose first 9 digits are always the same."""

        def __init__(self, raw: bytes) -> None:
            self.raw = raw

        def hexdigest(self) -> str:
            return "0" * 9 + hashlib.md5(self.raw).hexdigest() + "0" * 23

    monkeypatch.setattr(module.hashlib, "sha256", Weak)
    names = [store.save(raw) for raw in (b"a", b"b", b"c")]
    assert names[0] == "0" * 8
    assert len(set(names)) == 3
    assert [store.load(name) for name in names] == [b"a", b"b", b"c"]
    assert [store.save(raw) for raw in (b"a", b"b", b"c")] == names


def test_old_outputs_and_too_many_go(store: Store, monkeypatch) -> None:
    names = [store.save(bytes([i]) * 100) for i in range(6)]
    now = time.time()
    for index, name in enumerate(names):
        os.utime(store.directory / f"{name}.out", (now - 1000 + index,) * 2)
    os.utime(store.directory / f"{names[0]}.out", (now - module.MAX_AGE - 10,) * 2)
    (store.directory / ".new-left").write_bytes(b"x")
    os.utime(store.directory / ".new-left", (now - 10_000,) * 2)
    (store.directory / "notes.txt").write_bytes(b"not ours")
    monkeypatch.setattr(module, "MAX_BYTES", 450)
    last = store.save(b"z" * 100)
    left = {path.name for path in store.directory.iterdir()}
    assert left == {"notes.txt", *(f"{name}.out" for name in (*names[3:], last))}
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    assert store.save(b"z" * 100) == last
    assert {path.name for path in store.directory.iterdir()} == {"notes.txt", f"{last}.out"}


def test_an_output_that_is_too_large(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRY", 10)
    with pytest.raises(StoreError, match="more than the store keeps"):
        store.save(b"x" * 11)


def test_many_writers_at_once(store: Store) -> None:
    code = (
        "import sys\n"
        "from linecls.store import Store\n"
        "store = Store(sys.argv[1])\n"
        "print(*[store.save(b'%d' % (i % 10) * 5000) for i in range(60)])\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(store.directory)], stdout=subprocess.PIPE) for _ in range(4)
    ]
    outputs = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert len(set(outputs)) == 1
    for index, name in enumerate(outputs[0].decode().split()):
        assert store.load(name) == b"%d" % (index % 10) * 5000
    assert len(list(store.directory.iterdir())) == 10


def test_where_the_store_is(monkeypatch, tmp_path) -> None:
    def directory() -> str | None:
        found = Store.of_user()
        return None if found is None else str(found.directory)

    monkeypatch.setenv("LINECLS_STORE", str(tmp_path))
    assert directory() == str(tmp_path)
    monkeypatch.setenv("LINECLS_STORE", " ")
    assert directory() is None
    monkeypatch.delenv("LINECLS_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert directory() == str(tmp_path / "cache" / "linecls" / "outputs")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert directory() == str(tmp_path / "home" / ".cache" / "linecls" / "outputs")


# The command


@pytest.fixture
def expand(tmp_path):
    def call(reference: str, directory: str = str(tmp_path / "outputs")):
        return CliRunner().invoke(main, ["expand", reference], env={"LINECLS_STORE": directory})

    return call


def test_expand_prints_bytes(expand, store: Store) -> None:
    store.save(RAW)
    assert (expand(ID).stdout_bytes, expand(ID).exit_code) == (RAW, 0)
    assert expand(f"{ID}:2-3").stdout_bytes == b"two \xff\x00\n\n"


@pytest.mark.parametrize("reference", ["../../etc/passwd", "3f9a2c1b", f"{ID}:1-99"])
def test_expand_fails_in_one_line(expand, store: Store, reference: str) -> None:
    store.save(RAW)
    result = expand(reference)
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert result.stderr.startswith("linecls: ")
    assert result.stderr.count("\n") == 1


def test_expand_without_a_store(expand) -> None:
    result = expand(ID, "")
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert "the store is off" in result.stderr
