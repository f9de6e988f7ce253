"""Runs of small test suites and scripts with planted faults: pytest, unittest, coverage, tracebacks.

Every project is written from fragments: a function with a good and a bad form (`<<good||bad>>`), a test of
it, and queries that describe what goes wrong when the bad form stands. The tools are really run.
"""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page
from linecls.records import Record

NAME = "test_runs"

NOUNS = kit.parse_vocabulary(kit.catalogue_text("test_runs_nouns"))


@dataclass
class Fragment:
    """A function with a planted fault, its test and the queries about the failure."""

    name: str
    code: str = ""
    test: str = ""
    queries: list[str] = field(default_factory=list)
    filled: bool = False


def _fragments(text: str) -> list[Fragment]:
    found: list[Fragment] = []
    section = ""
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(Fragment(line[2:].strip()))
            section = ""
        elif line in ("@code", "@test"):
            section = line[1:]
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif section == "code":
            found[-1].code += line + "\n"
        elif section == "test":
            found[-1].test += line + "\n"
    return found


FRAGMENTS = _fragments(kit.catalogue_text("test_runs_fragments"))

_HEADER = """import hashlib, json, logging, os, re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from urllib.parse import quote

log = logging.getLogger(__name__)

"""
_PICK = re.compile(r"<<(.*?)\|\|(.*?)>>", re.S)


_SIGN = re.compile(r"<<(<=?)(.*?)\|\|(<=?)(.*?)>>")  # a choice that begins with a comparison sign


def _choose(code: str, bad: bool) -> str:
    """The good or the bad form of a fragment; a line that its choice leaves empty goes."""
    lines = []
    for line in code.split("\n"):
        signed = _SIGN.sub(lambda m: m.group(3) + m.group(4) if bad else m.group(1) + m.group(2), line)
        done = _PICK.sub(lambda m: m.group(2) if bad else m.group(1), signed).rstrip()
        if done or not line.strip():
            lines.append(done)
    return "\n".join(lines)


@dataclass
class Planted:
    """A fragment in a project: the noun, whether it is faulty, the test's name and file."""

    fragment: Fragment
    noun: str
    words: str
    bad: bool
    test: str
    module: str


def _fill(text: str, noun: str, words: str) -> str:
    return text.replace("{t_p}", words).replace("{t}", noun).replace("{T}", noun.title()).replace("{U}", noun.upper())


def _plan(rng: random.Random, faults: int, passing: int, modules: int) -> list[Planted]:
    nouns = rng.sample(NOUNS, modules)
    chosen = rng.sample(FRAGMENTS, min(len(FRAGMENTS), faults + passing))
    planted = []
    for index, fragment in enumerate(chosen):
        noun, words = rng.choice(nouns)
        match = re.search(r"def (test_\w+)", _fill(fragment.test, noun, ""))
        assert match is not None
        planted.append(Planted(fragment, noun, rng.choice(words), index < faults, match.group(1), noun))
    rng.shuffle(planted)
    return planted


_ASSERTIONS = [
    (re.compile(r"^def (test_\w+)\(\)"), r"def \1(self)"),
    (re.compile(r"pytest\.raises"), "self.assertRaises"),
    (re.compile(r"assert (.+) == (.+)$"), r"self.assertEqual(\1, \2)"),
    (re.compile(r"assert not (.+)$"), r"self.assertFalse(\1)"),
    (re.compile(r"assert (.+) not in (.+)$"), r"self.assertNotIn(\1, \2)"),
    (re.compile(r"assert (.+)$"), r"self.assertTrue(\1)"),
]


def _unittest(test: str) -> str:
    """A pytest function as a method of a unittest case."""
    text = test.rstrip("\n")
    for pattern, replacement in _ASSERTIONS:
        text = "\n".join(pattern.sub(replacement, line) for line in text.split("\n"))
    return "".join(f"    {line}\n" for line in text.split("\n"))


