"""The commands that `agent_replay.py` runs: what an agent would run, what it would ask, and the line it needs.

The projects are made anew in a temporary directory; some commands run on this repository.
"""

from __future__ import annotations

import os
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    """One command line for `sh`, run in a project's folder.

    query: what an agent would ask; needed: a pattern of the line it needs; tools: what must be on the PATH.
    """

    name: str
    folder: str
    command: str
    query: str
    needed: str
    tools: tuple[str, ...] = ()


PYTEST = "python -m pytest -p no:cacheprovider --color=no"

CASES = (
    # Python
    Case("pytest", "shop", f"{PYTEST} -q", "why does the discount test fail", r"^E\s+assert \(9\.0 - 1\.0\) == 6\.0"),
    Case("pytest, verbose", "shop", f"{PYTEST} -v", "which login test fails", r"test_wrong_password.* FAILED"),
    Case(
        "pytest, locals",
        "shop",
        f"{PYTEST} -q --showlocals tests/test_auth.py",
        "what status did the login return",
        r"assert 500 == 401",
    ),
    Case(
        "pytest, collecting", "shop", f"{PYTEST} --collect-only -q", "where are the tests of shipping", r"test_shipping"
    ),
    Case(
        "pytest, import error",
        "shop",
        f"{PYTEST} -q broken",
        "which module is missing",
        r"No module named 'shop\.coupons'",
    ),
    Case(
        "unittest",
        "shop",
        "python -m unittest -v legacy 2>&1",
        "which legacy test fails and why",
        r"AssertionError: 3 != 4",
    ),
    Case(
        "traceback", "shop", "python -m shop.report data.json", "what key does the report miss", r"^KeyError: 'price'"
    ),
    Case(
        "chained traceback",
        "shop",
        "python -m shop.loader",
        "why could the settings not be loaded",
        r"SettingsError: settings\.json is not readable",
    ),
    Case("profile", "shop", "python -m cProfile -s cumtime -m shop.slow", "which function is slow", r"crunch"),
    Case(
        "import times",
        "shop",
        "python -X importtime -m shop.slow",
        "how long does the import of json take",
        r"\| json$",
    ),
    Case(
        "ruff",
        "shop",
        "ruff check --no-cache --output-format concise .",
        "which names are undefined",
        r"F821",
        ("ruff",),
    ),
    Case(
        "ruff, full", "shop", "ruff check --no-cache .", "which import is unused in auth", r"F401.*hashlib", ("ruff",)
    ),
    Case(
        "pyright",
        "shop",
        "pyright shop",
        "what type does total return in place of int",
        r"error: .*\"int\"",
        ("pyright",),
    ),
    Case(
        "pip list",
        "shop",
        "python -m pip list --disable-pip-version-check",
        "which version of numpy is installed",
        r"^numpy ",
    ),
    Case(
        "pip install",
        "shop",
        "python -m pip install --disable-pip-version-check --no-index -r requirements.txt",
        "which requirement could not be found",
        r"No matching distribution found for no-such-package",
    ),
    Case("python help", "shop", "python --help-all", "how do I make warnings errors", r"-W arg"),
    # git
    Case("git log", "shop", "git log", "which commit changed the tax rate", r"Raise the tax rate to 25"),
    Case("git log, stat", "shop", "git log --stat -30", "when was the report module added", r"Add the report"),
    Case("git log, patches", "shop", "git log -p -14", "how did the tax rate change", r"^\+TAX = 0\.25"),
    Case("git blame", "shop", "git blame shop/cart.py", "who wrote the discount line", r"discount"),
    Case("git status", "shop", "git status", "which file is not tracked", r"notes\.txt"),
    Case(
        "git log of this repository",
        ".",
        "git log -60 8ff22ce -- linecls export",  # the same commits, whatever is added
        "which commit ships the third embedded model",
        r"Ship the third embedded model",
    ),
    Case(
        "git blame of this repository",
        ".",
        "git blame linecls/spans.py",
        "when was the merging of spans written",
        r"def merge\(",
    ),
    # Searching and listing
    Case(
        "grep",
        ".",
        "grep -rn 'class .*Error' linecls",
        "where is the error for a damaged model defined",
        r"class ArtifactError",
    ),
    Case("grep, context", ".", "grep -n -C3 'def ' linecls/decoding.py", "where is the Viterbi pass", r"def viterbi"),
    Case("cat", ".", "cat linecls/metrics.py", "how is the fuzzy match computed", r"def .*fuzzy"),
    Case("find", ".", "find linecls tests -name '*.py'", "where are the tests of decoding", r"tests/test_decoding\.py"),
    Case("ls", ".", "ls -lR linecls", "how large is the embedded model", r"scorer\.onnx"),
    Case("ls /etc", ".", "ls -la /etc", "where is the file of user accounts", r" passwd$"),
    Case("du", ".", "du -a linecls", "how much space do the assets take", r"linecls/assets$"),
    # C
    Case("make", "engine", "make -k", "which file does not compile", r"pump\.c:\d+:\d+: error", ("make", "gcc")),
    Case(
        "make, link",
        "engine",
        "make -s link",
        "which symbol is missing",
        r"undefined reference to `valve_open'",
        ("make", "gcc"),
    ),
    Case("make, trace", "engine", "make -n -B --trace", "how is valve.c compiled", r"-c .*valve\.c", ("make", "gcc")),
    Case(
        "cmake",
        "engine",
        "cmake -S . -B /tmp/linecls-none-$$",
        "which package is missing",
        r"NoSuchPackage",
        ("cmake",),
    ),
    Case(
        "sanitizer",
        "engine",
        "make -s crash && ./crash",
        "where does it write out of bounds",
        r"crash\.c:\d+",
        ("make", "gcc"),
    ),
    # Node
    Case("node --test", "web", "node --test", "which test of the parser fails", r"rejects an empty query", ("node",)),
    Case(
        "node, uncaught",
        "web",
        "node server.js",
        "which property of undefined was read",
        r"TypeError: Cannot read",
        ("node",),
    ),
    Case("npm", "web", "npm run build", "which script is missing", r"[Mm]issing script", ("npm",)),
    # Rust and Java
    Case(
        "rustc",
        "rust",
        "rustc --edition 2021 main.rs",
        "which types do not match",
        r"expected `u32`, found `&str`",
        ("rustc",),
    ),
    Case(
        "rust panic",
        "rust",
        "rustc -A warnings panic.rs && RUST_BACKTRACE=1 ./panic",
        "why does it panic",
        r"index out of bounds",
        ("rustc",),
    ),
    Case("javac", "java", "javac Broken.java", "which symbol is not found", r"symbol: +variable total", ("javac",)),
    Case(
        "java",
        "java",
        "javac Depot.java && java Depot",
        "what was the root cause",
        r"Caused by: .*shelf is empty",
        ("javac", "java"),
    ),
    # Logs and services
    Case("application log", "logs", "cat app.log", "why were payments refused", r"card gateway refused"),
    Case("access log", "logs", "cat access.log", "which request took a server error", r'" 503 '),
    Case("JSON log", "logs", "cat events.jsonl", "which job ran out of memory", r"out of memory"),
    Case("grep in a log", "logs", "grep -n WARN app.log", "when was the disk nearly full", r"disk"),
    Case("sqlite", "logs", "python dump.py", "which table holds the payments", r"CREATE TABLE payment"),
    Case(
        "openssl",
        "logs",
        "openssl x509 -in cert.pem -noout -text",
        "when does the certificate expire",
        r"Not After",
        ("openssl",),
    ),
    Case("curl", "logs", "python fetch.py", "what status did the server answer", r"HTTP/1\.[01] 404"),
)

