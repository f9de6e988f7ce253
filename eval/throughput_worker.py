"""One system in a process of its own: loads once, then runs a round over all pairs each time it is told to.

Started by throughput.py. Reads one command per line on standard input, answers with one line of JSON:
`run` -> {"seconds": total, "latencies": [seconds per observation]}, `peak` -> {"mib": peak resident memory}.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Pair = tuple[str, str]
Round = Callable[[list[Pair]], tuple[float, list[float]]]


def main() -> None:
    system, settings = sys.argv[1], json.loads(sys.argv[2])
    pairs = load_pairs(Path(settings["pairs"]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    before = time.perf_counter()
    run = SYSTEMS[system](settings)
    loaded = time.perf_counter() - before
    if system == "torch_compile":  # compiling is no part of any round
        run(pairs)
    else:
        run(pairs[:3])
    print(json.dumps({"load_seconds": loaded}), file=answers, flush=True)
    for command in sys.stdin:
        if command.strip() == "run":
            seconds, latencies = run(pairs)
            answer: dict[str, Any] = {"seconds": seconds, "latencies": latencies}
        else:
            answer = {"mib": peak_memory()}
        print(json.dumps(answer), file=answers, flush=True)


def peak_memory() -> float:
    """Peak resident memory of this process in MiB. getrusage would count what was inherited from the parent at the
    fork, so the kernel's own mark is read where there is one."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_pairs(path: Path) -> list[Pair]:
    """The (query, observation) pairs that throughput.py chose."""
    return [tuple(pair) for pair in json.loads(gzip.decompress(path.read_bytes()))]


def one_by_one(prune: Callable[[str, str], object]) -> Round:
    """A round of a system that has no stream: its throughput is that of single calls."""

    def run(pairs: list[Pair]) -> tuple[float, list[float]]:
        latencies = []
        for query, observation in pairs:
            before = time.perf_counter()
            prune(query, observation)
            latencies.append(time.perf_counter() - before)
        return sum(latencies), latencies

    return run


def linecls_system(variant: str) -> Callable[[dict[str, Any]], Round]:
    def build(settings: dict[str, Any]) -> Round:
        from linecls.pruner import Pruner

        pruner = Pruner.from_pretrained(
            settings["model"], device=settings["device"], threads=settings["threads"], variant=variant
        )

        single = one_by_one(pruner.prune)

        def run(pairs: list[Pair]) -> tuple[float, list[float]]:
            pruner.forget()  # no pass may live on what the one before has encoded
            before = time.perf_counter()
            for _ in pruner.prune_many(pairs):
                pass
            spent = time.perf_counter() - before
            pruner.forget()
            return spent, single(pairs)[1]

        return run

    return build


def torch_system(compiled: bool) -> Callable[[dict[str, Any]], Round]:
    """The torch twin of the network, one observation per call: tokenising, features and network, no decoding."""

    def build(settings: dict[str, Any]) -> Round:
        import torch

        from linecls.exporting import load_checkpoint
        from linecls.model.pooling import to_tensors

        torch.set_num_threads(settings["threads"])
        device = "cuda" if settings["device"].startswith("cuda") else "cpu"
        checkpoint = load_checkpoint(settings["checkpoint"])
        encoder = checkpoint.encoder
        model: Any = checkpoint.model.to(device)
        if compiled:
            model = torch.compile(model, dynamic=True)

        def prune(query: str, observation: str) -> None:
            with torch.inference_mode():
                for batch in batches(encoder, query, observation):
                    keep, _ = model(**{name: tensor.to(device) for name, tensor in to_tensors(batch).items()})
                    keep.cpu()

        return one_by_one(prune)

    return build


def batches(encoder: Any, query: str, observation: str) -> Iterator[dict[str, Any]]:
    """What the network reads of one pair, segment by segment."""
    from linecls.encoding import Pair as EncodedPair
    from linecls.encoding import collate
    from linecls.observation import Observation

    encoded = encoder.query(query)
    for segment in encoder.segments(Observation.of(observation)):
        if len(segment.ids):
            windows = encoder.windows(segment, encoded)
            yield collate([EncodedPair(encoded, segment, windows, encoder.features(segment, encoded))])


def squeez_system(settings: dict[str, Any]) -> Round:
    """The pooled encoder of the squeez package, as its extractor runs it."""
    import torch
    from squeez.inference.extractor import ToolOutputExtractor

    torch.set_num_threads(settings["threads"])
    extractor = ToolOutputExtractor(model_path=settings["squeez_model"], device=settings["device"].partition(":")[0])
    return one_by_one(lambda query, observation: extractor.extract(task=query, tool_output=observation))


def endpoint_system(settings: dict[str, Any]) -> Round:
    """A generative model behind an OpenAI-compatible server, asked by the squeez client with its own prompt."""
    from squeez.inference.extractor import ToolOutputExtractor

    extractor = ToolOutputExtractor(base_url=settings["endpoint"], model_name=settings["endpoint_model"])
    return one_by_one(
        lambda query, observation: extractor.extract(task=query, tool_output=observation, temperature=0.0)
    )


SYSTEMS: dict[str, Callable[[dict[str, Any]], Round]] = {
    "linecls_int8": linecls_system("int8"),
    "linecls_fp16": linecls_system("fp16"),
    "linecls_fp32": linecls_system("fp32"),
    "torch_eager": torch_system(compiled=False),
    "torch_compile": torch_system(compiled=True),
    "squeez_pooled": squeez_system,
    "endpoint": endpoint_system,
}


if __name__ == "__main__":
    main()