_EXTRAS = [
    (
        "skip",
        '@pytest.mark.skip(reason="{reason}")\ndef test_{t}_{word}():\n    assert False\n',
        [
            "Which check was left out, and with what justification?",
            "Why was a test not executed?",
            "something was deliberately not run; the reason",
            "Show what pytest passed over.",
        ],
    ),
    (
        "xfail",
        '@pytest.mark.xfail(reason="{reason}")\ndef test_{t}_{word}():\n    assert 1 == 2\n',
        [
            "Which known weakness is tolerated for now?",
            "a failure that was expected anyway",
            "Is any test allowed to fail, and why?",
        ],
    ),
    (
        "fixture",
        '@pytest.fixture\ndef {t}_{word}():\n    raise RuntimeError("{reason}")\n\n\ndef test_with_{t}_{word}({t}_{word}):\n    assert {t}_{word}\n',
        [
            "Which test never began because its preparation broke?",
            "a test's set-up went wrong; show that error",
            "Error while building what a test needs, not in the test itself",
        ],
    ),
    (
        "warn",
        'def test_{t}_{word}():\n    import warnings\n    warnings.warn("{reason}", DeprecationWarning)\n',
        [
            "What did pytest warn about?",
            "Which test uses something that will be taken away?",
            "Is there an outdated call that still works?",
        ],
    ),
]
_REASONS = [
    "needs the staging server",
    "see ticket 4812",
    "flaky on slow disks",
    "only on Windows",
    "waits for the new driver",
    "broken since the last upgrade",
    "no licence on this machine",
    "old calling convention",
    "takes half an hour",
    "the sandbox has no sound card",
    "pending review by finance",
]


def _write(
    root: Path, planted: list[Planted], package: str, rng: random.Random, style: str
) -> list[tuple[str, str, list[str]]]:
    """Write the project; returns what extra tests were planted as (kind, name or reason, queries)."""
    (root / package).mkdir()
    (root / package / "__init__.py").write_text("")
    (root / "tests").mkdir()
    if style == "unittest":
        (root / "tests" / "__init__.py").write_text("")
    extras: list[tuple[str, str, list[str]]] = []
    by_module: dict[str, list[Planted]] = {}
    for item in planted:
        by_module.setdefault(item.module, []).append(item)
    taken: set[str] = set()
    reasons = rng.sample(_REASONS, len(_EXTRAS))
    for module, items in by_module.items():
        code, tests = (
            _HEADER,
            "import json\nimport pytest\n" if style == "pytest" else "import json\nimport unittest\n",
        )
        tests += f"from {package}.{module} import *\n\n\n"
        if style == "unittest":
            tests += f"class {module.title()}Tests(unittest.TestCase):\n"
        for item in items:
            code += _fill(_choose(item.fragment.code, item.bad), item.noun, "").rstrip("\n") + "\n\n\n"
            body = _fill(item.fragment.test, item.noun, "").rstrip("\n") + "\n"
            tests += (body + "\n\n") if style == "pytest" else _unittest(body) + "\n"
        if style == "pytest" and rng.random() < 0.5:
            kind, source, queries = rng.choice(_EXTRAS)
            if kind not in taken:
                taken.add(kind)
                reason, word = reasons.pop(), kit.MAKERS["word"](rng)
                tests += source.replace("{reason}", reason).replace("{word}", word).replace("{t}", module)
                extras.append((kind, reason if kind != "fixture" else f"test_with_{module}_{word}", queries))
        (root / package / f"{module}.py").write_text(code, encoding="utf-8")
        (root / "tests" / f"test_{module}.py").write_text(tests, encoding="utf-8")
    return extras


