"""A report as files of a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from linecls.reporting.differences import render as render_differences
from linecls.reporting.markdown import render as render_markdown
from linecls.reporting.plots import FIGURES, save

if TYPE_CHECKING:
    from linecls.evaluation import Report


def write(report: Report, folder: Path, examples: int) -> list[Path]:
    """See `Report.write`."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [name for name, figure in FIGURES.items() if save(figure(report), folder / f"{name}.png")]
    texts = {"report.json": report.to_json(), "report.md": render_markdown(report, pictures)}
    texts["predictions.jsonl"] = "".join(
        json.dumps(
            {
                "system": name,
                "instance_id": instance,
                "spans": [{"start_line": a, "end_line": b} for a, b in spans],
                **({"invented": list(invented)} if invented else {}),
            }
        )
        + "\n"
        for name, system in report.systems.items()
        for (instance, spans), invented in zip(system.predictions, system.invented, strict=True)
    )
    texts["report.html"] = report.to_html()
    if examples and len(report.systems) > 1:
        texts["differences.html"] = render_differences(report, examples)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    return [folder / name for name in (*texts, *(f"{name}.png" for name in pictures))]
