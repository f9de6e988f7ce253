"""`linecls eval`: systems side by side on labelled records."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linecls.cli._decoding_options import finite
from linecls.errors import LineclsError
from linecls.progress import Count
from linecls.systems import GENERATIVE, HEURISTICS, NAMES, create, from_file
from linecls.systems.generative.cache import default_cache

if TYPE_CHECKING:
    from linecls.evaluation import Prices
    from linecls.records import Record
    from linecls.systems import System

# What stands behind the colon of NAME:WHAT.
_MAIN_OPTION = {
    "linecls": "model",
    "local": "model",
    "squeez-pooled": "model",
    "llmlingua2": "model",
    "generative": "endpoint",
    "swe-pruner": "endpoint",
}

_HELP = """Run systems over labelled RECORDS and compare what they keep with the gold lines.

RECORDS are JSONL files, plain or gzip, folders that `datasets` reads, or hub:OWNER/NAME. Systems:

\b
  linecls     the pruner, with the embedded model or the one that --model names
  similarity  the untrained backbone: cosine of the query with three-line windows
  bm25        the tenth of the lines that shares the rarest words with the query
  first       the first tenth of the lines
  last        the last tenth
  random      a random tenth, the same one each time
  generative  a model that writes the lines, behind the OpenAI-compatible --endpoint
  NAME:WHAT   a system by its model or server: linecls:DIR, local:MODEL, squeez-pooled:DIR, llmlingua2:DIR,
              generative:URL, swe-pruner:URL
  FILE.yaml   any of these with options of its own, under the file's name: `system: NAME` and options

What a generative system wrote is kept in --cache, so that a run that breaks off goes on where it stopped. A system
that fails on the way (its server is down, the key is wrong) is left out with one line on stderr, and the others are
reported.

The table shows means, some with half the width of their 95 % bootstrap interval: precision, recall and F1 of
line texts as the Squeez evaluator counts them, the share of lines dropped, recall of the gold lines with 50,
70 and 90 % of the lines dropped (R@), how often negatives (rightly) and positives (wrongly) got no lines, and
the time. --report writes all metrics with their intervals, per file, tool type, level, length and position of the
gold lines, paired significance of the first system against the others, curves over every bias, calibration,
hallucinated lines, latency and cost, and views of where systems differ, as JSON, Markdown, HTML and plots.

\b
Examples:
  linecls eval test.jsonl.gz
  linecls eval test.jsonl.gz --system linecls,bm25 --report runs/eval
  linecls eval dev.jsonl --model runs/best --bias 0.5 --limit 200
  linecls eval test.jsonl.gz --system linecls,generative --endpoint http://127.0.0.1:8000/v1 --report runs/eval
  linecls eval test.jsonl.gz --system linecls,configs/generative/squeez_2b.yaml --published --report runs/eval
  linecls eval hub:KRLabsOrg/tool-output-extraction-swebench --split test --published
  linecls eval test.jsonl.gz --max-chars 4000 --limit 40 --system linecls,configs/generative/smollm2_zero_shot.yaml
  linecls eval test.jsonl.gz --json | jq '.systems.linecls.overall["squeez.span_f1"]'

\b
Exit status:
  0  done
  2  wrong usage, or records, a model, a server or a report folder that cannot be used; one line on stderr
     says which. What other systems found is printed and written nevertheless