_CART = '''\
"""A cart and what it costs."""

TAX = 0.2


class Cart:
    """Items with their prices."""

    def __init__(self, items):
        self.items = list(items)

    def total(self, discount: float = 0.0) -> int:
        """The sum after discount."""
        amount = sum(price for _, price in self.items)
        return amount * (1 - discount / 2)

    def taxed(self):
        return self.total() * (1 + TAX)
'''
_AUTH = """\
import hashlib
import logging

log = logging.getLogger("shop.auth")


def login(user, password):
    try:
        found = lookup(user)
    except ConnectionError as error:
        log.error("cannot reach the directory at 127.0.0.1:389: %s", error)
        return 500
    return 200 if found == password else 401


def lookup(user):
    if user == "ann":
        return "secret"
    raise ConnectionError("refused")


def audit(entry):
    return undefined_sink.write(entry)
"""
_TEST_CART = """\
import pytest

from shop.cart import Cart


@pytest.mark.parametrize("count", range(12))
def test_sum(count):
    assert Cart([("tea", 2.0)] * count).total() == 2.0 * count


def test_discount():
    cart = Cart([("tea", 4.0), ("pot", 8.0)])
    assert cart.total(discount=1 / 2) - 1.0 == 6.0


def test_shipping_is_free_above_50():
    assert Cart([("desk", 60.0)]).total() > 50
"""
_TEST_AUTH = """\
from shop.auth import login


def test_right_password():
    assert login("ann", "secret") == 200


def test_wrong_password():
    assert login("bob", "nope") == 401
"""
_TEST_STOCK = "".join(
    f"def test_stock_of_shelf_{number}():\n    found = [{number}, {number} + 1]\n    wanted = {number + 2}\n"
    f"    assert wanted in found, 'shelf {number} holds no {number + 2}'\n\n\n"
    for number in range(8)
)
_LEGACY = """\
import unittest


class Legacy(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 2, 4)


for _number in range(40):
    setattr(Legacy, f"test_case_{_number:02}", lambda self: self.assertTrue(True))
"""
_REPORT = """\
import json
import sys


def rows(path):
    with open(path) as file:
        return json.load(file)


def line(row):
    return f"{row['name']:<20}{row['price']:>8.2f}"


def main():
    for row in rows(sys.argv[1]):
        print(line(row))


main()
"""
_LOADER = """\
class SettingsError(Exception):
    pass


def read():
    try:
        return open("settings.json").read()
    except FileNotFoundError as error:
        raise SettingsError("settings.json is not readable") from error


for step in range(60):
    print(f"step {step}: checked the module number {step}")
read()
"""
_SLOW = """\
import json
import time


def crunch():
    time.sleep(0.2)


def main():
    crunch()
    json.dumps([1])


main()
"""
_SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": _CART,
    "shop/auth.py": _AUTH,
    "shop/report.py": _REPORT,
    "shop/loader.py": _LOADER,
    "shop/slow.py": _SLOW,
    "tests/test_cart.py": _TEST_CART,
    "tests/test_auth.py": _TEST_AUTH,
    "tests/test_stock.py": _TEST_STOCK,
    "broken/test_coupons.py": "from shop.coupons import Coupon\n\n\ndef test_coupon():\n    assert Coupon\n",
    "legacy.py": _LEGACY,
    "data.json": str([{"name": f"item {i}", "price": i} for i in range(70)] + [{"name": "broken"}]).replace("'", '"'),
    "requirements.txt": "no-such-package==9.9\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
}
_PARTS = ("pump", "valve", "tank", "meter", "panel", *(f"part_{number}" for number in range(20)))
_MAIN_C = "int valve_open(int);\nint tank_read(int);\n\nint main(void)\n{\n    return valve_open(tank_read(1));\n}\n"
_CRASH_C = """\
#include <stdlib.h>

int main(void)
{
    int *a = malloc(4 * sizeof(int));
    a[4] = 1;
    return a[0];
}
"""
_ENGINE = {
    **{
        f"{part}.c": f"int {part}_read(int at)\n{{\n    int spare, level = at * 2;\n    return level;\n}}\n"
        for part in _PARTS
    },
    "pump.c": "int pump_read(int at)\n{\n    int level = at * 2\n    return level + missing;\n}\n",
    "main.c": _MAIN_C,
    "crash.c": _CRASH_C,
    "Makefile": textwrap.dedent(
        """\
        PARTS = $(basename $(filter-out main.c crash.c,$(wildcard *.c)))
        all: $(PARTS:=.o)
        %.o: %.c
        \tgcc -Wall -Wextra -O1 -g -std=c11 -fdiagnostics-color=never -c -o $@ $<
        link: main.c tank.o valve.o
        \tgcc -o engine main.c tank.o valve.o
        crash: crash.c
        \tgcc -g -fsanitize=address -o crash crash.c
        """
    ),
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(engine C)\nfind_package(NoSuchPackage REQUIRED)\n",
}
_WEB = {
    "package.json": '{"name": "web", "version": "1.0.0", "scripts": {"start": "node server.js"}}\n',
    "parse.js": 'exports.parse = (text) => text.split("&").map((pair) => pair.split("="));\n',
    "server.js": "function handle(request) {\n  return request.body.user;\n}\n"
    'for (let i = 0; i < 60; i++) console.log("ready: worker", i, "of the pool has started");\nhandle({});\n',
    "parse.test.js": textwrap.dedent(
        """\
        const test = require("node:test");
        const assert = require("node:assert");
        const { parse } = require("./parse.js");
        for (let i = 0; i < 15; i++) test(`parses pair ${i}`, () => assert.deepEqual(parse(`a=${i}`), [["a", `${i}`]]));
        test("rejects an empty query", () => assert.deepEqual(parse(""), []));
        """
    ),
}
_RUST = {
    "main.rs": "fn area(width: u32, height: u32) -> u32 {\n    width * height\n}\n\nfn main() {\n    let unused = 3;\n"
    '    println!("{}", area(2, "3"));\n    println!("{}", volume(1));\n}\n',
    "panic.rs": "fn pick(rows: &[u32], at: usize) -> u32 {\n    rows[at]\n}\n\nfn main() {\n"
    '    for i in 0..40 {\n        println!("row {i} of the table was read without trouble");\n    }\n'
    "    let rows: Vec<u32> = std::env::args().map(|a| a.len() as u32).collect();\n"
    '    println!("{}", pick(&rows, 7));\n}\n',
}
_JAVA = {
    "Broken.java": "class Broken {\n    int sum(int[] values) {\n        for (int value : values) {\n"
    "            total += value;\n"
    "        }\n        String text = 3;\n        return total;\n    }\n}\n",
    "Depot.java": textwrap.dedent(
        """\
        class Depot {
            static int take(int shelf) {
                if (shelf > 2) throw new IllegalStateException("shelf is empty: " + shelf);
                return shelf;
            }
            static void order(int shelf) {
                try {
                    take(shelf);
                } catch (IllegalStateException error) {
                    throw new RuntimeException("order " + shelf + " failed", error);
                }
            }
            public static void main(String[] args) {
                for (int i = 0; i < 60; i++) System.out.println("checked the shelf number " + i);
                order(3);
            }
        }
        """
    ),
}
# Written by Python's own logging, SQLite and HTTP client when the replay makes its projects.
_MAKE_LOGS = """\
import json, logging, random, sqlite3

rng = random.Random(7)
logging.basicConfig(filename="app.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
logging.Formatter.converter = lambda *_: (2026, 3, 1, 10, 0, 0, 6, 60, 0)
web, pay, disk = (logging.getLogger(name) for name in ("shop.web", "shop.pay", "shop.disk"))
with open("access.log", "w") as access, open("events.jsonl", "w") as events:
    for number in range(150):
        web.info("GET /item/%d answered 200 in %d ms", rng.randrange(900), rng.randrange(3, 90))
        status = 503 if number == 97 else 200
        when = f"01/Mar/2026:10:00:{number % 60:02} +0000"
        access.write(f'10.0.0.{rng.randrange(9)} - - [{when}] "GET /item/{number} HTTP/1.1" {status} 150\\n')
        events.write(json.dumps({"level": "info", "job": number, "msg": "done", "seconds": rng.randrange(9)}) + "\\n")
        if number % 20 == 0:
            pay.warning("payment %d is slow", number)
        if number == 60:
            disk.warning("the disk is nearly full: 97 %")
        if number == 80:
            try:
                raise ConnectionError("card gateway refused the connection")
            except ConnectionError:
                pay.exception("payment %d failed", number)
        if number == 120:
            events.write(json.dumps({"level": "error", "job": "resize", "msg": "killed: out of memory"}) + "\\n")
base = sqlite3.connect("shop.db")
for table in ("customer", "item", "stock", "payment", "parcel"):
    base.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, amount REAL, made_at TEXT)")
    rows = [(f"{table} {number}", number * 1.5) for number in range(25)]
    base.executemany(f"INSERT INTO {table} (name, amount) VALUES (?, ?)", rows)
base.commit()
"""
_LOGS = {
    "make_logs.py": _MAKE_LOGS,
    "dump.py": 'import sqlite3\n\nprint(*sqlite3.connect("shop.db").iterdump(), sep="\\n")\n',
    "fetch.py": textwrap.dedent(
        """\
        import functools, http.client, http.server, threading

        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=".")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for path in [f"/item/{i}" for i in range(3)] + ["/make_logs.py"]:
            client = http.client.HTTPConnection(*server.server_address)
            client.request("GET", path)
            answer = client.getresponse()
            print(f"> GET {path}", f"< HTTP/1.1 {answer.status} {answer.reason}", answer.read().decode(), sep="\\n")
        """
    ),
}
_PROJECTS = {"shop": _SHOP, "engine": _ENGINE, "web": _WEB, "rust": _RUST, "java": _JAVA, "logs": _LOGS}
_SUBJECTS = (
    "Sort the items by name",
    "Say what a cart is",
    "Raise the tax rate to 25 %",
    "Keep the log lines short",
    "Add the report of all items",
    "Explain the discount",
    "Read the prices as numbers",
    "Rename a helper",
)