def run(
    command: list[str],
    cwd: Path,
    rng: random.Random,
    home: str,
    *,
    env: dict[str, str] | None = None,
    timeout: float = 60,
) -> str:
    """Output of a command (both streams) with paths, addresses and durations made independent of the machine."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(cwd),
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **(env or {}),
    }
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return scrub(done.stdout.decode("utf-8", "replace"), cwd, rng, home)


def scrub(text: str, cwd: Path, rng: random.Random, home: str) -> str:
    """Replace the scratch folder, interpreter folders, addresses and durations by values drawn from `rng`."""
    text = text.replace(str(cwd.resolve()), home).replace(str(cwd), home)
    text = re.sub(r"(?:/[\w.+-]+)+/lib/python3\.(\d+)/", r"/usr/lib/python3.\1/", text)
    text = re.sub(r"/\S*/bin/python[\d.]*", f"{home}/.venv/bin/python", text)
    seen: dict[str, str] = {}
    text = re.sub(r"0x7[0-9a-f]{11}", lambda m: seen.setdefault(m.group(), f"0x7f{rng.getrandbits(40):010x}"), text)
    text = re.sub(r"\b(in |took )\d+\.\d+ ?s", lambda m: f"{m.group(1)}{rng.uniform(0.05, 4):.2f}s", text)
    text = re.sub(r"(Ran \d+ tests? in )[\d.]+s", lambda m: f"{m.group(1)}{rng.uniform(0.002, 1):.3f}s", text)
    return text.rstrip("\n")


def _blocks(page: Page, style: str) -> dict[str, tuple[int, int]]:
    """Failure blocks by test name: from the header to the last non-blank line before the next header."""
    blocks: dict[str, tuple[int, int]] = {}
    if style == "pytest":
        head, stop = (
            re.compile(r"^_{3,} (?:ERROR at setup of )?([\w.\[\]-]+) _{3,}$"),
            re.compile(r"^(=+ .* =+|_{3,} .* _{3,}|-+ coverage.*)$"),
        )
    else:
        head, stop = re.compile(r"^(?:FAIL|ERROR): (test_\w+) "), re.compile(r"^(={60,}|Ran \d+ tests?.*)$")
    for number, line in enumerate(page.lines, 1):
        match = head.match(line)
        if not match:
            continue
        end = number
        while end < len(page.lines) and not stop.match(page.lines[end]):
            end += 1
        while end > number and (not page.lines[end - 1].strip() or set(page.lines[end - 1]) == {"-"}):
            end -= 1
        blocks[match.group(1).split(".")[-1]] = (number, end)
    return blocks


def _suite(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    style = "pytest" if rng.random() < 0.75 else "unittest"
    planted = _plan(rng, rng.randint(3, 7), rng.randint(3, 22), rng.randint(3, 7))
    package = rng.choice(["core", "app", "domain", "lib", "service", "engine"]) + rng.choice(["", "kit", "base", "_x"])
    home = f"/home/user/src/{package}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        extras = _write(root, planted, package, rng, style)
        if style == "pytest":
            flags = [
                rng.choice(["-q", "-v", "", "-vv"]),
                rng.choice(["--tb=short", "--tb=short", "--tb=long", "--tb=line", "--tb=native", "--tb=auto"]),
                rng.choice(["", "-rA", "-ra", "-rfEs"]),
            ]
            arguments = [f for f in flags if f]
            output = run([python, "-m", "pytest", "-p", "no:cacheprovider", *arguments], root, rng, home)
            command = (
                " ".join(["python -m pytest", *arguments])
                if rng.random() < 0.6
                else " ".join(["pytest", *arguments, "tests"])
            )
        else:
            arguments = rng.choice([["-v"], [], ["-v", "-b"]])
            output = run([python, "-m", "unittest", "discover", "-s", "tests", "-t", ".", *arguments], root, rng, home)
            command = " ".join(["python -m unittest discover -s tests", *arguments])
    page = Page()
    if output:
        page.say(output)
    labels: list[Label] = []
    blocks = _blocks(page, style)
    faulty = [item for item in planted if item.bad]
    rng.shuffle(faulty)
    for item in faulty[:5]:
        key = item.test
        if item.test in blocks:
            page.mark(key, *blocks[item.test])
        else:
            number = _line_of(page, item)
            if number:
                page.mark(key, number)
        query = kit.vary(rng, _fill(rng.choice(item.fragment.queries), item.noun, item.words))
        labels.append(Label(query, key, f"{style}_{item.fragment.name}"))
    good = [item for item in planted if not item.bad]
    for item in good[:2]:
        number = page.find(item.test, "PASSED") or page.find(item.test, "... ok")
        if number and page.find(item.test, start=number + 1) == 0 and rng.random() < 0.5:
            page.mark("ok_" + item.test, number)
            words = re.sub(r"_", " ", item.test.removeprefix("test_")).replace(item.noun, item.words)
            labels.append(
                Label(
                    rng.choice(
                        [
                            "Did the check '{w}' go through?",
                            "Is '{w}' all right now?",
                            "outcome of the check on {w}",
                        ]
                    ).replace("{w}", words),
                    "ok_" + item.test,
                    f"{style}_passed",
                )
            )
    for kind, needle, queries in extras:
        key = "x_" + kind
        if kind == "fixture" and needle in blocks:
            page.mark(key, *blocks[needle])
        elif kind in ("skip", "xfail"):
            number = page.find(needle, "SKIP" if kind == "skip" else "XFAIL")
            if number:
                page.mark(key, number)
        elif kind == "warn":
            number = page.find("DeprecationWarning: " + needle)
            if number:
                page.mark(key, max(1, number - 1), min(len(page.lines), number + 1))
        labels.append(Label(rng.choice(queries), key, f"{style}_{kind}")) if key in page.marks else None
    if page.lines and rng.random() < 0.2:
        page.mark("total", len(page.lines))
        labels.append(
            Label(
                rng.choice(
                    [
                        "How many went wrong altogether?",
                        "overall result of the run",
                        "What is the final tally?",
                    ]
                ),
                "total",
                f"{style}_total",
            )
        )
    used = {item.fragment.name for item in planted}
    if labels and rng.random() < 0.35 and (easy := kit.lexical(rng, page, rng.choice(labels).key or "")):
        labels.append(easy)
    failing = {item.fragment.name for item in faulty}
    free = [f for f in FRAGMENTS if f.name not in used and not _similar(f.name, failing)]
    if (absent := kit.pick(rng, free)) is not None and rng.random() < 0.72:
        noun, words = rng.choice(NOUNS)
        query = kit.vary(rng, _fill(rng.choice(absent.queries), noun, rng.choice(words)))
        labels.append(Label(query, None, f"{style}_absent_{absent.name}"))
    yield from kit.records(
        page,
        labels,
        tool_type="test_output",
        command=command,
        family=NAME,
        project=f"{package}-{index % 30}",
        ident=f"test_output-{index}-{rng.getrandbits(32):08x}",
        package=style,
    )


_ALIKE = [
    {"off_by_one", "inclusive", "pagination"},
    {"sort_order", "dedupe"},
    {"rounding", "float_eq", "percent", "unit", "clamp"},
    {"mutable_default", "aliasing", "global_state", "cache_stale", "merge"},
    {"none_return", "empty_mean", "recursion", "iterator", "count_words", "log_message"},
    {"key_error", "import_name", "attribute", "env"},
    {"wrong_exception", "no_exception"},
    {"case", "whitespace"},
    {"timezone", "parse_date", "parse_crash", "leap"},
    {"encoding", "url", "html", "parse_crash"},
    {"arg_count", "type_mix", "frozen"},
    {"negation", "inclusive"},
    {"json_shape", "regex", "count_words"},
    {"plural", "case"},
    {"ctx", "no_exception"},
]


def _similar(name: str, others: set[str]) -> bool:
    return any(name in group and group & others for group in _ALIKE)


def _line_of(page: Page, item: Planted) -> int:
    """The one line that tells of a failure when no block is printed (--tb=line, --tb=no)."""
    for needle in (f"::{item.test} - ", f"::{item.test} FAILED"):
        number = page.find(needle)
        if number:
            return number
    return 0


@dataclass
class _Crash:
    name: str
    body: str
    queries: list[str]


def _crashes(text: str) -> list[_Crash]:
    found: list[_Crash] = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(_Crash(line[2:].strip(), "", []))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.strip():
            found[-1].body += line + "\n"
    return found


CRASHES = _crashes(kit.catalogue_text("test_runs_crashes"))
_ACTS = {
    "load": "reading in", "collect": "gathering", "prepare": "getting ready", "convert": "changing the form of",
    "check": "examining", "render": "drawing", "publish": "making public", "apply": "putting into effect",
    "sync": "bringing into line", "export": "handing out", "scan": "looking through", "compare": "contrasting",
    "merge": "joining", "index": "making findable", "store": "putting away",
}  # fmt: skip
_COUNTS = (
    "How many pieces came out of {act} the {words} data?",
    "yield of {act} anything about a {words}",
    "Did {act} the {words} things produce something?",
    "What number was reported after {act} the {words} data?",
)
_STEPS = [
    "load",
    "collect",
    "prepare",
    "convert",
    "check",
    "render",
    "publish",
    "apply",
    "sync",
    "export",
    "scan",
    "compare",
    "merge",
    "index",
    "store",
]


def _script(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    chosen = rng.sample(CRASHES, rng.randint(3, 6))
    quiet = rng.randint(3, 12)
    steps: list[tuple[str, _Crash | None]] = [(c.name, c) for c in chosen]
    steps += [(f"ok{i}", None) for i in range(quiet)]
    rng.shuffle(steps)
    if rng.random() < 0.5:  # the last crash is not caught
        last = next(i for i in range(len(steps) - 1, -1, -1) if steps[i][1] is not None)
        steps = [*steps[:last], *steps[last + 1 :], steps[last]]
        uncaught = True
    else:
        uncaught = False
    style = rng.choice(["print_exc", "logging", "format"])
    lines = [
        "import logging",
        "import sys",
        "import traceback",
        "",
        'logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")'
        if rng.random() < 0.5
        else 'logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(name)s %(levelname)-8s %(message)s")',
        f'log = logging.getLogger("{rng.choice(["runner", "batch", "pipeline", "harvest", "nightly"])}")',
        "",
    ]
    calls: list[str] = []
    asked: list[tuple[str, _Crash, kit.Slots]] = []
    quiet_steps: list[tuple[str, str, list[str]]] = []
    for number, (_, crash) in enumerate(steps):
        noun, words = rng.choice(NOUNS)
        slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words), "T": noun.title()})
        step = f"{rng.choice(_STEPS)}_{noun}_{number}"
        if crash is None:
            quiet_steps.append((step, noun, words))
            lines += [
                f"def {step}():",
                f"    for n in range({rng.randint(1, 7)}):",
                f'        log.{rng.choice(["info", "debug"])}("{noun} %d {rng.choice(["done", "read", "is fine", "checked"])}", n)',
                f'    print("{step}: {rng.randint(2, 900)} entries")',
                "",
                "",
            ]
        else:
            depth = rng.randint(0, 3)
            inner = step if depth == 0 else f"_{rng.choice(_STEPS)}_{noun}_{number}_0"
            body = re.sub(r"\{(t|T|word|n|nn|nnn|nnnn|sec)\}", lambda m, s=slots: s[m.group(1)], crash.body)
            lines += [f"def {inner}():", *body.rstrip("\n").split("\n"), "", ""]
            for level in range(1, depth + 1):
                name = step if level == depth else f"_{rng.choice(_STEPS)}_{noun}_{number}_{level}"
                lines += [
                    f"def {name}():",
                    f'    log.debug("{rng.choice(["enter", "begin", "working on"])} {noun}")',
                    f"    return {inner}()",
                    "",
                    "",
                ]
                inner = name
            asked.append((step, crash, slots))
        calls.append(step)
    lines += [
        "def main():",
        f"    steps = [{', '.join(calls)}]",
        "    for step in steps:",
        f'        print("{rng.choice(["--", "step", "#", ">>"])}", step.__name__, flush=True)',
    ]
    if uncaught:
        lines += ["        if step is steps[-1]:", "            step()", "            break"]
    report = {
        "print_exc": "traceback.print_exc()",
        "logging": 'log.exception("step %s failed", step.__name__)',
        "format": 'print("!", "".join(traceback.format_exc()))',
    }[style]
    lines += [
        "        try:",
        "            step()",
        "        except Exception:",
        f"            {report}",
        "",
        "",
        "main()",
        "",
    ]
    script = rng.choice(["run", "batch", "nightly", "sync", "main", "pipeline"]) + ".py"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / script).write_text("\n".join(lines), encoding="utf-8")
        output = run([python, script], root, rng, "/home/user/src/jobs")
    page = Page()
    if output:
        page.say(output)
    labels: list[Label] = []
    headers = {step: page.find(f" {step}") for step, _, _ in asked}
    for step, crash, slots in asked:
        start = page.find("Traceback", start=headers[step]) or page.find("Exception Group", start=headers[step])
        if not start:
            continue
        later = [
            page.find(f" {name}", start=start + 1) for name in calls[calls.index(step) + 1 : calls.index(step) + 2]
        ]
        stop = next((number for number in later if number), len(page.lines) + 1) - 1
        while stop > start and not page.lines[stop - 1].strip():
            stop -= 1
        if stop - start > 40:
            continue
        page.mark(step, start, stop)
        labels.append(Label(kit.vary(rng, slots.fill(rng.choice(crash.queries))), step, f"traceback_{crash.name}"))
    for step, noun, words in rng.sample(quiet_steps, min(2, len(quiet_steps))):
        number = page.find(f"{step}: ")
        if number and sum(noun in other for other, _, _ in quiet_steps) == 1:
            page.mark(step, number)
            act = _ACTS[step.split("_", maxsplit=1)[0]]
            query = rng.choice(_COUNTS).replace("{act}", act).replace("{words}", rng.choice(words))
            labels.append(Label(kit.vary(rng, query), step, "script_count"))
    used = {c.name for c in chosen}
    alike = set().union(*(group for group in _CRASH_ALIKE if group & used), used)
    if (lacking := kit.pick(rng, [c for c in CRASHES if c.name not in alike])) and rng.random() < 0.75:
        noun, words = rng.choice(NOUNS)
        slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words)})
        query = kit.vary(rng, slots.fill(rng.choice(lacking.queries)))
        labels.append(Label(query, None, f"traceback_absent_{lacking.name}"))
    yield from kit.records(
        page,
        labels,
        tool_type="python",
        command=f"python {script}",
        family=NAME,
        project=f"jobs-{index % 30}",
        ident=f"python-{index}-{rng.getrandbits(32):08x}",
        package="python",
    )


_CRASH_ALIKE = [
    {"key", "index", "during", "stop", "attr"},
    {"attr", "none", "name", "unbound", "import"},
    {"types", "value", "decimal", "iter", "chained_config", "json"},
    {"args", "kwarg"},
    {"decode", "encode", "json"},
    {"unpack", "unpack_few", "struct"},
    {"hash", "frozen", "types", "iter"},
    {"zero", "overflow", "domain"},
    {"file", "during", "perm"},
    {"timeout", "connection"},
    {"enum", "key", "value", "date"},
    {"group", "chained_config", "during"},
]


def _coverage(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    planted = _plan(rng, 0, rng.randint(24, 44), rng.randint(16, 40))
    package = rng.choice(["core", "app", "domain", "lib"]) + rng.choice(["", "kit", "base"])
    home = f"/home/user/src/{package}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, planted, package, rng, "unittest")
        modules = sorted({item.module for item in planted})
        bare = rng.sample([entry for entry in NOUNS if entry[0] not in modules], 1)
        for noun, _ in bare:
            (root / package / f"{noun}.py").write_text(
                _HEADER + f"def {noun}_count(items):\n    if not items:\n        return 0\n    return len(items)\n",
                encoding="utf-8",
            )
        asked = {}
        for module in modules:
            extra = rng.randint(0, 14)
            source = (root / package / f"{module}.py").read_text(encoding="utf-8")
            for n in range(extra):
                source += f"\n\ndef {rng.choice(_STEPS)}_{module}_{n}(value):\n    if value > {rng.randint(1, 99)}:\n        return {rng.randint(1, 9)}\n    return value + {n}\n"
            (root / package / f"{module}.py").write_text(source, encoding="utf-8")
            asked[module] = extra
        branch = rng.random() < 0.5
        run(
            [
                python,
                "-m",
                "coverage",
                "run",
                *(["--branch"] if branch else []),
                f"--source={package}",
                "-m",
                "unittest",
                "discover",
                "-s",
                "tests",
                "-t",
                ".",
            ],
            root,
            rng,
            home,
        )
        missing = rng.random() < 0.7
        output = run([python, "-m", "coverage", "report", *(["-m"] if missing else [])], root, rng, home)
    page = Page()
    if output:
        page.say(output)
    words = dict(NOUNS)
    rows = {m: page.find(f"{package}/{m}.py") for m in [*modules, bare[0][0]]}
    percent = {
        m: int(found.group(1)) for m, n in rows.items() if n and (found := re.search(r"(\d+)%", page.lines[n - 1]))
    }
    labels: list[Label] = []
    if len(percent) < 4:
        return

    def ask(module: str, *queries: str) -> None:
        page.mark(module + queries[0], rows[module])
        labels.append(Label(kit.vary(rng, rng.choice(queries)), module + queries[0], "coverage"))

    if percent.get(bare[0][0]) == 0:
        ask(
            bare[0][0],
            "Which part was never touched by any test?",
            "code that no check ever loads",
            "a module nobody exercised at all",
        )
    ranked = sorted((p, m) for m, p in percent.items() if p > 0)
    if ranked[0][0] < ranked[1][0]:
        ask(
            ranked[0][1],
            "Among what was run at all, what is tested worst?",
            "the weakest file that has at least some tests",
            "lowest share of executed statements apart from zero",
        )
    full = [m for m, p in percent.items() if p == 100]
    if 0 < len(full) <= 4:
        for m in full:
            page.mark("full", rows[m])
        labels.append(
            Label(
                kit.vary(
                    rng,
                    rng.choice(
                        [
                            "Which files have nothing left to cover?",
                            "everything executed: which ones?",
                            "completely exercised modules",
                        ]
                    ),
                ),
                "full",
                "coverage",
            )
        )
    for m in rng.sample(
        [m for m in modules if percent.get(m, 100) < 100],
        k=min(2, sum(percent.get(m, 100) < 100 for m in modules)),
    ):
        w = rng.choice(words[m])
        ask(
            m,
            f"How well is the code about a {w} exercised?",
            f"Which statements of the {w} part did no test reach?" if missing else f"share of the {w} code that ran",
            f"figures for whatever handles a {w}",
        )
    page.mark("total", page.find("TOTAL"))
    if rng.random() < 0.3:
        labels.append(
            Label(
                rng.choice(["How much of the whole project ran?", "the overall figure", "sum over all files"]),
                "total",
                "coverage",
            )
        )
    if rng.random() < 0.5:
        noun, other = rng.choice([e for e in NOUNS if e[0] not in rows])
        labels.append(
            Label(
                kit.vary(rng, f"How well is the code about a {rng.choice(other)} exercised?"),
                None,
                "coverage_absent",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="coverage",
        command="coverage report" + (" -m" if missing else ""),
        family=NAME,
        project=f"{package}-{index % 30}",
        ident=f"coverage-{index}-{rng.getrandbits(32):08x}",
        package="coverage",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of real test runs, coverage reports and tracebacks.

    Options: `observations`, the most outputs to make, `python`: an interpreter that has pytest and coverage (default: this one).
    """
    python = kit.program(options, "python", sys.executable)
    makers = [_suite, _suite, _suite, _script, _script, _coverage]
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        yield from local.choice(makers)(local, index, python)
