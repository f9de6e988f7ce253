"""Outputs of package managers, compilers, test runners and CI of other ecosystems, as documents of blocks.

cargo, go, npm, jest, pip, Maven and Gradle, CMake, Ansible and CI logs: the layouts are the tools' own, the
projects and incidents are invented.
"""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._documents import Paper, blocks, groups, paper
from linecls.records import Record

NAME = "builds"

CARGO = Paper(
    "cargo",
    "cargo_build",
    ["cargo build", "cargo build --workspace", "cargo check --all-targets", "cargo clippy"],
    blocks(kit.catalogue_text("builds_cargo_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_cargo")),
    groups(
        "borrow moved dangling lifetime\nmismatch trait args\nnofn privat dup macro\nunused dead result mutbind clippy\nfeature linker script\nnonexh clippy"
    ),
    ["    Updating registry index", "   Compiling libc v0.2.{nnn}"],
    ["error: could not compile `{word}` (lib) due to {n} previous errors; {n2} warnings emitted"],
    True,
)

GOTEST = Paper(
    "gotest",
    "go_build",
    ["go test ./...", "go test -v ./...", "go vet ./... && go test ./...", "go build ./..."],
    blocks(kit.catalogue_text("builds_gotest_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_gotest")),
    groups(
        "unusedvar unusedimp\nundefined nomod cgo cycle\nassign vetprintf iface\nfailwant nofmt faildiff http\ntimeout deadlock race vetlock\npanicidx\nmissingret faildiff"
    ),
    [],
    ["FAIL"],
    False,
)

JEST = Paper(
    "jest",
    "js_test",
    ["npx jest --ci", "npm test", "npx vitest run", "yarn test --ci"],
    blocks(kit.catalogue_text("builds_jest_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_jest")),
    groups(
        "tobe float equal calledwith mock\nsnapshot obsolete\nmodule syntax\ntimeout leak\nhook listen\nrejects throws\nundefinedprop"
    ),
    ["", "> app@{ver} test", "> jest --ci", ""],
    ["Tests:       {n} failed, {nnn} passed, {nnn2} total", "Time:        {nn}.{nn2} s"],
    True,
)

PIP = Paper(
    "pip",
    "pip_install",
    [
        "pip install -r requirements.txt",
        "pip install -e .[dev]",
        "python -m pip install --upgrade -r requirements/dev.txt",
    ],
    blocks(kit.catalogue_text("builds_pip_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_pip")),
    groups("nomatch conflict pyver extra resolver\nbuild metadata sdist legacy git\nhash retry\nyanked"),
    [],
    ["Successfully installed {word}-{ver} {word2}-{n}.0"],
    False,
)

NPM = Paper(
    "npm",
    "npm_install",
    ["npm install", "npm ci", "npm install --no-fund"],
    blocks(kit.catalogue_text("builds_npm_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_npm")),
    groups(
        "peer etarget engine lock\ndeprecated memleak\ngyp postinstall\ne404 etarget\nintegrity lock\neacces\ncert proxy\naudit"
    ),
    [
        "npm verbose cli /usr/bin/node /usr/bin/npm",
        "npm info using npm@10.2.4",
        "npm info using node@v18.19.1",
    ],
    ["added {nnn} packages in {nn}s"],
    False,
)

WEBPACK = Paper(
    "webpack",
    "npm_build",
    ["npm run build", "yarn build", "npx vite build", "npx webpack --mode production"],
    blocks(kit.catalogue_text("builds_webpack_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_webpack")),
    groups(
        "notfound exportmiss publicpath tstype\nsize asset\nsass cssorder unusedcss\nsyntax lintfail\nheap\nsourcemap\nenv"
    ),
    ["", "> app@{ver} build", ""],
    [],
    True,
)

MAVEN = Paper(
    "maven",
    "mvn_gradle",
    ["mvn -B verify", "mvn -B package", "mvn -B -o test"],
    blocks(kit.catalogue_text("builds_maven_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_maven")),
    groups(
        "symbol abstractm\ntypes unchecked checked\nnpe assert timeoutj\ndep dupdep\nenforcer\ndeprec unchecked\njavadoc checkstyle\nspotbugs\nreactor"
    ),
    ["[INFO] Scanning for projects..."],
    ["[INFO] BUILD FAILURE", "[INFO] Total time:  {nn}.{nnn} s"],
    False,
)

