from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from linecls.evaluation import Prices, Report, evaluate
from linecls.observation import split_lines
from linecls.records import Record
from linecls.reporting import differences
from linecls.reporting.blocks import Table, Terms
from linecls.reporting.cells import dollars, probability, significant
from linecls.reporting.plots import FIGURES, svg
from linecls.reporting.sections import sections
from linecls.spans import Span
from linecls.systems import Selection, create
from linecls.systems.base import Generation, OneByOne


def make_records() -> list[Record]:
    """Six labels on three outputs, with text that HTML must not take for markup."""
    made = []
    for n in range(3):
        lines = [f"12:00:{i:02} INFO <b>request</b> {n}/{i} & more | done" for i in range(30 + 40 * n)]
        lines[5 + n] = "ERROR <script>alert('disk full')</script>"
        text = "\n".join(lines) + "\n"
        made.append(Record(query="which <disk> is full?", tool_output=text, gold_spans=[Span(6 + n, 6 + n)]))
        made.append(Record(query="who logged in?", tool_output=text, gold_spans=[]))
    return made


class Model(OneByOne):
    """A pruner that writes, ranks and states probabilities all at once; finds the line that names the query."""

    name = "model <1>"

    def select(self, query: str, observation: str) -> Selection:
        hit = np.array(["disk" in query and "disk" in line for line in split_lines(observation)])
        probabilities = np.where(hit, 0.9, 0.05)
        spans = [Span(int(i) + 1, int(i) + 1) for i in np.flatnonzero(hit)]
        written = Generation(2, 1, 0, ("<i>made up</i>",), "tags", False, False, 100, 9, 0.2, False)
        return Selection(spans, probabilities, probabilities, 0.8 if hit.any() else 0.3, written)


@pytest.fixture(scope="module")
def report() -> Report:
    systems = [Model(), create("bm25"), create("last")]
    return evaluate(make_records(), systems, bootstrap=50, published=True, prices=Prices(1, 2, 3))


class Page(HTMLParser):
    """Checks that tags nest, and collects tables, links and what a browser would load."""

    VOID = ("meta", "link", "img", "br", "input", "path", "use", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            if name in ("src", "href", "data") and value and not value.startswith("#"):
                self.loads.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_all_sections_are_there_and_tables_are_whole(report) -> None:
    found = sections(report)
    assert [section.title for section in found] == [
        "At a glance",
        "Is the difference real?",
        "Speed and cost",
        "Recall against compression, every bias",
        "Where systems are strong and weak",
        "Written lines",
        "Squeez line metrics",
        "Scoring-recipe metrics",
        "Pruning metrics",
        "Published figures",
        "Calibration",
        "With and without gold lines",
        "By length of the observation",
        "By position of the gold lines",
        "By tool type",
        "Provenance",
    ]
    for section in found:
        tables = [block for block in section.blocks if isinstance(block, Table)]
        for table in tables:
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.head)}
        for terms in (block for block in section.blocks if isinstance(block, Terms)):
            explained = {heading for item, _ in terms.items for heading in item.split(", ")}
            assert explained >= {heading for heading in tables[0].head[1:] if ", " not in heading}
    assert {section.plot for section in found} - {None} == set(FIGURES)


def test_the_glance_has_one_row_for_each_system_and_published_ones_are_marked(report) -> None:
    table = next(block for block in sections(report)[0].blocks if isinstance(block, Table))
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert list(rows)[:3] == ["model <1>", "bm25", "last"]
    assert all(name.endswith(" †") for name in list(rows)[3:])
    assert len(rows) == 3 + len(report.published)
    assert rows["model <1>"]["hallucinated lines"] == "50.0 %"
    assert rows["model <1>"]["latency, ms"] == "200"
    assert rows["Squeez-2B (generative, LoRA on Qwen 3.5 2B) †"]["recall"] == "0.862"
    assert re.fullmatch(r"0\.\d{3} ±0?\.\d{3}", rows["bm25"]["F1"])


def test_groups_have_both_families_in_a_table_each(report) -> None:
    for title in ("By tool type", "By length of the observation", "By position of the gold lines"):
        section = next(section for section in sections(report) if section.title == title)
        captions = [block.caption for block in section.blocks if isinstance(block, Table)]
        assert captions[:2] == ["F1 of lines (Squeez)", "F1 of tokens (scoring recipe)"]
        assert captions[-1] == "Recall of gold lines with 90 % of the lines dropped"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (float("nan"), "–"), (0.0, "0"), (0.012345, "0.0123"), (7.0, "7.00"), (123456.7, "123,457")],
)
def test_numbers_of_any_size(value, text) -> None:
    assert significant(value) == text


def test_small_numbers_are_said_to_be_small() -> None:
    assert (dollars(2e-7), dollars(0.5), dollars(0.0)) == ("< 0.0001", "0.500", "0")
    assert (probability(0.0004), probability(0.0214), probability(float("nan"))) == ("< 0.001", "0.021", "–")


