from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls import failures
from linecls.observation import Observation, split_lines
from linecls.protection import Protection, failure_lines
from linecls.spans import Span, count_lines

# Each line begins with "!" when it must be found, with "." when it must not.
SAMPLES = {
    "python traceback": """\
.loading 3 feeds
!Traceback (most recent call last):
!  File "/srv/feed/run.py", line 31, in <module>
!    main()
!  File "/srv/feed/run.py", line 12, in main
!    raise FeedError("no title")
!feed.FeedError: no title
!  in entry 4
.done in 2 s
""",
    "python chained": """\
!Traceback (most recent call last):
!  File "a.py", line 2, in load
!    return cache[key]
!           ~~~~~^^^^^
!KeyError: 'port'
.
!During handling of the above exception, another exception occurred:
.
!Traceback (most recent call last):
!  File "a.py", line 9, in <module>
!    load("port")
!ValueError: port is not set
""",
    "python syntax error without a head": """\
.checking
!  File "setup.py", line 4
!    print("x"
!         ^
!SyntaxError: '(' was never closed
""",
    "exception group": """\
!  + Exception Group Traceback (most recent call last):
!  |   File "g.py", line 3, in <module>
!  |     raise ExceptionGroup("two", errors)
!  | ExceptionGroup: two (1 sub-exception)
.ordinary
""",
    "pytest": """\
.tests/test_a.py ....                                     [ 50%]
!tests/test_cart.py ..F                                   [100%]
!=================================== FAILURES ===================================
!________________________________ test_discount _________________________________
.
.    def test_discount():
.        cart = Cart()
!>       assert cart.total() == 2
!E       assert 4 == 2
!E        +  where 4 = total()
.
!tests/test_cart.py:21: AssertionError
.=========================== short test summary info ============================
!FAILED tests/test_cart.py::test_discount - assert 4 == 2
!========================= 1 failed, 6 passed in 0.31s ==========================
""",
    "pytest that passed": """\
.collected 3 items
.tests/test_errors.py::test_error_is_raised PASSED        [ 33%]
.tests/test_errors.py::test_failure_message PASSED        [ 66%]
.tests/test_a.py::test_ok PASSED                          [100%]
.============================== 3 passed in 0.12s ===============================
""",
    "unittest": """\
...
.======================================================================
!FAIL: test_sum (tests.test_math.Sums.test_sum)
!----------------------------------------------------------------------
!Traceback (most recent call last):
!  File "tests/test_math.py", line 8, in test_sum
!    self.assertEqual(total([1, 2]), 4)
!AssertionError: 3 != 4
.
!FAILED (failures=1)
""",
    "java": """\
.[INFO] starting
!Exception in thread "main" java.lang.IllegalStateException: no pool
!	at shop.Pool.get(Pool.java:41)
!	at shop.Main.main(Main.java:9)
!Caused by: java.io.IOException: closed
!	at shop.Net.read(Net.java:7)
!	... 2 more
.[INFO] stopped
""",
    "maven and javac": """\
.[INFO] Compiling 4 source files
![ERROR] /src/A.java:[12,8] cannot find symbol
![INFO] BUILD FAILURE
.[INFO] Total time: 3 s
!src/B.java:7: error: ';' expected
!    int a = 1
!             ^
.1 warning
""",
    "gradle": """\
.> Task :core:classes
!> Task :core:test FAILED
.
!* What went wrong:
!Execution failed for task ':core:test'.
!> There were failing tests.
.
!BUILD FAILED in 3s
""",
    "go test": """\
.ok  	example.org/a	0.01s
.=== RUN   TestSum
!    sum_test.go:9: got 3, want 4
!--- FAIL: TestSum (0.00s)
!    --- FAIL: TestSum/two (0.00s)
!        sum_test.go:14: too small
!FAIL
!FAIL	example.org/b	0.02s
""",
    "go panic": """\
!panic: runtime error: index out of range [3] with length 3
!
!goroutine 1 [running]:
!main.pick(...)
!	/src/main.go:8
!main.main()
!	/src/main.go:4 +0x1d
!exit status 2
.
.goroutine 7 [sleep]:
.time.Sleep(0x3b9aca00)
""",
    "go compiler": """\
.# example.org/a
!./main.go:7:2: undefined: sum
!./main.go:9:6: declared and not used: x
""",
    "rust": """\
.   Compiling shop v0.1.0
.warning: unused variable: `a`
. --> src/lib.rs:2:9
!error[E0308]: mismatched types
! --> src/main.rs:4:18
!  |
!4 |     let x: i32 = "a";
!  |            ---   ^^^ expected `i32`, found `&str`
!  = note: expected type `i32`
.
!error: could not compile `shop` due to 1 previous error
!thread 'main' panicked at src/main.rs:9:5:
!assertion `left == right` failed
!  left: 1
! right: 2
!note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
!test parse::empty ... FAILED
.test parse::one ... ok
!test result: FAILED. 1 passed; 1 failed; 0 ignored
""",
    "node": """\
.listening
!/srv/app/index.js:14
!throw new Error('no config')
!^
!
!Error: no config
!    at load (/srv/app/index.js:14:7)
!    at Object.<anonymous> (/srv/app/index.js:20:1)
!    at node:internal/main/run_main_module:28:49
.
.Node.js v20.11.0
!npm ERR! code ELIFECYCLE
""",
    "jest": """\
.PASS src/a.test.js
!FAIL src/b.test.js
!  ● cart › totals
.
!    expect(received).toBe(expected) // Object.is equality
!
!    Expected: 4
!    Received: 3
.
!    > 12 |   expect(total()).toBe(4)
!         |                   ^
!      at Object.toBe (src/b.test.js:12:19)
!Tests:       1 failed, 5 passed, 6 total
""",
    "tsc and eslint": """\
!src/a.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.
!  Types of property 'x' are incompatible.
!src/b.ts:9:3 - error TS2304: Cannot find name 'foo'.
!
!9   foo();
!    ~~~
!/srv/app/x.js
!  12:5  error    'y' is not defined  no-undef
.  14:1  warning  Unexpected console statement  no-console
!✖ 2 problems (1 error, 1 warning)
""",
    "gcc, make, cmake": """\
.gcc -c a.c
.a.c: In function 'main':
!a.c:3:5: error: expected ';' before 'return'
!    3 | int x = 1
!      |          ^
!a.o: undefined reference to `sum'
!collect2: error: ld returned 1 exit status
!make: *** [Makefile:4: a] Error 1
.a.c:9:1: warning: control reaches end
.    9 | }
.      | ^
!CMake Error at CMakeLists.txt:5 (find_package):
!  Could not find Foo.
.
.-- Configuring incomplete
""",
    "logs": """\
.2026-03-01 10:00:00,120 INFO  shop.web: started with 0 errors
!2026-03-01 10:00:01,431 ERROR shop.db: pool is empty
.2026-03-01 10:00:02,431 DEBUG shop.db: error handler installed
![2026-03-01T10:00:02Z] [crit] disk full
!time="2026-03-01T10:00:03Z" level=error msg="no leader"
!{"ts": 1, "level": "error", "msg": "x"}
.{"ts": 2, "level": "info", "error": null}
!E0301 10:00:00.000001       1 main.go:3] lost lease
!Mar  1 10:00:00 web sshd[9]: error: maximum authentication attempts exceeded
!Mar  1 10:00:00 web sshd[9]: Failed password for root from 10.0.0.9
!web-1  | 2026/03/01 10:00:00 [error] 7#7: upstream timed out
!10.0.0.9 - - [01/Mar/2026:10:00:00 +0000] "GET /pay HTTP/1.1" 502 150
.10.0.0.9 - - [01/Mar/2026:10:00:00 +0000] "GET /error.html HTTP/1.1" 200 150
!2026-03-01 10:00:00.5 UTC [33] app@shop FATAL:  remaining connection slots are reserved
""",
    "shell": """\
!ls: cannot access 'x': No such file or directory
!bash: foo: command not found
!cat: secret: Permission denied
!Segmentation fault (core dumped)
!subprocess.CalledProcessError: Command '['x']' returned non-zero exit status 3.
!Process exited with code 1
.Process exited with code 0
!fatal: not a git repository (or any of the parent directories): .git
!curl: (7) Failed to connect to 127.0.0.1 port 9: Connection refused
!error: pathspec 'x' did not match any file(s) known to git
""",
    "services": """\
!Error: Unsupported argument
!
!  on main.tf line 4, in resource "bucket" "a":
!   4:   colour = "red"
!
!An argument named "colour" is not expected here.
.
.Plan: 0 to add.
!fatal: [db01]: FAILED! => {"msg": "no disk"}
!db01 : ok=2 changed=0 unreachable=0 failed=1
.db02 : ok=3 changed=0 unreachable=0 failed=0
.web-0   1/1   Running            0   3d
!web-1   0/1   CrashLoopBackOff   9   3d
!E: Unable to locate package foo
.HTTP/1.1 200 OK
!HTTP/1.1 503 Service Unavailable
""",
    "a diff about errors is no error": """\
.commit 3f9a2c1b
.    Raise ParseError: say where the error is
.diff --git a/a.py b/a.py
.--- a/a.py
.+++ b/a.py
.@@ -1,4 +1,5 @@
. error: old text
.-ERROR: x
.+ERROR: y
.+fatal: z
. Traceback (most recent call last):
. ValueError: z
""",
    "source and prose about errors": """\
.class ParseError(ValueError):
.    \"\"\"Raised on errors. TypeError: if x is no number.\"\"\"
.    def fail(self, error: Exception) -> None:
.        raise ValueError("error: not found")
.        except KeyError:
.        log.error("failed to load %s", path)
.        return Response(status=404)
.    exit 1
.# Error handling
.If the request fails, an error is shown. See errors.md.
.src/a.py:12:    # ERROR handling
.src/a.py:40:        TimeoutError: if nothing comes.
.errors.py  failures.txt  panic.go
.There were no errors and 0 failed tests.
""",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_failure_lines_of(name: str) -> None:
    marked = split_lines(SAMPLES[name])
    wanted = [line.startswith("!") for line in marked]
    lines = [line[1:] for line in marked]
    found = failure_lines(lines).tolist()
    wrong = [("missed" if w else "too much", line) for w, f, line in zip(wanted, found, lines, strict=True) if w != f]
    assert wrong == []


def test_colours_prefixes_and_carriage_returns_do_not_hide_an_error() -> None:
    lines = [
        "\x1b[31mERROR\x1b[0m no route\r\n",
        "build\tRun make\t2026-03-01T10:00:00.1234567Z make: *** [Makefile:4: a] Error 1\n",
        "#12 0.345 npm ERR! code E404\n",
        "web-1  | Traceback (most recent call last):\n",
        'web-1  |   File "a.py", line 3, in <module>\n',
        "web-1  | KeyError: 'x'\n",
        "db-1   | ready\n",
    ]
    assert failure_lines(lines).tolist() == [True] * 6 + [False]


def test_nothing_is_found_in_nothing() -> None:
    assert failure_lines([]).tolist() == []
    assert failure_lines(["\n", "   \n"]).tolist() == [False, False]


@given(
    st.lists(st.text(alphabet="eErRoO:( )[]{}|^~@+-,.'\"\\\t\r\x1b\u0130\ud800aTFIL019at", max_size=60), max_size=25)
)
def test_any_lines_have_a_mask(lines: list[str]) -> None:
    mask = failure_lines([line + "\n" for line in lines])
    assert mask.shape == (len(lines),)
    assert mask.dtype == np.bool_


@pytest.mark.parametrize(
    "line",
    [
        "x" * 10_000_000,
        "error " * 1_600_000,
        "a.b.c." * 1_600_000 + "Error: x",
        "at (" * 2_500_000,
        "  File " * 1_400_000,
        ":1:1:1" * 1_600_000 + ": error:",
    ],
    ids=["x", "words", "dotted", "brackets", "blanks", "locations"],
)
def test_a_line_of_10_megabytes_takes_no_time(line: str) -> None:
    start = time.process_time()
    failure_lines([line + "\n", "fatal: x\n"])
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize("rule", failures.RULES, ids=lambda rule: rule.keywords[0])
def test_no_pattern_is_slow_on_hostile_text(rule: failures.Rule) -> None:
    for piece in (
        "a",
        " ",
        "\t",
        "a.",
        "a:",
        "a: ",
        "at (",
        "1:",
        "E",
        "=",
        "_",
        "got ",
        "[1",
        "failed ",
        ": : ",
        "[ ",
    ):
        text = (piece * 2500)[:2500]
        for probe in (text, text + rule.keywords[0], rule.keywords[0] + text + "\x00"):
            start = time.process_time()
            rule.pattern.search(probe)
            assert time.process_time() - start < 0.25, (piece, rule.pattern.pattern)


def test_a_million_lines() -> None:
    lines = [f"2026-03-01 10:00:00 INFO request {i} took 3 ms\n" for i in range(999_998)]
    lines += ["Traceback (most recent call last):\n", "ValueError: x\n"]
    start = time.process_time()
    mask = failure_lines(lines)
    assert time.process_time() - start < 20
    assert np.flatnonzero(mask).tolist() == [999_998, 999_999]


def test_blocks_that_would_overlap_are_scanned_once() -> None:
    lines = ["Traceback (most recent call last):\n", *(" " * (i % 7 + 1) + "Traceback (most\n" for i in range(60_000))]
    start = time.process_time()
    assert failure_lines(lines)[:2].tolist() == [True, True]
    assert time.process_time() - start < 10


# Protection


def test_context_edges_and_errors_add_up() -> None:
    observation = Observation.of("".join(f"line {i}\n" for i in range(1, 21)) + "fatal: gone\nend\n")
    spans = [Span(8, 9)]
    assert Protection().apply(observation, spans) == spans
    assert Protection(context=2).apply(observation, spans) == [Span(6, 11)]
    assert Protection(edges=1).apply(observation, spans) == [Span(1, 1), Span(8, 9), Span(22, 22)]
    assert Protection(errors=True).apply(observation, spans) == [Span(8, 9), Span(21, 21)]
    assert Protection(errors=True, context=30, edges=30).apply(observation, spans) == [Span(1, 22)]
    assert Protection(errors=True, context=3, edges=3).apply(Observation.of(""), []) == []
    with pytest.raises(ValueError, match="must be >= 0"):
        Protection(context=-1)


@given(
    st.lists(st.sampled_from(["plain", "error: x", "  File", "", "Traceback (most recent call last):"]), max_size=30),
    st.data(),
    st.booleans(),
    st.integers(0, 4),
    st.integers(0, 4),
)
def test_protection_only_adds(lines: list[str], data: st.DataObject, errors: bool, context: int, edges: int) -> None:
    observation = Observation.of("".join(line + "\n" for line in lines))
    spans = []
    if lines and data.draw(st.booleans()):
        start = data.draw(st.integers(1, len(lines)))
        spans = [Span(start, data.draw(st.integers(start, len(lines))))]
    result = Protection(errors=errors, context=context, edges=edges).apply(observation, spans)
    kept = {n for a, b in result for n in range(a, b + 1)}
    assert kept >= {n for a, b in spans for n in range(a, b + 1)}
    assert kept <= set(range(1, len(lines) + 1))
    assert count_lines(result) == len(kept)