CMAKE = Paper(
    "cmake",
    "make_cmake",
    ["cmake -B build && cmake --build build", "cmake --build build -- -k", "ninja -C build -k 0"],
    blocks(kit.catalogue_text("builds_cmake_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_cmake")),
    groups(
        "findpkg notfound nolib fetch\nundefref multidef nolib\nunused deprecated policy\noverride pure private deleted\nctest ctesttime\nminver generator\ntemplate"
    ),
    ["-- The CXX compiler identification is GNU 12.2.0", "-- Detecting CXX compiler ABI info - done"],
    ["make: *** [Makefile:136: all] Error 2"],
    False,
)

ANSIBLE = Paper(
    "ansible",
    "ansible",
    [
        "ansible-playbook -i hosts site.yml",
        "ansible-playbook -i inventory/prod deploy.yml -v",
        "ansible-playbook -i hosts base.yml --diff",
    ],
    blocks(kit.catalogue_text("builds_ansible_usual")),
    kit.parse_catalogue(kit.catalogue_text("builds_ansible")),
    groups(
        "unreach retryfail\nsudo perm\npkg service\nlock disk\nignored skipped retry retryfail\nundef vault\nassertion\nrecap"
    ),
    ["PLAY [{word}] ******************************************************************", ""],
    [],
    True,
)


_JOBS = ["build", "test (3.11)", "lint", "package", "e2e", "deploy-preview"]


def _ci(rng: random.Random, index: int) -> Iterator[Record]:
    """A CI log: the steps of several tools with the runner's time stamps and group marks."""
    parts = rng.sample([CARGO, GOTEST, JEST, PIP, NPM, WEBPACK, MAVEN, CMAKE], 2)
    style = rng.choice(["github", "github-job", "gitlab", "jenkins", "plain"])
    start = datetime(
        rng.randint(2023, 2026),
        rng.randint(1, 12),
        rng.randint(1, 28),
        rng.randint(0, 23),
        rng.randint(0, 59),
    )
    job = rng.choice(_JOBS)

    def prefix(local: random.Random, step: int, line: int) -> str:
        moment = start + timedelta(milliseconds=731 * line + step * 2900)
        stamp = moment.strftime("%Y-%m-%dT%H:%M:%S.%f")
        return {
            "github": f"{stamp}0Z ",
            "github-job": f"{job}\t{parts[0].name if step % 2 else 'Run'}\t{stamp}0Z ",
            "gitlab": f"{stamp}Z 01O ",
            "jenkins": f"[{moment.strftime('%Y-%m-%dT%H:%M:%S')}Z] ",
            "plain": "",
        }[style]

    usual = [*parts[0].usual, *parts[1].usual, *_RUNNER]
    spec = Paper(
        "ci",
        "ci_log",
        {
            "github": ["gh api repos/acme/app/actions/jobs/{id}/logs"],
            "github-job": ["gh run view {id} --log", "gh run view {id} --log-failed"],
            "gitlab": ["glab ci trace test"],
            "jenkins": ["curl -s https://jenkins.example.org/job/app/{id}/consoleText"],
            "plain": ["cat build.log"],
        }[style],
        usual,
        [
            *rng.sample(parts[0].odd, 9),
            *rng.sample([k for k in parts[1].odd if k.name not in {o.name for o in parts[0].odd}], 8),
            *CI_ODD,
        ],
        [*parts[0].alike, *parts[1].alike, *_CI_ALIKE],
        ["Current runner version: '2.{nnn}.0'", "Runner Image: ubuntu-22.04"],
        ["Cleaning up orphan processes"],
        False,
        prefix,
    )
    spec = replace(spec, commands=[c.replace("{id}", str(rng.randint(10**9, 10**10))) for c in spec.commands])
    yield from paper(rng, spec, index, NAME)


_RUNNER = blocks(kit.catalogue_text("builds_runner_usual"))
CI_ODD = kit.parse_catalogue(kit.catalogue_text("builds_ci_odd"))
_CI_ALIKE = groups(
    "cancelled timeoutjob exit timeout\ncachemiss artifact\nsecret dockerlogin git\nnodeprec deprecated deprec version engine pyver enforcer minver\ndisk heap\nflake\ncoverage unreach\nexit ctest failwant tobe assert"
)

PAPERS = [CARGO, GOTEST, JEST, PIP, NPM, WEBPACK, MAVEN, CMAKE, ANSIBLE]


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of builds and CI of many ecosystems; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        if local.random() < 0.2:
            yield from _ci(local, index)
        else:
            yield from paper(local, local.choice(PAPERS), index, NAME)