def test_figures_stand_where_they_belong(report) -> None:
    text = report.to_markdown()
    written = re.search(r"## Written lines.*?\| model <1> \| (.*?) \|\n", text, re.DOTALL)
    assert written
    assert written[1].split(" | ")[:6] == ["12", "50.0 %", "0.0 %", "50.0 %", "100.0 %", "0.0 %"]
    assert re.search(r"\| bm25 \| \+[01]\.\d{3} \[", text)
    assert f"sha256 {report.figures_sha256()}" in text
    time = re.search(r"## Speed and cost.*?\| model <1> \| (.*?) \|\n", text, re.DOTALL)
    assert time
    # latencies, requests, seconds, tokens and dollars per 1,000, cached
    assert time[1].split(" | ") == ["200", "200", "6", "200", "109,000", "0.118", "0"]
    assert "3 US dollars per hour of this machine, 1 and 2 per million tokens" in text


def test_the_terminal_says_what_was_made_up(report) -> None:
    assert "model <1> wrote 12 lines, 50.0 % of which stand nowhere" in report.to_text()


class TestPage:
    def test_needs_nothing_else_and_runs_nothing(self, report) -> None:
        page = Page(report.to_html())
        assert (page.loads, page.scripts) == ([], 0)

    def test_names_are_text(self, report) -> None:
        assert "model &lt;1&gt;" in report.to_html()
        assert "<1>" not in report.to_html()

    def test_plots_stand_in_it_where_matplotlib_is(self, report, monkeypatch) -> None:
        pytest.importorskip("matplotlib")
        assert report.to_html().count("<svg") == 5
        monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
        assert report.to_html().count("<svg") == 0

    @pytest.mark.parametrize("name", FIGURES)
    def test_the_same_figures_give_the_same_page(self, report, name) -> None:
        pytest.importorskip("matplotlib")
        assert svg(FIGURES[name](report)) == svg(FIGURES[name](report)) != ""

    def test_details_open_on_request_and_say_what_they_hold(self, report) -> None:
        text = report.to_html()
        assert "<summary>F1 of tokens (scoring recipe)</summary>" in text
        assert "<caption>F1 of lines (Squeez)</caption>" in text


@pytest.mark.parametrize("name", FIGURES)
def test_every_axis_is_labelled_and_every_label_stands_inside(report, name) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = FIGURES[name](report)
    FigureCanvasAgg(figure).draw()
    edges = figure.bbox
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel() or axes.get_yticklabels()
        for text in axes.texts:
            box = text.get_window_extent()
            assert box.x0 >= edges.x0
            assert box.x1 <= edges.x1
    assert figure.get_suptitle()


def test_published_names_do_not_meet(report) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = FIGURES["recall"](report)
    FigureCanvasAgg(figure).draw()
    boxes = [text.get_window_extent() for text in figure.axes[1].texts]
    assert len(boxes) == 8
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])


def test_the_markdown_shows_the_plots_that_were_drawn(report, tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    report.write(tmp_path / "with")
    text = (tmp_path / "with" / "report.md").read_text()
    assert sorted(re.findall(r"\((\w+)\.png\)", text)) == sorted(FIGURES)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    report.write(tmp_path / "without")
    assert ".png" not in (tmp_path / "without" / "report.md").read_text()


def test_json_is_what_to_dict_says_in_short_lines(report) -> None:
    text = report.to_json()
    assert json.loads(text) == json.loads(json.dumps(report.to_dict()))
    assert '"squeez.span_f1": {"value": ' in text


class TestDifferences:
    def test_the_records_that_differ_most_from_either_side(self, report) -> None:
        gaps = [
            a["squeez.span_f1"] - b["squeez.span_f1"]
            for a, b in zip(report["model <1>"].rows, report["bm25"].rows, strict=True)
        ]
        chosen = differences.choose(report, "model <1>", "bm25", 4)
        assert len(chosen) == len(set(chosen)) == min(4, sum(gap != 0 for gap in gaps))
        assert gaps[chosen[0]] == max(gaps)
        assert differences.choose(report, "bm25", "bm25", 4) == []

    def test_kept_lines_are_coloured_and_the_rest_is_counted(self, report) -> None:
        text = differences.render(report, 5)
        page = Page(text)
        assert (page.loads, page.scripts) == ([], 0)
        assert text.count('<pre class="right">ERROR &lt;script&gt;') >= 3
        assert '<pre class="wrong">' in text
        assert re.search(r"⋯ \d+ lines", text)
        assert '<pre class="wrong">&lt;i&gt;made up&lt;/i&gt;</pre>' in text
        # every line of a record is either shown or counted
        for block in text.split("<details open>")[1:]:
            shown = block.count('<div class="number">')
            hidden = sum(int(n) for n in re.findall(r"⋯ (\d+) line", block))
            total = int(re.search(r"of (\d+) lines", block)[1])
            assert shown + hidden == total

    def test_none_are_written_for_one_system_or_on_request(self, report, tmp_path) -> None:
        alone = evaluate(make_records(), [create("last")], bootstrap=0)
        assert "differences.html" not in {path.name for path in alone.write(tmp_path / "alone")}
        assert "differences.html" not in {path.name for path in report.write(tmp_path / "none", examples=0)}


def test_one_negative_record_and_one_system_make_a_report() -> None:
    record = Record(query="q", tool_output="", gold_spans=[])
    bare = evaluate([record], [create("last")], bootstrap=10)
    for text in (bare.to_markdown(), bare.to_html(), bare.to_text(), bare.to_json()):
        assert "last" in text
        assert not re.search(r"\bnan\b", text, re.IGNORECASE)
