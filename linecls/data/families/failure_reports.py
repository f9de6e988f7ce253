"""Reports in which several tests fail in different ways, as other ecosystems' runners print them.

What a query asks for is told by how a test failed, or by what it is about; the others that failed look the same. A
negative asks for a way in which none failed, or for the failure of a test that passed.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page, Slots
from linecls.records import Record

NAME = "failure_reports"


@dataclass(frozen=True)
class Kind:
    """A way to fail: the message in each ecosystem, and queries that mean this way and no other."""

    name: str
    messages: dict[str, str]
    queries: list[str]


@dataclass(frozen=True)
class Subject:
    """What a test is about: the part of the project, the test's title, and the same in other words."""

    area: str
    title: str
    told: str


@dataclass
class Test:
    """One test of a run; `kind` is None when it passed. `line` is where it stands in its file."""

    subject: Subject
    kind: Kind | None
    message: str = ""
    line: int = 1
    millis: int = 1
    trace: int = 0
    key: str = field(default="")

    @property
    def camel(self) -> str:
        """The title as a Java method."""
        first, *rest = re.findall(r"[a-z]+", self.subject.title)
        return first + "".join(word.title() for word in rest)

    @property
    def snake(self) -> str:
        """The title with underscores."""
        return "_".join(re.findall(r"[a-z]+", self.subject.title))


def parse_kinds(text: str) -> list[Kind]:
    """Entries `= name`, messages `ecosystem > text` and queries `? text`; raises ValueError for anything else."""
    kinds: list[Kind] = []
    for line in text.splitlines():
        if line.startswith("= "):
            kinds.append(Kind(line[2:], {}, []))
        elif kinds and line.startswith("? "):
            kinds[-1].queries.append(line[2:])
        elif kinds and " > " in line:
            ecosystem, _, message = line.partition(" > ")
            kinds[-1].messages[ecosystem] = message
        elif line.strip():
            raise ValueError(f"line belongs to no entry: {line!r}")
    return kinds


KINDS = parse_kinds(kit.catalogue_text("failure_kinds"))
SUBJECTS = [Subject(*line.split(" = ")) for line in kit.catalogue_text("failure_subjects").splitlines()]

# Kinds that a query for one of them might mean.
ALIKE = [
    {"timeout", "too_slow"},
    {"rounding", "one_more"},
    {"nothing_there", "none_found", "no_file", "one_more"},
    {"died", "nothing_there", "left_open"},
    {"letters", "garbled", "order"},
    {"status", "died", "taken_port"},
    {"accepted", "other_error"},
]


def _files(tests: list[Test]) -> dict[str, list[Test]]:
    found: dict[str, list[Test]] = {}
    for test in tests:
        found.setdefault(test.subject.area, []).append(test)
    return found


def _failed(tests: list[Test]) -> list[Test]:
    return [test for test in tests if test.kind]