"""


@click.command(
    "eval",
    help=_HELP,
    short_help="Compare systems on labelled records.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("records", nargs=-1, required=True)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="System, or YAML file that describes one; may be given several times.  [default: linecls and the four "
    "heuristics]",
)
@click.option("--model", metavar="MODEL", help="Model directory or hub id for linecls.")
@click.option(
    "--device", default="auto", show_default=True, help="Where linecls runs: auto, cpu, cuda[:N] or tensorrt[:N]."
)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads of linecls.")
@click.option(
    "--bias", type=float, callback=finite, help="Let linecls keep less (larger) or more (smaller); in logits."
)
@click.option("--operating-point", metavar="NAME", help="Let linecls decode as tuned for a target.")
@click.option("--endpoint", metavar="URL", help="Address of the server for `generative`, as http://HOST:PORT/v1.")
@click.option("--endpoint-model", metavar="NAME", help="Model that the server is asked for.  [default: its first]")
@click.option(
    "--prompt",
    type=click.Choice(["squeez", "zero-shot"]),
    default="squeez",
    show_default=True,
    help="How `generative` is asked: as Squeez models were trained, or as a model that never saw that form.",
)
@click.option("--concurrency", type=click.IntRange(min=1), default=4, show_default=True, help="Requests at once.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where what generative systems wrote is kept.  [default: linecls/completions in the user's cache folder]",
)
@click.option("--token-price", metavar="IN,OUT", help="US dollars per million tokens of prompt and of answer.")
@click.option(
    "--hour-price", type=click.FloatRange(min=0), callback=finite, help="US dollars per hour of this machine."
)
@click.option("--split", help="Which split of a data set, where RECORDS have several.")
@click.option("--limit", type=click.IntRange(min=1), help="Evaluate on a random sample of so many records.")
@click.option("--max-chars", type=click.IntRange(min=1), help="Leave out records with a longer output, in characters.")
@click.option("--seed", default=0, show_default=True, help="Seed of the sample and of the intervals.")
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Resamples behind the intervals; 0 for no intervals.",
)
@click.option("--published", is_flag=True, help="Add published figures of other systems, marked as such.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write report.json, report.md, report.html, differences.html, predictions.jsonl and, with matplotlib, "
    "plots to DIR.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Records in differences.html, for each system beside the first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    *,
    records: tuple[str, ...],
    systems: tuple[str, ...],
    split: str | None,
    limit: int | None,
    max_chars: int | None,
    seed: int,
    bootstrap: int,
    published: bool,
    token_price: str | None,
    hour_price: float | None,
    report: Path | None,
    examples: int,
    as_json: bool,
    **options: Any,
) -> None:
    """The click command; see `_HELP`."""
    names = _names(systems, options["endpoint"])
    prices = _prices(token_price, hour_price)
    if seed < 0:
        raise click.BadParameter("it must not be negative", param_hint="--seed")
    if report is not None:
        _make_folder(report)
    labelled, origins, sample = _load(records, split, limit, max_chars, seed)
    ready = _systems(names, options)
    failures: list[LineclsError] = []
    with _progress(ready, len(labelled)) as advance:
        from linecls.evaluation import evaluate

        result = evaluate(
            labelled,
            ready,
            bootstrap=bootstrap,
            seed=seed,
            sources=records,
            origins=origins,
            published=published,
            prices=prices,
            sample=sample,
            on_record=advance,
            on_failure=failures.append,
        )
    if report is not None:
        try:
            paths = result.write(report, examples=examples)
        except OSError as error:
            raise LineclsError(f"cannot write the report to {report}: {error.strerror or error}") from error
        for path in paths:
            click.echo(f"wrote {path}", err=True)
    click.echo(result.to_json() if as_json else result.to_text(), nl=False)
    if failures:
        *others, last = failures
        for error in others:
            click.echo(f"linecls: {error}", err=True)
        raise last


def _names(given: Sequence[str], endpoint: str | None) -> list[str]:
    """The systems asked for, each once, in order; commas separate too."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    if given and not names:
        raise click.BadParameter("name at least one system", param_hint="--system")
    for name in names:
        if _is_file(name):
            continue
        kind, colon, what = name.partition(":")
        if kind not in NAMES or (colon and kind not in _MAIN_OPTION):
            raise click.BadParameter(f"unknown system '{name}'; choose from: {', '.join(NAMES)}", param_hint="--system")
        if kind == "generative" and not what and endpoint is None:
            raise click.BadParameter(f"'{kind}' needs the address of a server: --endpoint URL", param_hint="--system")
        if kind in _MAIN_OPTION and kind not in ("linecls", "generative") and not what:
            shown = "URL" if _MAIN_OPTION[kind] == "endpoint" else "MODEL"
            raise click.BadParameter(f"'{kind}' needs more: --system {kind}:{shown}", param_hint="--system")
    return list(dict.fromkeys(names)) or ["linecls", *HEURISTICS]


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _prices(token_price: str | None, hour_price: float | None) -> Prices | None:
    """The prices given, None where there are none."""
    from linecls.evaluation import Prices

    if token_price is None:
        return None if hour_price is None else Prices(hour=hour_price)
    try:
        prompt, completion = (float(part) for part in token_price.split(","))
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise click.BadParameter("it must be two prices, as 0.15,0.60", param_hint="--token-price")
    return Prices(prompt, completion, hour_price)


