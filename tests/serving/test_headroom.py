"""The compressor for Headroom, against the installed headroom-ai package."""

from __future__ import annotations

from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.serving.headroom import LineclsCompressor, render
from linecls.spans import Span, from_mask

LOG = (
    "".join(f"INFO request {i} served in {i % 7} ms, nothing to see\n" for i in range(60))
    + "ERROR cannot reach redis at 127.0.0.1:6379: connection refused\n"
    + "".join(f"INFO request {i} served in {i % 5} ms, nothing to see\n" for i in range(60, 120))
)
QUERY = "which server could not be reached"


@given(st.text("ab \n\r", max_size=300), st.data())
def test_rendering_loses_no_line_silently(content, data):
    total = content.count("\n") + (not content.endswith("\n") and content != "")
    spans = from_mask(data.draw(st.lists(st.booleans(), min_size=total, max_size=total)))
    text, digest = render(content, spans)
    lines, last = text.split("\n")[:-1], text.split("\n")[-1]
    assert last == f"[{total} lines in all. Retrieve original: hash={digest}]"
    shown = [line for line in lines if "omitted by linecls" not in line]
    omitted = [int(line[1:].split()[0]) for line in lines if "omitted by linecls" in line]
    assert len(shown) + sum(omitted) == total
    rest = iter(content.split("\n"))
    assert all(any(line == other for other in rest) for line in shown)


def test_rendering_is_deterministic_and_names_the_content():
    assert render(LOG, [Span(61, 61)]) == render(LOG, [Span(61, 61)])
    assert render(LOG, [Span(61, 61)])[1] != render(LOG + "x", [Span(61, 61)])[1]


registry = pytest.importorskip("headroom.transforms.compressor_registry")


@pytest.fixture(scope="module")
def compressor():
    pytest.importorskip("onnxruntime")
    return LineclsCompressor()


def inp(content=LOG, query=QUERY, **options):
    return registry.CompressInput(content=content, content_type="text/x-log", query=query, **options)


def test_it_satisfies_the_contract(compressor):
    assert isinstance(compressor, registry.Compressor)
    book = registry.CompressorRegistry()
    assert book.register(compressor) == "linecls"
    descriptor = compressor.descriptor
    assert isinstance(descriptor, registry.CompressorDescriptor)
    assert descriptor.cost_tier in registry.COST_TIERS
    assert (descriptor.lossless, descriptor.recoverable) == (False, True)


def test_headroom_discovers_it():
    if "linecls" not in {entry.name for entry in entry_points(group=registry.ENTRY_POINT_GROUP)}:
        pytest.skip("linecls is not installed with its entry points here")
    book = registry.CompressorRegistry()
    assert "linecls" in book.discover()
    assert [c.descriptor.name for c in book.active({"linecls"})] == ["linecls"]
    assert book.active(None) == []  # installed is not selected


def test_it_keeps_the_answer_and_gives_the_original_back(compressor):
    out = compressor.compress(inp())
    assert out.compressed
    assert not out.lossless
    assert "ERROR cannot reach redis at 127.0.0.1:6379: connection refused\n" in out.content
    assert len(out.content) < len(LOG) / 2
    assert out.tokens_after < out.tokens_before
    ((digest, original),) = out.recoverable.items()
    assert original == LOG
    assert f"Retrieve original: hash={digest}" in out.content
    assert out == compressor.compress(inp())


def test_config_and_budget(compressor):
    assert len(compressor.compress(inp(budget={"target_ratio": 0.01})).content) < len(LOG) / 3
    few = compressor.compress(inp(config={"max_lines": 1, "language": "unknown settings are passed over"}))
    assert few.compressed


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"query": " "}, "no query"),
        ({"query": "\x00\u3000"}, "no query"),
        ({"content": ""}, "characters long"),
        ({"content": "short\n"}, "characters long"),
        ({"content": "x" * (1 << 20) + "\n"}, "characters long"),
        ({"content": LOG + "<<ccr:0123456789abcdef>>\n"}, "pointer"),
        ({"config": {"max_lines": 0}}, "no line answers"),
        ({"config": {"max_tokens": 1}}, "tokens, more than max_tokens"),
        ({"config": {"operating_point": "nonsense"}}, "nonsense"),
        ({"config": {"bias": "much"}}, "Error"),
        ({"budget": {"target_ratio": "much"}}, "ValueError"),
        ({"content": "one line " * 200}, "nothing to win"),
    ],
)
def test_what_passes_through(compressor, changes, says):
    given = inp(**changes)
    out = compressor.compress(given)
    assert not out.compressed
    assert out.content == given.content
    assert out.recoverable == {}
    assert out.tokens_after == out.tokens_before
    (warning,) = out.warnings
    assert says in warning
    assert "\n" not in warning


def test_a_model_that_does_not_load():
    def load():
        raise OSError("burst\nopen")

    out = LineclsCompressor(load).compress(inp())
    assert (out.compressed, out.content) == (False, LOG)
    assert out.warnings == ["linecls: OSError: burst open"]


def test_the_router_takes_it_and_keeps_the_original(compressor, monkeypatch, tmp_path):
    router_module = pytest.importorskip("headroom.transforms.content_router")
    store_module = pytest.importorskip("headroom.cache.compression_store")
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    discover = registry.CompressorRegistry.discover

    def with_ours(self, *, replace=False):
        names = discover(self, replace=replace)
        return names if "linecls" in self.names() else [*names, self.register(compressor)]

    monkeypatch.setattr(registry.CompressorRegistry, "discover", with_ours)
    config = router_module.ContentRouterConfig(active_external_compressors=["linecls"])
    router = router_module.ContentRouter(config)
    strategy = SimpleNamespace(build=router_module.CompressionStrategy("log"))
    content, _, chain = router._try_external_compressor(LOG, strategy.build, "", QUERY)
    assert chain == ["external:linecls"]
    assert "cannot reach redis" in content
    digest = content.rsplit("hash=", 1)[1].rstrip("]")
    assert store_module.get_compression_store().retrieve(digest).original_content == LOG
