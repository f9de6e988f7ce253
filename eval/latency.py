"""What `linecls prune` costs on the command line, cold and with the resident process, beside the model's own time.

    python eval/latency.py                # a table
    python eval/latency.py --limit 60     # exit status 1 when the warm way costs more than 60 ms above the model

The model's time is that of `Pruner.prune` in a process that has it loaded. Cold is `linecls prune --no-daemon`; warm
is `linecls prune` while `linecls daemon` runs, in a private directory of this script's own. The three take turns, so
that a busy machine slows all of them. The caller's processor time is that of the process `linecls prune` alone,
user and system; it is what remains of the cost when nothing else runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from load_test import PHRASES, QUERIES

SIZES = (20, 200, 1000)  # lines


def output(lines: int) -> bytes:
    """Output of so many lines with one that answers in the middle; the same every time."""
    made = [PHRASES[i % len(PHRASES)].format(i, 7 * i % 1000) for i in range(lines)]
    made[lines // 2] = QUERIES[0][1]
    return ("\n".join(made) + "\n").encode()


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Time on the clock and on the processor of one command."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--limit", type=float, help="milliseconds that the warm way may cost above the model")
    options = parser.parse_args()
    from linecls import provenance
    from linecls.pruner import Pruner

    program = str(Path(sys.executable).with_name("linecls"))
    pruner = Pruner.from_pretrained()
    query = QUERIES[0][0]
    worst = 0.0
    print("| lines | model ms | cold ms | warm ms | warm above the model, ms | caller's processor ms |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="lc") as folder:
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        environment.pop("LINECLS_DAEMON", None)
        subprocess.run([program, "daemon", "start"], env=environment, check=True, stdout=subprocess.DEVNULL)
        try:
            for size in SIZES:
                raw = output(size)
                log = Path(folder) / "log"
                log.write_bytes(raw)
                warm_command = [program, "prune", query, str(log)]
                model, cold, warm, used = [], [], [], []
                seconds(warm_command, environment)
                for _ in range(options.repeats):
                    begun = time.perf_counter()
                    pruner.prune(query, raw)
                    model.append(time.perf_counter() - begun)
                    cold.append(seconds([*warm_command, "--no-daemon"], environment)[0])
                    clock, processor = seconds(warm_command, environment)
                    warm.append(clock)
                    used.append(processor)
                above = statistics.median(w - m for w, m in zip(warm, model, strict=True))
                worst = max(worst, 1000 * above)
                figures = " | ".join(f"{1000 * statistics.median(times):.0f}" for times in (model, cold, warm))
                print(f"| {size} | {figures} | {1000 * above:.0f} | {1000 * statistics.median(used):.0f} |")
            answered = subprocess.run([program, "daemon", "status"], env=environment, check=True, capture_output=True)
            if f"{len(SIZES) * (options.repeats + 1)} answers" not in answered.stdout.decode():
                raise SystemExit("some of the warm calls were not answered by the resident process")
        finally:
            subprocess.run([program, "daemon", "stop"], env=environment, check=False, stdout=subprocess.DEVNULL)
    machine = f"{provenance.measured_on()}, Python {platform.python_version()}"
    print(f"\nMedians of {options.repeats}; {machine}")
    return 1 if options.limit is not None and worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