def _make_folder(folder: Path) -> None:
    """Before the work, so that a report is not lost to a folder that cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LineclsError(f"cannot make the report folder {folder}: {error.strerror}") from error


def _load(
    sources: Sequence[str], split: str | None, limit: int | None, max_chars: int | None, seed: int
) -> tuple[list[Record], list[str], str | None]:
    """The records, the file that each comes from, and how they were drawn; files of one name get a number."""
    from linecls.records import load_records, require_queries

    loaded: list[tuple[Record, str]] = []
    seen: Counter[str] = Counter()
    for source in sources:
        name = Path(source).name
        seen[name] += 1
        label = name if seen[name] == 1 else f"{name} #{seen[name]}"
        found = load_records(source, split=split)
        require_queries(found, label)
        loaded += ((record, label) for record in found)
    where = ", ".join(sources)
    if not loaded:
        raise LineclsError(f"{where}: no records")
    total, told = len(loaded), []
    if max_chars is not None:
        loaded = [pair for pair in loaded if len(pair[0].tool_output) <= max_chars]
        if not loaded:
            raise LineclsError(f"{where}: no record's output has {max_chars} characters or fewer; raise --max-chars")
        told.append(f"only outputs of at most {max_chars:,} characters ({len(loaded)} of {total} records)")
    if limit is not None and limit < len(loaded):
        told.append(f"a random sample of {limit} of {len(loaded)}, seed {seed}")
        chosen = sorted(random.Random(seed).sample(range(len(loaded)), limit))
        loaded = [loaded[i] for i in chosen]
    return [record for record, _ in loaded], [label for _, label in loaded], "; ".join(told) or None


def _create(name: str, options: dict[str, Any]) -> System:
    """A system with the options of the command line that are its own."""
    cache = options["cache"] or default_cache()
    if _is_file(name):
        return from_file(name, cache=cache)
    kind, _, what = name.partition(":")
    own: dict[str, Any] = {}
    if kind == "linecls":
        own = {key: options[key] for key in ("model", "device", "threads", "bias", "operating_point")}
    elif kind == "generative":
        own = {key: options[key] for key in ("endpoint", "prompt", "concurrency")}
        own["model"] = options["endpoint_model"]
    elif kind == "local":
        own = {"prompt": options["prompt"]}
    if kind in GENERATIVE:
        own["cache"] = cache
    return create(kind, **(own | ({_MAIN_OPTION[kind]: what} if what else {})))


def _systems(names: Sequence[str], options: dict[str, Any]) -> list[System]:
    """The systems by the names given; of several of one kind all but the first also get what they were made of."""
    made: list[System] = []
    for name in names:
        system: Any = _create(name, options)
        what = name.partition(":")[2]
        if what and not _is_file(name) and any(system.name == other.name for other in made):
            system.name = f"{system.name} {what.rstrip('/').rpartition('/')[2]}"
        made.append(system)
    doubles = [name for name, count in Counter(system.name for system in made).items() if count > 1]
    if doubles:
        raise LineclsError(f"two systems are called '{doubles[0]}'; give one another name in a file: 'name: …'")
    return made


@contextmanager
def _progress(systems: Sequence[System], records: int) -> Iterator[Callable[[str], object] | None]:
    """A bar on stderr where somebody looks at it, a line now and then elsewhere."""
    if sys.stderr is None:
        yield None
        return
    if not sys.stderr.isatty():
        count = Count(len(systems) * records, "answers")
        yield lambda name: count.advance(label=name)
        return
    with click.progressbar(length=len(systems) * records, file=sys.stderr) as bar:

        def advance(name: str) -> None:
            bar.label = name
            bar.update(1)

        yield advance
