from __future__ import annotations

import hashlib
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from linecls.agent import PROFILES, Shortened, shorten
from linecls.cli import main
from linecls.cli.prune import Answered
from linecls.observation import Observation, is_text
from linecls.protection import Protection
from linecls.rendering import MARKER_START, marked
from linecls.spans import Span, from_mask
from linecls.store import Store, parse_reference

LONG = "".join(f"request {i} took 3 ms and went well\n" for i in range(1, 101))
MARKER = re.compile(r"^\[linecls: (\d+) lines? omitted, linecls expand ([0-9a-f]+:\d+-\d+)\]\n", re.MULTILINE)
TEXTS = st.lists(
    st.sampled_from(
        [
            "a",
            "",
            "x" * 70,
            "[linecls: 5 lines omitted, linecls expand 00000000:1-5]",
            r"[\linecls: x",
            "[LineCLS: y",
            "é" * 50,
            "\udcff" * 60,
        ]
    ),
    max_size=25,
).map("\n".join)


def test_a_marker_says_what_is_gone() -> None:
    observation = Observation.of(LONG)
    assert marked(observation, [Span(12, 12), Span(65, 66)], "3f9a2c1b") == (
        "[linecls: 11 lines omitted, linecls expand 3f9a2c1b:1-11]\n"
        "request 12 took 3 ms and went well\n"
        "[linecls: 52 lines omitted, linecls expand 3f9a2c1b:13-64]\n"
        "request 65 took 3 ms and went well\nrequest 66 took 3 ms and went well\n"
        "[linecls: 34 lines omitted, linecls expand 3f9a2c1b:67-100]\n"
    )
    assert marked(observation, []) == "[linecls: 100 lines omitted]\n"
    assert marked(observation, [], "3f9a2c1b") == "[linecls: 100 lines omitted, linecls expand 3f9a2c1b:1-100]\n"
    assert marked(observation, [Span(1, 100)], "3f9a2c1b") == LONG
    assert marked(Observation.of(b"x" * 80), []) == b"[linecls: 1 line omitted]\n"


def test_a_run_shorter_than_its_marker_stays() -> None:
    assert marked(Observation.of("a\nb\nc\n"), [Span(2, 2)], "3f9a2c1b") == "a\nb\nc\n"


@given(TEXTS, st.data(), st.sampled_from([None, "3f9a2c1b"]))
def test_a_marker_is_never_longer_and_kept_lines_are_verbatim(text: str, data: st.DataObject, name: str | None) -> None:
    observation = Observation.of(text)
    keep = data.draw(st.lists(st.booleans(), min_size=len(observation), max_size=len(observation)))
    spans = from_mask(keep)
    shown = marked(observation, spans, name)
    assert shown == marked(observation, spans, name)
    raw = text.encode("utf-8", "surrogateescape")
    assert marked(Observation.of(raw), spans, name) == shown.encode("utf-8", "surrogateescape")
    # Undo the escapes, put the lines back in the place of the markers: the observation again.
    back, line = "", 0
    for row in Observation.of(shown).lines:
        if row.startswith(MARKER_START):
            count = int(row.split()[1])
            back += "".join(observation.lines[line : line + count])
            assert not any(keep[line : line + count])
            assert len(row) <= len("".join(observation.lines[line : line + count]))
            line += count
        else:
            back += re.sub(r"\[\\(\\*linecls:)", r"[\1", row, flags=re.IGNORECASE)
            line += 1
    assert back == text


@given(TEXTS, st.booleans())
def test_the_start_of_a_marker_comes_from_us_alone(text: str, first: bool) -> None:
    shown = marked(Observation.of(text), [Span(1, 1)] if text and first else [])
    assert isinstance(shown, str)
    assert shown.lower().count("[linecls:") == sum(line.startswith(MARKER_START) for line in shown.split("\n")) <= 1


# With the store


def test_every_marker_can_be_expanded(tmp_path) -> None:
    store = Store(tmp_path / "outputs")
    raw = LONG.encode()
    result = shorten(raw, [Span(50, 51)], Protection(), store=store)
    assert result.expand_id == hashlib.sha256(raw).hexdigest()[:8]
    assert result.warning is None
    restored = MARKER.sub(lambda m: store.expand(parse_reference(m[2])).decode(), result.text.decode())
    assert restored.encode() == raw