def _tap(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say("TAP version 13", f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        name = f"{number} {test.subject.area} {test.subject.title}"
        if not test.kind:
            page.say(f"ok {name}")
            continue
        page.say(f"not ok {name}", f"  {test.message}", key=test.key)
        page.say(f"      at Context.<anonymous> (test/{test.subject.area}.test.js:{test.line}:{11})", key=test.key)
        for frame in range(test.trace):
            page.say(f"      at process.task_{frame} (node:internal/process/task_queues:{95 + frame}:5)")
    page.say(f"# tests {len(tests)}", f"# fail {len(_failed(tests))}")


def _vitest(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say("", " RUN  v3.1.4 /home/user/shop", "")
    for area, own in _files(tests).items():
        bad = _failed(own)
        count = f"({len(own)} tests | {len(bad)} failed)" if bad else f"({len(own)} tests)"
        page.say(f" {'❯' if bad else '✓'} test/{area}.test.js {count} {sum(t.millis for t in own)}ms")
        for test in own if bad else []:
            page.say(f"   {'×' if test.kind else '✓'} {area} > {test.subject.title} {test.millis}ms")
            if test.kind and rng.random() < 0.5:
                page.say(f"     → {test.message}")
    failed = _failed(tests)
    page.say("", f"{'⎯' * 7} Failed Tests {len(failed)} {'⎯' * 7}", "")
    for number, test in enumerate(failed, 1):
        area = test.subject.area
        page.say(f" FAIL  test/{area}.test.js > {area} > {test.subject.title}", test.message, key=test.key)
        page.say(f" ❯ test/{area}.test.js:{test.line}:7", key=test.key)
        for at in range(test.line - 1, test.line + 2):
            page.say(f"    {at:>3}|     {'expect(' if at == test.line else 'const step = '}{area}{at}();")
        page.say("", f"{'⎯' * 23}[{number}/{len(failed)}]⎯", "")
    page.say(f"      Tests  {len(failed)} failed | {len(tests) - len(failed)} passed ({len(tests)})")


def _mocha(page: Page, tests: list[Test], rng: random.Random) -> None:
    number = 0
    for area, own in _files(tests).items():
        page.say("", f"  {area}")
        for test in own:
            number += bool(test.kind)
            page.say(f"    {f'{number})' if test.kind else '✔'} {test.subject.title}")
    page.say("", f"  {len(tests) - number} passing ({rng.randint(20, 900)}ms)", f"  {number} failing", "")
    ordered = [test for own in _files(tests).values() for test in own if test.kind]
    for number, test in enumerate(ordered, 1):
        page.say(f"  {number}) {test.subject.area}", f"       {test.subject.title}:", key=test.key)
        page.say("", f"      {test.message}", key=test.key)
        page.say(f"      at Context.<anonymous> (test/{test.subject.area}.test.js:{test.line}:9)", key=test.key)
        for frame in range(test.trace):
            page.say(f"      at Runner.step{frame} (node_modules/mocha/lib/runner.js:{400 + 7 * frame}:{frame + 3})")
        page.say("")


def _go(page: Page, tests: list[Test], rng: random.Random) -> None:
    verbose = rng.random() < 0.6
    for area, own in _files(tests).items():
        for test in own:
            name = f"Test{test.camel[0].upper()}{test.camel[1:]}"
            if verbose:
                page.say(f"=== RUN   {name}")
            if test.kind:
                page.say(f"--- FAIL: {name} ({test.millis / 1000:.2f}s)", key=test.key)
                page.say(f"    {area}_test.go:{test.line}: {test.message}", key=test.key)
                for frame in range(test.trace):
                    page.say(
                        f"\tshop/{area}.step{frame}(0xc000{frame:03x}f40)", f"\t\t/src/shop/{area}.go:{40 + frame}"
                    )
            elif verbose:
                page.say(f"--- PASS: {name} ({test.millis / 1000:.2f}s)")
        seconds = f"{sum(t.millis for t in own) / 1000:.3f}s"
        page.say(f"FAIL\tshop/{area}\t{seconds}" if _failed(own) else f"ok  \tshop/{area}\t{seconds}")


def _surefire(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say("[INFO] -------------------------------------------------------", "[INFO]  T E S T S")
    for area, own in _files(tests).items():
        name = f"shop.{area.title()}Test"
        bad = _failed(own)
        page.say(f"[INFO] Running {name}")
        mark = "[ERROR]" if bad else "[INFO]"
        end = " <<< FAILURE!" if bad else ""
        page.say(f"{mark} Tests run: {len(own)}, Failures: {len(bad)}, Errors: 0, Skipped: 0{end} -- in {name}")
        for test in bad:
            page.say(f"[ERROR] {name}.{test.camel} -- Time elapsed: {test.millis / 1000} s <<< FAILURE!", key=test.key)
            page.say(test.message, key=test.key)
            page.say(f"\tat {name}.{test.camel}({area.title()}Test.java:{test.line})", key=test.key)
            for frame in range(test.trace):
                page.say(f"\tat org.junit.platform.engine.Node.step{frame}(Node.java:{80 + frame})")
            page.say("")
    page.say("[INFO] Results:", "[INFO]", "[ERROR] Failures:")
    for test in _failed(tests):
        page.say(f"[ERROR]   {test.subject.area.title()}Test.{test.camel}:{test.line}")


def _ctest(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say("Test project /home/user/shop/build")
    width = max(len(f"{t.subject.area}.{t.snake}") for t in tests) + 8
    for number, test in enumerate(tests, 1):
        name = f"{test.subject.area}.{test.snake}"
        page.say(f"      Start {number:>2}: {name}")
        start = f"{number:>2}/{len(tests)} Test {f'#{number}:':>4} {name} {'.' * (width - len(name))}"
        if test.kind:
            page.say(f"{start}***Failed {test.millis / 1000:7.2f} sec", key=test.key)
            page.say(f"tests/{test.subject.area}.cc:{test.line}: {test.message}", key=test.key)
            for frame in range(test.trace):
                page.say(f"    #{frame} 0x55d0c{frame:03x}a1f in step_{frame} src/{test.subject.area}.cc:{30 + frame}")
            page.say("")
        else:
            page.say(f"{start}   Passed {test.millis / 1000:7.2f} sec")
    failed = len(_failed(tests))
    page.say("", f"{100 - 100 * failed // len(tests)}% tests passed, {failed} tests failed out of {len(tests)}", "")
    page.say("The following tests FAILED:")
    for number, test in enumerate(tests, 1):
        if test.kind:
            page.say(f"\t {number:>2} - {test.subject.area}.{test.snake} (Failed)")


def _gtest(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say(f"[==========] Running {len(tests)} tests from {len(_files(tests))} test suites.")
    for area, own in _files(tests).items():
        page.say(f"[----------] {len(own)} tests from {area.title()}")
        for test in own:
            name = f"{area.title()}.{test.camel[0].upper()}{test.camel[1:]}"
            key = test.key or None
            page.say(f"[ RUN      ] {name}", key=key)
            if test.kind:
                page.say(f"tests/{area}.cc:{test.line}: Failure", test.message, key=key)
            page.say(f"[{'  FAILED  ' if test.kind else '       OK '}] {name} ({test.millis} ms)", key=key)
    page.say(f"[  PASSED  ] {len(tests) - len(_failed(tests))} tests.")


def _rspec(page: Page, tests: list[Test], rng: random.Random) -> None:
    page.say("".join("F" if test.kind else "." for test in tests), "", "Failures:", "")
    for number, test in enumerate(_failed(tests), 1):
        area = test.subject.area
        page.say(f"  {number}) {area.title()} {test.subject.title}", key=test.key)
        page.say(
            f"     Failure/Error: expect({area}.step{test.line}).to match_it",
            "",
            f"       {test.message}",
            key=test.key,
        )
        page.say(f"     # ./spec/{area}_spec.rb:{test.line}:in `block (2 levels) in <top (required)>'", key=test.key)
        for frame in range(test.trace):
            page.say(f"     # ./lib/{area}/step.rb:{12 + frame}:in `step{frame}'")
        page.say("")
    page.say(f"{len(tests)} examples, {len(_failed(tests))} failures", "", "Failed examples:", "")
    for test in _failed(tests):
        page.say(
            f"rspec ./spec/{test.subject.area}_spec.rb:{test.line} # {test.subject.area.title()} {test.subject.title}"
        )


_Print = Callable[[Page, list[Test], random.Random], None]
RUNNERS: dict[str, tuple[str, str, list[str], _Print]] = {  # ecosystem, tool type, commands, how it is printed
    "tap": ("js", "js_test", ["npx mocha -R tap", "node --test --test-reporter=tap"], _tap),
    "vitest": ("js", "js_test", ["npx vitest run", "npm test"], _vitest),
    "mocha": ("js", "js_test", ["npx mocha", "npm test"], _mocha),
    "go": ("go", "go_build", ["go test ./...", "go test -v ./..."], _go),
    "surefire": ("jvm", "mvn_gradle", ["mvn -B test", "mvn verify"], _surefire),
    "ctest": ("native", "make_cmake", ["ctest --output-on-failure", "ctest --test-dir build"], _ctest),
    "gtest": ("native", "make_cmake", ["./build/tests/shop_tests", "build/all_tests --gtest_color=no"], _gtest),
    "rspec": ("ruby", "test_output", ["bundle exec rspec", "rspec"], _rspec),
}

_BY_SUBJECT = (
    "What went wrong with {told}?",
    "Why does the test about {told} fail?",
    "failure concerning {told}",
    "{told}: how did it fail?",
    "Show the failed check on {told}.",
)


def _run(rng: random.Random, ecosystem: str) -> list[Test]:
    """Tests of a run: some fail, a few kinds of failure may come twice."""
    tests = []
    # One title of a project is enough for one run: the failed ones go by it.
    subjects = rng.sample(SUBJECTS, rng.randint(14, len(SUBJECTS)))
    failing = rng.randint(3, min(9, len(subjects) - 4))
    kinds = rng.sample(KINDS, failing)
    if rng.random() < 0.4:
        kinds[0] = kinds[1]
    for number, subject in enumerate(subjects):
        kind = kinds[number] if number < failing else None
        test = Test(subject, kind, line=rng.randint(9, 240), millis=rng.randint(1, 90))
        if kind:
            test.key = f"t{number}"
            test.message = Slots(rng, kit.VOCABULARIES).fill(kind.messages[ecosystem])
            test.trace = rng.choice([0, 0, 2, 5, 11])
        tests.append(test)
    rng.shuffle(tests)
    return [test for own in _files(tests).values() for test in own]


def _labels(rng: random.Random, tests: list[Test]) -> list[Label]:
    failed = _failed(tests)
    counts = Counter(test.kind.name for test in failed if test.kind)
    labels: list[Label] = []
    for test in rng.sample(failed, min(len(failed), 5)):
        assert test.kind is not None
        near = any(test.kind.name in group and group & (set(counts) - {test.kind.name}) for group in ALIKE)
        if counts[test.kind.name] == 1 and not near and rng.random() < 0.65:
            labels.append(Label(kit.vary(rng, rng.choice(test.kind.queries)), test.key, f"way_{test.kind.name}", True))
        else:
            labels.append(Label(_about(rng, test.subject), test.key, "subject"))
    absent = [k for k in KINDS if k.name not in counts and not any(k.name in g and g & set(counts) for g in ALIKE)]
    if absent and rng.random() < 0.7:
        kind = rng.choice(absent)
        labels.append(Label(kit.vary(rng, rng.choice(kind.queries)), None, f"absent_{kind.name}"))
    if rng.random() < 0.6:
        labels.append(Label(_about(rng, rng.choice([t for t in tests if not t.kind]).subject), None, "absent_passed"))
    return labels


def _about(rng: random.Random, subject: Subject) -> str:
    query = rng.choice(_BY_SUBJECT).format(told=subject.told)
    return query[0].upper() + query[1:] if rng.random() < 0.7 else query


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of reports of failed tests; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        name, (ecosystem, tool, commands, printed) = local.choice(list(RUNNERS.items()))
        tests = _run(local, ecosystem)
        page = Page()
        printed(page, tests, local)
        yield from kit.records(
            page, _labels(local, tests), tool_type=tool, command=local.choice(commands), family=NAME,
            project=f"{name}-{index % 40}", ident=f"{name}-{index}-{local.getrandbits(32):08x}",
        )  # fmt: skip
