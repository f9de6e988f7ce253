"""`linecls model`: what a model directory holds and where it comes from."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from linecls.errors import ArtifactError

if TYPE_CHECKING:
    from linecls.artifact import Artifact

_HELP = """Show a model: its files and whether they are intact, limits, provenance, operating points.

\b
Examples:
  linecls model
  linecls model --json | jq .operating_points
  linecls model --model runs/best

\b
Exit status:
  0  the model is whole
  2  it is missing or damaged; one line on stderr says which file
"""


@click.command("model", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(model: str | None, as_json: bool) -> None:
    """The click command; see `_HELP`."""
    from linecls.artifact import Artifact, resolve

    artifact = Artifact.read(resolve(model))
    values, damage = _describe(artifact)
    click.echo(json.dumps(values, indent=2, ensure_ascii=False) if as_json else _table(values))
    if damage is not None:
        raise damage


def _describe(artifact: Artifact) -> tuple[dict[str, Any], ArtifactError | None]:
    """The model as plain values, and the first thing that is wrong with its files."""
    damage: ArtifactError | None = None
    variants: dict[str, list[str]] = {}
    for variant, roles in artifact.files.items():
        for name in roles.values():
            variants.setdefault(name, []).append(variant)
    files = []
    for name, digest in artifact.sha256.items():
        path = artifact.directory / name
        intact = True
        try:
            artifact.verify([name])
        except ArtifactError as error:
            intact, damage = False, damage or error
        size = path.stat().st_size if path.is_file() else None
        files.append(
            {"name": name, "variants": variants.get(name, []), "bytes": size, "sha256": digest, "intact": intact}
        )
    values = {
        "name": artifact.name,
        "version": artifact.version,
        "directory": str(artifact.directory),
        "bytes": artifact.size,
        "files": files,
        "providers": artifact.providers,
        "encoding": artifact.encoding.to_dict(),
        "operating_points": {name: asdict(point) for name, point in artifact.operating_points.items()},
        "default_operating_point": artifact.default_operating_point,
        "provenance": artifact.provenance,
    }
    return values, damage


def _table(values: dict[str, Any]) -> str:
    lines = [f"{values['name']} {values['version']}  {_megabytes(values['bytes'])}", values["directory"]]
    lines += ["", "Files"]
    for file in values["files"]:
        state = "intact" if file["intact"] else "DAMAGED" if file["bytes"] is not None else "MISSING"
        label = f"{file['name']} ({', '.join(file['variants'])})" if file["variants"] else file["name"]
        lines.append(f"  {label:<24}{_megabytes(file['bytes']):>10}  {state:<8}sha256 {file['sha256'][:16]}…")
    lines += ["", "Operating points"]
    for name, point in values["operating_points"].items():
        mark = " (default)" if name == values["default_operating_point"] else ""
        numbers = "  ".join(f"{key} {_cell(value)}" for key, value in point.items())
        lines.append(f"  {name + mark:<24}{numbers}")
        if tuned := values["provenance"].get("tuned", {}).get(name):
            lines.append(f"  {'':<24}{_promise(tuned)}")
    lines += ["", "Limits and form of the windows", *_tree(values["encoding"])]
    if provenance := {k: v for k, v in values["provenance"].items() if k not in ("encoding", "tuned")}:
        lines += ["", "Provenance", *_tree(provenance)]
    return "\n".join(lines)


def _promise(tuned: dict[str, Any]) -> str:
    """What `linecls tune` says of a point: its target, and what it reached on held-out records."""
    files = ", ".join(file["name"] for file in tuned["files"])
    parts = []
    for name, estimate in (tuned["held_out"] or {}).items():
        if name in ("compression", "recall", "f1") and estimate["value"] is not None:
            parts.append(f"{name} {estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]")
    held = "held out " + ", ".join(parts) if parts else "nothing held out"
    return f"for {tuned['target']}: {held} ({tuned['records']} records of {files})"


def _tree(values: dict[str, Any], indent: int = 2) -> list[str]:
    lines = []
    for key, value in values.items():
        if isinstance(value, dict):
            lines += [" " * indent + key, *_tree(value, indent + 2)]
        elif value is not None:
            text = ", ".join(map(str, value)) if isinstance(value, list) else _cell(value)
            lines.append(f"{' ' * indent}{key:<{max(24 - indent + 2, len(key) + 2)}}{text}")
    return lines


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _megabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e6:.1f} MB"