def test_nothing_is_stored_when_nothing_is_omitted(tmp_path) -> None:
    store = Store(tmp_path / "outputs")
    assert shorten(b"a\nb\n", [], Protection(), store=store) == Shortened(b"a\nb\n", [])
    assert shorten(LONG.encode(), [], Protection(), markers=False, store=store) == Shortened(b"", [])
    assert not store.directory.exists()


def test_a_false_marker_never_passes_for_ours(tmp_path) -> None:
    store = Store(tmp_path / "outputs")
    false = b"[linecls: 9 lines omitted, linecls expand deadbeef:1-9]\n"
    assert shorten(false, [Span(1, 1)], Protection(), store=store).text == false.replace(b"[linecls", b"[\\linecls")
    long = shorten(false + LONG.encode(), [Span(1, 1)], PROFILES["recall"].protection, store=store)
    assert long.text.startswith(false.replace(b"[linecls", b"[\\linecls"))
    assert [m[2].split(":")[0] for m in MARKER.finditer(long.text.decode())] == [long.expand_id]
    assert store.load(long.expand_id or "") == false + LONG.encode()


def test_an_unwritable_store_loses_nothing_and_says_so(tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    result = shorten(LONG.encode(), [Span(3, 3)], Protection(), store=Store(tmp_path / "file" / "outputs"))
    assert result.expand_id is None
    assert result.warning is not None
    assert result.warning.endswith("the whole output is shown")
    assert result.text == LONG.encode()
    assert result.spans == [Span(1, LONG.count("\n"))]


def test_what_is_text() -> None:
    assert is_text(b"")
    assert is_text("plain é\n".encode() + b"one \xff byte\n")
    assert not is_text(b"\x7fELF\x00\x01")
    assert not is_text(bytes(range(128, 256)) * 9)


# linecls prune


@pytest.fixture
def prune(tmp_path, monkeypatch):
    """The command, with a model that keeps no line."""

    def answer(query: str, raw: bytes, *_: object, **__: object) -> Answered:
        return Answered(Observation.of(raw), [], 0.5, None)

    def call(*arguments: str, raw: bytes, store: str = str(tmp_path / "outputs")):
        monkeypatch.setattr("linecls.cli.prune.answer", answer)
        return CliRunner().invoke(main, ["prune", "x", *arguments], input=raw, env={"LINECLS_STORE": store})

    return call


def test_protected_lines_come_on_top(prune) -> None:
    raw = LONG.encode() + b"fatal: gone\nend\n"
    assert prune(raw=raw).stdout_bytes == b""
    assert prune("--protect", "errors", raw=raw).stdout_bytes == b"fatal: gone\n"
    assert prune("--edges", "1", "--numbers", raw=raw).stdout.splitlines()[-1] == " 102│end"
    assert '"kept_lines": 1' in prune("--protect", "errors", "--json", raw=raw).stdout
    assert prune("--context", "-1", raw=raw).exit_code == 2
    assert prune("--protect", "all", raw=raw).exit_code == 2


def test_markers_are_asked_for(prune, tmp_path) -> None:
    raw = LONG.encode()
    result = prune("--edges", "1", "--markers", raw=raw)
    name = hashlib.sha256(raw).hexdigest()[:8]
    assert result.stdout.splitlines()[1] == f"[linecls: 98 lines omitted, linecls expand {name}:2-99]"
    assert (result.exit_code, result.stderr) == (0, "")
    assert Store(tmp_path / "outputs").load(name) == raw
    assert prune("--markers", "--json", raw=raw).exit_code == 2


def test_markers_without_a_store(prune, tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    result = prune("--markers", raw=LONG.encode(), store=str(tmp_path / "file" / "outputs"))
    assert (result.exit_code, result.stdout) == (0, LONG)
    assert result.stderr.startswith("linecls: warning: cannot keep outputs in ")
    off = prune("--markers", raw=LONG.encode(), store="")
    assert (off.stdout, off.stderr) == ("[linecls: 100 lines omitted]\n", "")