def environment() -> dict[str, str]:
    """What the commands see: plain text, one language, no colours, fixed authors."""
    who = {"NAME": "Ann", "EMAIL": "ann@example.org", "DATE": "2026-03-01T10:00:00+00:00"}
    return {
        **os.environ,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()},
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def make_projects(folder: Path) -> None:
    """Write the projects, with a history of commits where one is needed."""
    for project, files in _PROJECTS.items():
        for name, text in files.items():
            path = folder / project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    _run("python make_logs.py", folder / "logs")
    _run(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 9 -subj /CN=shop",
        folder / "logs",
    )
    _history(folder / "shop")


def _history(shop: Path) -> None:
    """Thirty commits; the third subject of each round is the one that changes the tax rate, once."""
    _run("git init -q -b main && git add . && git commit -qm 'Start the shop'", shop)
    cart, notes = shop / "shop" / "cart.py", shop / "CHANGES.md"
    for number in range(29):
        subject = _SUBJECTS[number % len(_SUBJECTS)]
        if "tax rate" in subject:
            subject = "Raise the tax rate to 25 %" if number > 16 else "Say where the tax rate comes from"
        if subject.startswith("Raise"):
            cart.write_text(cart.read_text().replace("TAX = 0.2\n", "TAX = 0.25\n"), encoding="utf-8")
        with notes.open("a", encoding="utf-8") as file:
            file.write(f"- {subject} ({number})\n")
        _run(f"git add . && git commit -qm '{subject}'", shop)
    (shop / "notes.txt").write_text("to do\n", encoding="utf-8")
    for number in range(60):
        (shop / f"draft_{number:02}.md").write_text("draft\n", encoding="utf-8")


def _run(command: str, folder: Path) -> None:
    subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False, timeout=120)
