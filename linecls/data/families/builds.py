"""Outputs of package managers, compilers, test runners and CI of other ecosystems, as documents of blocks.

cargo, go, npm, jest, pip, Maven and Gradle, CMake, Ansible and CI logs: the layouts are the tools' own, the
projects and incidents are invented.
"""

# ruff: noqa: E501
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
    blocks("""
   Compiling {word} v{ver}
   Compiling {word2}-sys v{ver}
%
   Compiling {word}-macros v{ver} (/home/user/src/{word}/macros)
%
  Downloaded {word} v{ver} (registry `packages`)
%
    Checking {word}-util v{ver}
    Checking {word2} v{ver}
%
warning: `{word}` (lib) generated {n} warnings
%
   Compiling {word} v{ver} (/home/user/src/{word}/core)
   Compiling {word2} v{ver}
   Compiling {word3}_derive v{ver}
"""),
    kit.parse_catalogue("""
= borrow E
> error[E0502]: cannot borrow `{word}` as mutable because it is also borrowed as immutable
|   --> src/{word}.rs:{nnn}:9
|    |
| {nn} |     let first = &{word}[0];
|    |                  ----- immutable borrow occurs here
| {nn2} |     {word}.push({n});
|    |     ^^^^^^^^^^^^^ mutable borrow occurs here
| {nn3} |     println!("{:?}", first);
|    |                ----- immutable borrow later used here
? Something is changed while a reader still holds on to it.
? a collection is grown although one of its elements is in use
? aliasing conflict in the ownership rules
= moved E
> error[E0382]: borrow of moved value: `{word}`
|   --> src/{word2}.rs:{nnn}:20
|    |
| {nn} |     let {word} = String::from("x");
|    |         ---- move occurs because `{word}` has type `String`, which does not implement the `Copy` trait
| {nn2} |     consume({word});
|    |             ---- value moved here
| {nn3} |     println!("{}", {word});
|    |                    ^^^^ value borrowed here after move
? A value is used after it was given away.
? ownership was handed over too early
= mismatch E
> error[E0308]: mismatched types
|   --> src/{word}.rs:{nnn}:17
|    |
| {nnn} |     let size: u32 = "{nn}";
|    |               ---   ^^^^ expected `u32`, found `&str`
|    |               |
|    |               expected due to this
? text is put where a number was announced
? a literal of the wrong kind
= lifetime E
> error[E0106]: missing lifetime specifier
|   --> src/{word}.rs:{nnn}:33
|    |
| {nnn} | fn longest(x: &str, y: &str) -> &str {
|    |               ----     ----     ^ expected named lifetime parameter
|    |
|    = help: this function's return type contains a borrowed value, but the signature does not say whether it is borrowed from `x` or `y`
? It is unclear how long the returned reference may live.
? a signature needs to say from which input its result is taken
= dangling E
> error[E0597]: `{word}` does not live long enough
|   --> src/{word2}.rs:{nnn}:13
|    |
| {nn} |         out = &{word};
|    |               ^^^^^ borrowed value does not live long enough
| {nn2} |     }
|    |     - `{word}` dropped here while still borrowed
? A reference would outlive what it points to.
? something is destroyed while it is still needed
= trait E
> error[E0277]: the trait bound `{word}::Config: Clone` is not satisfied
|   --> src/{word}.rs:{nnn}:14
|    |
| {nnn} |     spread(config);
|    |     ------ ^^^^^^ the trait `Clone` is not implemented for `{word}::Config`
|    |     |
|    |     required by a bound introduced by this call
? A type cannot be duplicated though a function insists on it.
? a needed capability of a structure is missing
= send E
> error: future cannot be sent between threads safely
|   --> src/{word}.rs:{nnn}:18
|    |
| {nnn} |     tokio::spawn(async move {
|    |                  ^ future created by async block is not `Send`
|    |
|    = help: within `{async block}`, the trait `Send` is not implemented for `Rc<{n}>`
? Asynchronous work holds something that may not change threads.
? a reference counter that is not thread-safe
= nonexh E
> error[E0004]: non-exhaustive patterns: `Shape::{word}` not covered
|   --> src/{word2}.rs:{nnn}:11
|    |
| {nnn} |     match shape {
|    |           ^^^^^ pattern `Shape::{word}` not covered
? Not every alternative is dealt with.
? a case was forgotten in a branch over an enumeration
= privat E
> error[E0616]: field `{word}` of struct `Account` is private
|   --> src/{word2}.rs:{nnn}:20
|    |
| {nnn} |     account.{word} = {nn};
|    |             ^^^^^ private field
? Somebody reaches into what another module keeps to itself.
? hidden member accessed
= nofn E
> error[E0425]: cannot find function `{word}_all` in this scope
|   --> src/{word2}.rs:{nnn}:5
|    |
| {nnn} |     {word}_all(&items);
|    |     ^^^^^^^^^ not found in this scope
? A routine is called that nobody wrote.
? unknown name in a call
= args E
> error[E0061]: this function takes 2 arguments but 1 argument was supplied
|   --> src/{word}.rs:{nnn}:5
|    |
| {nnn} |     scale({n});
|    |     ^^^^^--- argument #2 of type `f64` is missing
? One of two inputs is left out.
? an incomplete call
= mutbind E
> error[E0384]: cannot assign twice to immutable variable `{word}`
|   --> src/{word2}.rs:{nnn}:5
|    |
| {nn} |     let {word} = {n};
|    |         ---- first assignment to `{word}`
| {nn2} |     {word} = {nnn};
|    |     ^^^^^^^ cannot assign twice to immutable variable
? A binding that may not vary gets a second value.
? the keyword that permits changes is missing
= unused W
> warning: unused variable: `{word}`
|   --> src/{word2}.rs:{nnn}:9
|    |
| {nnn} |     let {word} = load();
|    |         ^^^^ help: if this is intentional, prefix it with an underscore: `_{word}`
? A result is stored and forgotten.
? needless local
= dead W
> warning: function `{word}_legacy` is never used
|   --> src/{word2}.rs:{nnn}:4
|    |
| {nnn} | fn {word}_legacy() {}
|    |    ^^^^^^^^^^^
|    |
|    = note: `#[warn(dead_code)]` on by default
? Nobody calls this routine any more.
? code that could be deleted
= result W
> warning: unused `Result` that must be used
|   --> src/{word}.rs:{nnn}:5
|    |
| {nnn} |     file.flush();
|    |     ^^^^^^^^^^^^
|    |
|    = note: this `Result` may be an `Err` variant, which should be handled
? A possible failure of writing is ignored.
? the outcome of an operation is dropped without a look
= deprec W
> warning: use of deprecated method `{word}::Client::connect_v1`: use `connect` instead
|   --> src/{word2}.rs:{nnn}:17
|    |
| {nnn} |     client.connect_v1();
|    |            ^^^^^^^^^^
? An old way of opening a link is still used.
? something the library's authors want to retire
= feature E
> error: failed to select a version for `{word}`.
|     ... required by package `{word2} v{ver}`
| versions that meet the requirements `^{n}` are: {n}.0.1
|
| the package `{word2}` depends on `{word}`, with features: `{word3}` but `{word}` does not have these features.
? An optional part is switched on that the crate does not offer.
? why can the dependencies not be resolved?
= linker E
> error: linking with `cc` failed: exit status: 1
|   = note: /usr/bin/ld: cannot find -l{word}: No such file or directory
|           collect2: error: ld returned 1 exit status
? Which native library is missing at the last stage?
? joining the object files failed
= script E
> error: failed to run custom build command for `{word}-sys v{ver}`
| Caused by:
|   process didn't exit successfully: `/home/user/target/debug/build/{word}-sys-{hash}/build-script-build` (exit status: 101)
|   --- stderr
|   thread 'main' panicked at build.rs:{nn}:
|   could not find system library '{word}' required by the '{word}-sys' crate
? A preparation program of a dependency gave up.
? what the system lacks for a binding crate
= clippy W
> warning: this `if` statement can be collapsed
|   --> src/{word}.rs:{nnn}:5
|    |
| {nn} | /     if a {
| {nn2} | |         if b {
|    | |_____^
|    |
|    = help: for further information visit https://rust-lang.github.io/rust-clippy/master/index.html#collapsible_if
? Two nested conditions could be one.
? a hint about simplifying branches
= dup E
> error[E0428]: the name `{word}` is defined multiple times
|   --> src/{word2}.rs:{nnn}:1
|    |
| {nn} | struct {word};
|    | ------- previous definition of the type `{word}` here
| {nnn} | struct {word};
|    | ^^^^^^^ `{word}` redefined here
? Two things share a name in one place.
? a second definition of a structure
= macro E
> error: no rules expected the token `{word}`
|   --> src/{word2}.rs:{nnn}:19
|    |
| {nnn} |     table!(a => 1, {word} 2);
|    |                    ^^^^ no rules expected this token in macro call
? A macro does not understand its input.
? code generation rejects what it was given
"""),
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
    blocks("""
ok  	example.com/{word}/{word2}	0.{nnn}s
%
?   	example.com/{word}/internal/{word2}	[no test files]
%
=== RUN   Test{word}{n}
--- PASS: Test{word}{n} (0.0{n2}s)
%
=== RUN   Test{word}Table
=== RUN   Test{word}Table/{word2}
--- PASS: Test{word}Table (0.00s)
    --- PASS: Test{word}Table/{word2} (0.00s)
%
ok  	example.com/{word}/{word3}	(cached)
%
PASS
ok  	example.com/{word}	{n}.{nnn}s
"""),
    kit.parse_catalogue("""
= unusedvar E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:2: declared and not used: {word}
? A local is introduced and never read.
? the compiler insists on removing a name
= unusedimp E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{n}:2: "strings" imported and not used
? A package is loaded for nothing.
? superfluous entry in the import list
= undefined E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:14: undefined: {word}Handler
? A name is used that no file of the package provides.
? which identifier is unknown?
= assign E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:17: cannot use "{nn2}" (untyped string constant) as int value in assignment
? text ends up in a variable for numbers
? a quoted figure where a bare one is needed
= iface E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:22: cannot use store (variable of type *memStore) as Store value in argument to New: *memStore does not implement Store (missing method Close)
? A type does not fulfil what the interface demands.
? which operation must be added to the in-memory variant?
= missingret E
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:1: missing return
? One way through a function ends without a result.
? end of a function is reached without giving anything back
= vetprintf W
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:3: fmt.Printf format %d has arg name of wrong type string
? A placeholder for numbers is fed with text.
? the static examiner dislikes an output call
= vetlock W
> # example.com/{word}/{word2}
| {word2}/{word3}.go:{nn}:9: copyLocks passes lock by value: sync.Mutex
? Something that guards shared state is duplicated by accident.
? a mutex is copied
= failwant F
> --- FAIL: Test{word}Sum (0.00s)
|     {word2}_test.go:{nn}: Sum() = {nnn}, want {nnn2}
? An addition gives another figure than the test expects.
? a total is wrong
= faildiff F
> --- FAIL: Test{word}Parse (0.0{n}s)
|     --- FAIL: Test{word}Parse/empty_input (0.00s)
|         {word2}_test.go:{nn}: expected error, got nil
? Nothing to read is accepted although it should be refused.
? blank text goes through the parser without complaint
= panicidx F
> --- FAIL: Test{word}Last (0.00s)
| panic: runtime error: index out of range [-1] [recovered]
| goroutine {nn} [running]:
| testing.tRunner.func1.2()
| 	/usr/local/go/src/testing/testing.go:{nnnn}
| example.com/{word}/{word2}.Last({0x0, 0x0, 0x0})
| 	/home/user/src/{word}/{word2}/last.go:{nn}
? The final element of an empty list is fetched.
? a crash inside of a test because of a position before the start
= timeout F
> panic: test timed out after {sec}s
| 	running tests:
| 		Test{word}Drain ({sec}s)
| goroutine {nnn} [chan receive]:
| example.com/{word}/{word2}.(*Pool).Drain(0xc000{hex})
| 	/home/user/src/{word}/{word2}/pool.go:{nn}
? What never finished?
? a test waits for a message that does not come
= race F
> WARNING: DATA RACE
| Write at 0x00c000{hex} by goroutine {nn}:
|   example.com/{word}/{word2}.(*Counter).Inc()
|       /home/user/src/{word}/{word2}/counter.go:{nn2}
| Previous read at 0x00c000{hex} by goroutine {nn3}:
|   example.com/{word}/{word2}.(*Counter).Value()
|       /home/user/src/{word}/{word2}/counter.go:{nn4}
? Two threads of work touch one variable without agreement.
? unsynchronised access to a tally
= deadlock F
> fatal error: all goroutines are asleep - deadlock!
| goroutine 1 [chan send]:
| main.main()
| 	/home/user/src/{word}/main.go:{nn}
? Everybody waits for everybody.
? complete standstill of the program
= nomod E
> {word}/{word2}.go:{n}:2: no required module provides package example.com/{word3}/client; to add it:
| 	go get example.com/{word3}/client
? A dependency is not listed.
? which module has to be fetched first?
= cycle E
> package example.com/{word}/api
| 	imports example.com/{word}/{word2}
| 	imports example.com/{word}/api: import cycle not allowed
? Two packages need each other.
? circular dependency
= cgo E
> # example.com/{word}/native
| native/{word2}.go:{n}:11: fatal error: {word3}.h: No such file or directory
| compilation terminated.
? A C header is missing.
? binding to a foreign library does not build
= skip S
> --- SKIP: Test{word}Integration (0.00s)
|     {word2}_test.go:{nn}: set {word3}_DSN to run against a real server
? Which test was passed over for want of a server?
? something is not exercised here, with the reason
= bench N
> Benchmark{word}-8   	  {nnnnn}	    {nnnn} ns/op	     {nnn} B/op	      {n} allocs/op
? How quick is it per operation?
? a measurement of speed and memory
= nofmt F
> --- FAIL: Test{word}Golden (0.00s)
|     {word2}_test.go:{nn}: output differs from testdata/{word3}.golden:
|         -  total: {nnn}
|         +  total: {nnn2}
? The stored reference does not match what is produced now.
? comparison with a saved file failed
= http F
> --- FAIL: Test{word}Handler (0.0{n}s)
|     {word2}_test.go:{nn}: status = 500, want 404
? A request for something absent crashes instead of being answered properly.
? wrong answer code of a web function
"""),
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
    blocks("""
PASS test/{word}.test.js
%
PASS src/{word}/__tests__/{word2}.test.ts ({n}.{nnn} s)
%
  {word} helpers
    ✓ keeps order ({n} ms)
    ✓ accepts an empty list
    ✓ ignores {word2} ({nn} ms)
%
  console.log
    loaded {nn} {word} fixtures

      at Object.log (test/{word2}.test.js:{nn}:11)
%
  {word} › {word2}
    ✓ returns {nnn}
    ○ skipped later
%
 ✓ test/{word}.spec.ts ({nn} tests) {nnn}ms
"""),
    kit.parse_catalogue("""
= tobe F
>   ● {word} › adds prices
|
|     expect(received).toBe(expected) // Object.is equality
|
|     Expected: {nnn}
|     Received: {nnn2}
|
|       {nn} |   const sum = total(cart);
|     > {nn2} |   expect(sum).toBe({nnn});
|          |               ^
|
|       at Object.<anonymous> (test/{word}.test.js:{nn2}:15)
? What the customer has to pay is computed wrongly.
? a sum of amounts differs from what was expected
= equal F
>   ● {word} › keeps the newest entry
|
|     expect(received).toEqual(expected) // deep equality
|
|     - Expected  - 1
|     + Received  + 1
|
|       Array [
|     -   "{word2}",
|     +   "{word3}",
|       ]
|
|       at Object.<anonymous> (test/{word}.test.js:{nn}:19)
? The wrong element survives.
? a list has another member than it should
= throws F
>   ● {word} › refuses a negative amount
|
|     expect(received).toThrow(expected)
|
|     Received function did not throw
|
|       at Object.toThrow (test/{word}.test.js:{nn}:27)
? Input below nought is taken without protest.
? missing validation: an exception should have come
= timeout F
>   ● {word} › waits for the reply
|
|     thrown: "Exceeded timeout of 5000 ms for a test.
|     Add a timeout value to this test to increase the timeout, if this is a long-running test."
|
|       at test (test/{word}.test.js:{nn}:3)
? An answer never came within the allowed time.
? which test hung?
= undefinedprop F
>   ● {word} › renders the header
|
|     TypeError: Cannot read properties of undefined (reading '{word2}')
|
|       {nn} | export function header(page) {
|     > {nn2} |   return page.meta.{word2};
|          |                    ^
|
|       at header (src/{word}.js:{nn2}:20)
|       at Object.<anonymous> (test/{word}.test.js:{nn}:10)
? The top of the page cannot be drawn since its data are absent.
? access to a part of something that does not exist
= snapshot F
>   ● {word} › matches the stored markup
|
|     expect(received).toMatchSnapshot()
|
|     Snapshot name: `{word} matches the stored markup 1`
|
|     - Snapshot  - 1
|     + Received  + 1
|
|       <button
|     -   class="{word2}"
|     +   class="{word3}"
|       >
? The recorded look has changed.
? difference between saved and present HTML
= module F
>   ● Test suite failed to run
|
|     Cannot find module '../src/{word}' from 'test/{word2}.test.js'
|
|       > 1 | const m = require('../src/{word}');
|           |           ^
? A whole file of tests could not begin as something it loads is missing.
? unresolved path of an import
= syntax F
>   ● Test suite failed to run
|
|     SyntaxError: /home/user/app/src/{word}.js: Unexpected token, expected "," ({nn}:{n})
|
|       {nn} |   const a = [1 2];
|          |                ^
? A source file is not valid JavaScript.
? a comma was forgotten
= mock F
>   ● {word} › sends one mail
|
|     expect(jest.fn()).toHaveBeenCalledTimes(expected)
|
|     Expected number of calls: 1
|     Received number of calls: {n}
|
|       at Object.toHaveBeenCalledTimes (test/{word}.test.js:{nn}:18)
? The letter goes out more often than intended.
? a stand-in was invoked too many times
= calledwith F
>   ● {word} › asks the right address
|
|     expect(jest.fn()).toHaveBeenCalledWith(...expected)
|
|     - "https://{word2}.example/v2"
|     + "https://{word2}.example/v1"
|
|     Number of calls: 1
? An outdated interface version is contacted.
? a stand-in got another URL than planned
= rejects F
>   ● {word} › reports a lost connection
|
|     expect(received).rejects.toThrow()
|
|     Received promise resolved instead of rejected
|     Resolved to value: null
|
|       at expect (test/{word}.test.js:{nn}:11)
? A breakdown of the line is silently turned into an empty result.
? asynchronous failure expected, but all seemed well
= hook F
>   ● {word} › beforeAll
|
|     connect ECONNREFUSED 127.0.0.1:{port}
|
|       at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16)
? The preparation of a group of tests could not reach its server.
? set-up step failed to connect
= leak W
> A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking due to improper teardown.
? Do some tests leave things running?
? a helper process had to be killed at the end
= coverage F
> Jest: "global" coverage threshold for branches ({nn}%) not met: {n}.{nn2}%
? Is enough of the code exercised?
? a minimum share was missed
= obsolete W
>  › {n} snapshots obsolete from test/{word}.test.js.
|    ↳ {word} matches old layout 1
? Which stored pictures are no longer used?
? leftovers that can be removed from the recordings
= float F
>   ● {word} › converts currency
|
|     expect(received).toBe(expected) // Object.is equality
|
|     Expected: 0.3
|     Received: 0.30000000000000004
? The inexactness of decimals bites.
? tiny deviation when changing money
= act W
>   console.error
|     Warning: An update to {word}List inside a test was not wrapped in act(...).
|
|       at src/{word}List.tsx:{nn}:5
? React complains about a state change outside of the test helper.
? a component was altered without waiting
= listen F
>   ● {word} › starts the server
|
|     listen EADDRINUSE: address already in use :::{port}
|
|       at Server.setupListenHandle [as _listen2] (node:net:1817:16)
? The place to listen on was taken already.
? two servers want the same number
"""),
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
    blocks("""
Collecting {word}-client>={n} (from -r requirements.txt (line {nn}))
  Downloading {word}_client-{ver}-py3-none-any.whl ({nn2} kB)
%
Collecting {word}>={n} (from {word2}-core->-r requirements.txt (line {n2}))
  Using cached {word}-{ver}-cp311-cp311-manylinux_2_17_x86_64.whl ({n}.{n2} MB)
%
Requirement already satisfied: {word} in /usr/lib/python3.11/site-packages (from {word2}) ({ver})
%
Collecting {word}-utils<{n2},>={n} (from {word2})
  Downloading {word}_utils-{ver}-py3-none-any.whl.metadata ({n}.{n2} kB)
     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ {nnn}/{nnn} kB {n}.{n2} MB/s eta 0:00:00
%
Building wheels for collected packages: {word}
  Building wheel for {word} (pyproject.toml): started
  Building wheel for {word} (pyproject.toml): finished with status 'done'
  Created wheel for {word}: filename={word}-{ver}-py3-none-any.whl size={nnnnn} sha256={hash}{hash2}
"""),
    kit.parse_catalogue("""
= nomatch E
> ERROR: Could not find a version that satisfies the requirement {word}-sdk=={n}.9{nn} (from versions: 1.0, 1.1, 2.0)
| ERROR: No matching distribution found for {word}-sdk=={n}.9{nn}
? Which requirement asks for a release that nobody published?
? why is one of the dependencies impossible to get?
= conflict E
> ERROR: Cannot install {word}=={ver} and {word2}=={n} because these package versions have conflicting dependencies.
| The conflict is caused by:
|     {word} {ver} depends on {word3}<2
|     {word2} {n} depends on {word3}>=3
? Which two packages exclude each other, and over what?
? incompatible demands on a common library
= build E
>   error: subprocess-exited-with-error
|   × Building wheel for {word}-native (pyproject.toml) did not run successfully.
|   │ exit code: 1
|   ╰─> [{nn} lines of output]
|       running build_ext
|       src/{word}.c:{nnn}:10: fatal error: {word2}/{word3}.h: No such file or directory
|       compilation terminated.
|       [end of output]
|   note: This error originates from a subprocess, and is likely not a problem with pip.
? Which package has C code that does not compile here?
? a header is missing when making a binary
= pyver E
> ERROR: Package '{word}-next' requires a different Python: 3.11.7 not in '>=3.13'
? Which dependency needs a newer interpreter?
? our Python is too old for one thing
= yanked W
> WARNING: The candidate selected for download or install is a yanked version: '{word}' candidate (version {ver})
| Reason for being yanked: {word2} data was shipped by mistake
? Which release was withdrawn by its authors?
? a retracted version is going to be used
= hash E
> ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
|     {word}-lite from https://packages.example/{word}.whl:
|         Expected sha256 {hash}{hash2}
|              Got        {hex}{hex2}
? Which download has an unexpected fingerprint?
? the contents of a file changed behind our back
= retry W
> WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError("HTTPSConnectionPool(host='packages.example', port=443): Read timed out. (read timeout=15)")': /simple/{word}-db/
? Was the network flaky?
? an index page had to be asked for again
= uninstall N
>   Attempting uninstall: {word}-cli
|     Found existing installation: {word}-cli {n}.0
|     Uninstalling {word}-cli-{n}.0:
|       Successfully uninstalled {word}-cli-{n}.0
? What was replaced by another release?
? removal of an earlier copy
= path W
>   WARNING: The script {word}ctl is installed in '/home/user/.local/bin' which is not on PATH.
|   Consider adding this directory to PATH or, if you prefer to suppress this warning, use --no-warn-script-location.
? Which command will not be found by the shell?
? a program was put where nobody looks
= resolver W
> ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.
| {word}-web {ver} requires {word2}<{n}, but you have {word2} {n}.1 which is incompatible.
? What that was installed earlier is broken now?
? an older package no longer gets what it wants
= root W
> WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour with the system package manager. It is recommended to use a virtual environment instead.
? What is said about installing with full rights?
? advice against using the administrator account
= backtrack N
> INFO: pip is looking at multiple versions of {word}-ml to determine which version is compatible with other requirements. This could take a while.
|   Downloading {word}_ml-{n}.2-py3-none-any.whl.metadata (3 kB)
|   Downloading {word}_ml-{n}.1-py3-none-any.whl.metadata (3 kB)
|   Downloading {word}_ml-{n}.0-py3-none-any.whl.metadata (3 kB)
? For which package were older and older releases tried?
? the search went backwards through the history
= extra W
> WARNING: {word}-auth {ver} does not provide the extra '{word2}'
? Which optional part does not exist?
? a bracketed addition nobody knows
= git N
> Collecting {word}-fork
|   Cloning https://git.example/{word}.git (to revision {hex}) to /tmp/pip-install-{suffix}/{word}
|   Resolved https://git.example/{word}.git to commit {sha}
|   Preparing metadata (pyproject.toml): finished with status 'done'
? What comes straight from a source repository?
? a dependency pinned to a commit
= sdist N
> Collecting {word}-ancient
|   Downloading {word}-ancient-{ver}.tar.gz ({nnn} kB)
|   Preparing metadata (setup.py): finished with status 'done'
? What is delivered as source and not ready-made?
? no wheel: an archive from the old days
= legacy W
>   DEPRECATION: {word} is being installed using the legacy 'setup.py install' method, because it does not have a 'pyproject.toml' and the 'wheel' package is not installed.
? Which package is installed in a way that will vanish?
? an outdated installation mechanism
= metadata E
> error: metadata-generation-failed
| × Encountered error while generating package metadata.
| ╰─> {word}-tools
|     KeyError: '{word2}_version'
| note: This is an issue with the package mentioned above, not pip.
? Which package cannot even say what it is?
? preparation of the description crashed
= notice N
> [notice] A new release of pip is available: 23.{n} -> 25.{n2}
| [notice] To update, run: pip install --upgrade pip
? Is the installer itself out of date?
? hint about upgrading the tool
"""),
    groups("nomatch conflict pyver extra resolver\nbuild metadata sdist legacy git\nhash retry\nyanked"),
    [],
    ["Successfully installed {word}-{ver} {word2}-{n}.0"],
    False,
)

NPM = Paper(
    "npm",
    "npm_install",
    ["npm install", "npm ci", "npm install --no-fund"],
    blocks("""
npm http fetch GET 200 https://packages.example/{word} {nnn}ms (cache miss)
%
npm http fetch GET 304 https://packages.example/@{word}%2f{word2} {nn}ms (cache revalidated)
%
> {word}@{ver} postinstall
> node scripts/notice.js
%
npm verbose reify failed optional dependency /home/user/app/node_modules/@{word}/linux-arm64
%
npm silly fetch manifest {word}@^{n}.0.0
npm silly placeDep ROOT {word}@{ver} OK for: app@1.0.0 want: ^{n}.0.0
%
npm sill tarball no local data for {word}@{ver}, extracting by manifest
"""),
    kit.parse_catalogue("""
= peer E
> npm error code ERESOLVE
| npm error ERESOLVE could not resolve
| npm error While resolving: {word}-ui@{ver}
| npm error Found: {word2}@{n}.0.0
| npm error Could not resolve dependency:
| npm error peer {word2}@"^1.0.0" from {word}-ui@{ver}
? Which package insists on another release of its host?
? incompatible expectation towards a shared library
= deprecated W
> npm warn deprecated {word}-js@{ver}: this library is no longer supported, use {word2} instead
? What has been abandoned by its authors?
? unmaintained dependency and what to take instead
= memleak W
> npm warn deprecated {word}flight@1.0.6: This module is not supported, and leaks memory. Do not use it.
? Which dependency is known to eat up RAM?
? a module with a known defect in handling memory
= engine W
> npm warn EBADENGINE Unsupported engine {
| npm warn EBADENGINE   package: '{word}-cli@{ver}',
| npm warn EBADENGINE   required: { node: '>=22.4' },
| npm warn EBADENGINE   current: { node: 'v18.19.1', npm: '10.2.4' }
| npm warn EBADENGINE }
? Which tool wants a newer runtime?
? our Node is too old for something
= gyp E
> npm error gyp ERR! build error
| npm error gyp ERR! stack Error: `make` failed with exit code: 2
| npm error ../src/{word}.cc:{nnn}:{nn}: error: 'class v8::{word2}' has no member named '{word3}'
| npm error make: *** [{word}.target.mk:{nnn}: Release/obj.target/{word}.o] Error 1
? Which native add-on could not be compiled?
? C++ trouble while installing
= e404 E
> npm error code E404
| npm error 404 Not Found - GET https://packages.example/@{word}%2fprivate-kit - Not found
| npm error 404  '@{word}/private-kit@^{n}.0.0' is not in this registry.
? Which package does the server not know?
? something internal is looked for in the public place
= etarget E
> npm error code ETARGET
| npm error notarget No matching version found for {word}-core@^{nn}.0.0.
? Which release is too high to exist?
? range that nothing satisfies
= integrity E
> npm error code EINTEGRITY
| npm error sha512-{hash} integrity checksum failed when using sha512: wanted sha512-{hash} but got sha512-{hash2}. ({nnnnn} bytes)
? Which archive is not what the lock file promises?
? contents were altered or damaged
= lock E
> npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.
| npm error Missing: {word}@{ver} from lock file
? Why does the strict installation refuse?
? the record of exact versions is out of step
= eacces E
> npm error code EACCES
| npm error syscall mkdir
| npm error path /usr/local/lib/node_modules/{word}
| npm error errno -13
? Where may we not write?
? rights are missing for a global installation
= audit W
> {nn} vulnerabilities ({n} low, {n2} moderate, 3 critical)
? How many weaknesses are known?
? outcome of the safety examination
= postinstall E
> npm error command failed
| npm error command sh -c node install.js
| npm error Error: Unable to download {word} binary: getaddrinfo ENOTFOUND dl.{word}.example
? Which helper could not fetch its program from the internet?
? a script after installing failed for want of network
= funding N
> {nnn} packages are looking for funding
|   run `npm fund` for details
? Who would like money?
? note on supporting authors
= cert E
> npm error code SELF_SIGNED_CERT_IN_CHAIN
| npm error request to https://packages.example/{word} failed, reason: self-signed certificate in certificate chain
? Why is the server not trusted?
? company proxy breaks the encryption
= proxy W
> npm warn config proxy Invalid proxy URL "{word}:{port}", ignored
? Which setting of the client makes no sense?
? wrong intermediary in the configuration
= bin W
> npm warn bin-links {word}: file already exists at node_modules/.bin/{word2}, not overwriting
? Which command name clashes with one that is there?
? two packages want the same executable name
= opt W
> npm warn optional SKIPPING OPTIONAL DEPENDENCY: fsevents@2.3.{n} (node_modules/fsevents): unsupported platform (wanted "darwin")
? What was left out because this is not a Mac?
? platform-specific extra not installed
"""),
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
    blocks("""
dist/assets/{word}-{hex}.js     {nn}.{nn2} kB │ gzip: {n}.{n2} kB
%
asset {word}.{hex}.js {nn}.{n} KiB [emitted] [immutable] [minimized]
%
  ./src/{word}/{word2}.ts {n}.{nn} KiB [built] [code generated]
  ./src/{word3}.ts {nnn} bytes [built] [code generated]
%
transforming ({nnn}) src/{word}/{word2}.vue
%
modules by path ./node_modules/{word}/ {nn}.{n} KiB
  ./node_modules/{word}/index.js {n}.{n2} KiB [built]
%
[{word}] generated {nn} icons
"""),
    kit.parse_catalogue("""
= notfound E
> ERROR in ./src/{word}/index.ts {n}:0-34
| Module not found: Error: Can't resolve '{word2}-charts' in '/home/user/app/src/{word}'
|  @ ./src/main.ts {n}:0-20
? Which import leads nowhere?
? a dependency the bundler could not locate
= tstype E
> ERROR in src/{word}/{word2}.ts:{nn}:9
| TS2322: Type 'string' is not assignable to type 'number'.
|     {nn} |   const size: number = "{word3}";
|        |         ^^^^
? text assigned to a numeric constant
? a type complaint in the middle of bundling
= size W
> (!) Some chunks are larger than 500 kB after minification. Consider:
| - Using dynamic import() to code-split the application
| - Use build.rollupOptions.output.manualChunks to improve chunking
? Is the result too heavy?
? advice to divide the bundle
= asset W
> WARNING in asset size limit: The following asset(s) exceed the recommended size limit (244 KiB).
| Assets:
|   {word}.{hex}.js ({nnn} KiB)
? Which output file is bigger than recommended?
? performance advice on one file
= sass W
> Deprecation Warning: Using / for division is deprecated and will be removed in Dart Sass 2.0.0.
|   ╷
| {nn} │   width: $gap/2;
|   │          ^^^^^^
|   ╵
|     src/styles/{word}.scss {nn}:10  root stylesheet
? An arithmetic sign in a style sheet will stop working.
? obsolete notation in the styling
= cssorder W
> warning [mini-css-extract-plugin] Conflicting order. Following module has been added:
|  * css ./src/{word}.css
| despite it was not able to fulfill desired ordering with these modules:
|  * css ./src/{word2}.css
? Could styles override each other in an unexpected sequence?
? sequence of style sheets is contradictory
= syntax E
> ERROR in ./src/{word}.jsx
| Module build failed (from ./node_modules/babel-loader/lib/index.js):
| SyntaxError: /home/user/app/src/{word}.jsx: Adjacent JSX elements must be wrapped in an enclosing tag. ({nn}:{n})
? A component gives back two roots.
? markup in the code is not well formed
= exportmiss W
> WARNING in ./src/{word}.js {n}:5-13
| export '{word2}' (imported as '{word2}') was not found in './{word3}' (possible exports: default, load)
? Something is imported that the other file does not offer.
? a missing named export
= circular W
> (!) Circular dependency
| src/{word}.js -> src/{word2}.js -> src/{word}.js
? Which files load each other?
? a loop among the modules
= evalw W
> (!) Use of eval is strongly discouraged
| src/vendor/{word}.js
| {nn}: eval(code);
|     ^
? Where is text executed as a program?
? a risky dynamic feature
= heap E
> FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory
|  1: 0xb090e0 node::Abort() [node]
|  2: 0xa1b70e [node]
| Aborted (core dumped)
? Did the builder itself die for want of memory?
? collapse of the process
= env W
> warning: environment variable VITE_{word}_URL is not defined, using empty string
? Which outside value is not set?
? an address will be empty in the result
= browserslist W
> Browserslist: caniuse-lite is outdated. Please run:
|   npx update-browserslist-db@latest
? Which table of browser abilities is old?
? data about clients need refreshing
= sourcemap W
> Sourcemap for "/home/user/app/node_modules/{word}/dist/index.js" points to missing source files
? For which library can we not look at the original when debugging?
? mapping back to the sources is broken
= unusedcss N
> purged {nnn} unused selectors from {word}.css ({nn}.{n} kB saved)
? How much styling was thrown away?
? dead rules removed
= dup W
> WARNING in {word}: Multiple versions of {word2} found:
|   {n}.0.0 ./~/{word2}
|   {n2}.1.0 ./~/{word3}/~/{word2}
? Which library is contained two times?
? two releases of one thing in the bundle
= publicpath E
> Error: ENOENT: no such file or directory, open '/home/user/app/public/{word}.svg'
? Which picture is missing?
? static file not there
= lintfail E
> src/{word}.vue
|   {nn}:7  error  'props' is defined but never used  no-unused-vars
|   {nn2}:1  error  Component name should be multi-word   vue/multi-word-component-names
? What did the style check object to in a component?
? complaints of the linter during the build
"""),
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
    blocks("""
[INFO] --- maven-resources-plugin:3.3.1:resources (default-resources) @ {word} ---
[INFO] Copying {nn} resources from src/main/resources to target/classes
%
[INFO] --- maven-compiler-plugin:3.11.0:compile (default-compile) @ {word} ---
[INFO] Compiling {nnn} source files with javac [debug release 17] to target/classes
%
[INFO] Running org.{word}.{word2}.{word3}Test
[INFO] Tests run: {nn}, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.{nnn} s -- in org.{word}.{word2}.{word3}Test
%
[INFO] Building jar: /home/user/src/{word}/target/{word}-{ver}.jar
%
[INFO] Downloaded from central: https://packages.example/maven2/org/{word}/{word2}/{ver}/{word2}-{ver}.pom ({n}.{n2} kB at {nn} kB/s)
%
[INFO] ------------------------< org.{word}:{word2} >-------------------------
[INFO] Building {word2} {ver}                                        [{n}/9]
"""),
    kit.parse_catalogue("""
= symbol E
> [ERROR] /home/user/src/{word}/src/main/java/org/{word}/Store.java:[{nn},{n}] cannot find symbol
| [ERROR]   symbol:   method {word2}(java.lang.String)
| [ERROR]   location: class org.{word}.Index
? A method is called that the class does not have.
? unknown operation according to the Java compiler
= types E
> [ERROR] /home/user/src/{word}/src/main/java/org/{word}/Price.java:[{nn},{n}] incompatible types: possible lossy conversion from double to int
? A fraction is squeezed into a whole number.
? narrowing without a cast
= checked E
> [ERROR] /home/user/src/{word}/src/main/java/org/{word}/Reader.java:[{nn},{n}] unreported exception java.io.IOException; must be caught or declared to be thrown
? A possible input failure is not dealt with.
? the compiler insists on error handling
= abstractm E
> [ERROR] /home/user/src/{word}/src/main/java/org/{word}/Plugin.java:[{nn},8] org.{word}.Plugin is not abstract and does not override abstract method close() in java.io.Closeable
? A class promises to be closable but is not.
? a required operation was not written
= npe F
> [ERROR] org.{word}.CartTest.removesItem -- Time elapsed: 0.00{n} s <<< ERROR!
| java.lang.NullPointerException: Cannot invoke "java.util.List.size()" because "this.items" is null
| 	at org.{word}.Cart.count(Cart.java:{nn})
| 	at org.{word}.CartTest.removesItem(CartTest.java:{nn2})
? Counting goods in a basket breaks, as there is no list.
? absent collection in a test of the basket
= assert F
> [ERROR] org.{word}.TaxTest.reducedRate -- Time elapsed: 0.0{n} s <<< FAILURE!
| org.opentest4j.AssertionFailedError: expected: <{nn}> but was: <{nn2}>
| 	at org.{word}.TaxTest.reducedRate(TaxTest.java:{nnn})
? The lower levy is computed wrongly.
? which figure of the VAT test differs?
= timeoutj F
> [ERROR] org.{word}.PoolTest.closesInTime -- Time elapsed: {n}.{nnn} s <<< FAILURE!
| org.opentest4j.AssertionFailedError: execution exceeded timeout of 2000 ms by {nnn} ms
| 	at org.{word}.PoolTest.closesInTime(PoolTest.java:{nnn})
? Shutting down a pool takes too long.
? a time limit in a unit test was passed
= dep E
> [ERROR] Failed to execute goal on project {word}: Could not resolve dependencies for project org.{word}:{word2}:jar:{ver}
| [ERROR] dependency: org.{word3}:{word3}-core:jar:{n}.0 (compile)
| [ERROR] 	Could not find artifact org.{word3}:{word3}-core:jar:{n}.0 in central (https://packages.example/maven2)
? Which library is not in the repository?
? unavailable artefact
= enforcer E
> [ERROR] Rule 1: org.apache.maven.enforcer.rules.version.RequireJavaVersion failed with message:
| [ERROR] Detected JDK /usr/lib/jvm/java-11 is version 11.0.{nn} which is not in the allowed range [17,).
? Which Java is used, and why is it not good enough?
? a rule on the runtime version is broken
= deprec W
> [WARNING] /home/user/src/{word}/src/main/java/org/{word}/Dates.java:[{nn},{n}] toGMTString() in java.util.Date has been deprecated
? An ancient way of writing dates is used.
? discouraged method for time
= unchecked W
> [WARNING] /home/user/src/{word}/src/main/java/org/{word}/Bag.java: Some input files use unchecked or unsafe operations.
? Where is generic safety given up?
? raw collections are used
= encoding W
> [WARNING] Using platform encoding (UTF-8 actually) to copy filtered resources, i.e. build is platform dependent!
? What makes the outcome differ between machines?
? character set not fixed in the build file
= dupdep W
> [WARNING] 'dependencies.dependency.(groupId:artifactId:type:classifier)' must be unique: org.{word}:{word2}:jar -> duplicate declaration of version {ver} @ line {nnn}
? Which library is listed two times?
? a repeated entry in the project file
= checkstyle W
> [WARN] /home/user/src/{word}/src/main/java/org/{word}/Menu.java:{nnn}: Line is longer than 120 characters (found {nnn2}). [LineLength]
? Which file breaks the rule on width?
? a style breach
= skipped N
> [WARNING] Tests run: {n}, Failures: 0, Errors: 0, Skipped: {n}, Time elapsed: 0 s -- in org.{word}.LegacyImportTest
? Which tests were not executed at all?
? suite for old imports left out
= spotbugs E
> [ERROR] High: org.{word}.Login.check(String) passes a nonconstant String to an execute method on an SQL statement [org.{word}.Login] At Login.java:[line {nnn}] SQL_NONCONSTANT_STRING_PASSED_TO_EXECUTE
? Where could input change a database command?
? security finding in the sign-in
= reactor N
> [INFO] {word} ........................................ FAILURE [ {n}.{nnn} s]
? Which module broke the whole?
? the failing part in the summary
= javadoc W
> [WARNING] /home/user/src/{word}/src/main/java/org/{word}/Api.java:{nnn}: warning: no @param for {word2}
? Which parameter is not explained?
? gap in the documentation
"""),
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
    blocks("""
[ {nn}%] Building CXX object src/CMakeFiles/{word}.dir/{word2}.cpp.o
%
[ {nn}%] Building C object lib/CMakeFiles/{word}.dir/{word2}.c.o
%
-- Looking for {word}.h
-- Looking for {word}.h - found
%
-- Performing Test HAVE_{word}
-- Performing Test HAVE_{word} - Success
%
[ {nn}%] Linking CXX static library lib{word}.a
[ {nn}%] Built target {word}
%
-- Found {word}: /usr/lib/x86_64-linux-gnu/lib{word}.so (found version "{ver}")
"""),
    kit.parse_catalogue("""
= findpkg E
> CMake Error at CMakeLists.txt:{nn} (find_package):
|   By not providing "Find{word}.cmake" in CMAKE_MODULE_PATH this project has
|   asked CMake to find a package configuration file provided by "{word}", but
|   CMake did not find one.
? Which outside library was not located during configuring?
? a prerequisite is not installed
= minver E
> CMake Error at CMakeLists.txt:1 (cmake_minimum_required):
|   CMake 3.{nn} or higher is required.  You are running version 3.1{n}.{n2}
? Is the build generator itself too old?
? demanded and present release of the tool
= policy W
> CMake Warning (dev) at cmake/{word}.cmake:{nn} (exec_program):
|   Policy CMP0153 is not set: The exec_program command should not be called.
| This warning is for project developers.  Use -Wno-dev to suppress it.
? Which retired command is still in the scripts?
? remark meant only for the authors
= notfound N
> -- Looking for {word}_create
| -- Looking for {word}_create - not found
? Which function does the system not offer?
? a probe with a negative result
= template E
> /home/user/src/{word}.cpp:{nn}:17: error: no matching function for call to 'max(int, double)'
|    {nn} |     auto m = std::max({n}, 2.5);
|       |              ~~~~~~~~^~~~~~~~
| /usr/include/c++/12/bits/stl_algobase.h:254:5: note: candidate: 'template<class _Tp> constexpr const _Tp& std::max(const _Tp&, const _Tp&)'
|   254 |     max(const _Tp& __a, const _Tp& __b)
|       |     ^~~
| note:   deduced conflicting types for parameter 'const _Tp' ('int' and 'double')
? The greater of two values of different kinds is sought.
? template deduction contradicts itself
= undefref E
> /usr/bin/ld: src/CMakeFiles/{word}.dir/main.cpp.o: in function `main':
| main.cpp:(.text+0x{hex}): undefined reference to `{word2}::open(int)'
| collect2: error: ld returned 1 exit status
? Which function was announced but never compiled in?
? the last stage misses a definition
= multidef E
> /usr/bin/ld: src/CMakeFiles/{word}.dir/b.cpp.o:(.bss+0x0): multiple definition of `{word2}_count'; src/CMakeFiles/{word}.dir/a.cpp.o:(.bss+0x0): first defined here
? Which global exists in two object files?
? a variable defined in a header
= nolib E
> /usr/bin/ld: cannot find -l{word}: No such file or directory
| collect2: error: ld returned 1 exit status
? Which archive to link against is not there?
? library absent at link time
= unused W
> /home/user/src/{word}.cpp:{nn}:9: warning: unused variable 'tmp_{word2}' [-Wunused-variable]
|    {nn} |     int tmp_{word2} = 0;
|       |         ^~~~~~~
? a leftover local in C++
? needless temporary
= reorder W
> /home/user/src/{word}.hpp:{nn}:9: warning: '{word}::size_' will be initialized after [-Wreorder]
| /home/user/src/{word}.hpp:{nn2}:7: warning:   'int {word}::pos_' [-Wreorder]
? The sequence in a constructor's list is misleading.
? members get their first values in another order than written
= override E
> /home/user/src/{word}.hpp:{nn}:10: error: 'void {word2}::draw(int) const' marked 'override', but does not override
|    {nn} |     void draw(int) const override;
|       |          ^~~~
? A method claims to replace an inherited one, yet none fits.
? signature differs from that of the base class
= private E
> /home/user/src/{word}.cpp:{nn}:12: error: 'int {word2}::secret_' is private within this context
|    {nn} |     return a.secret_;
|       |              ^~~~~~~
? A hidden member is read from outside.
? access control violated
= pure E
> /home/user/src/{word}.cpp:{nn}:11: error: cannot declare variable 's' to be of abstract type '{word2}'
|    {nn} |     {word2} s;
|       |     ^
| note:   because the following virtual functions are pure within '{word2}':
? An object of an unfinished class is made.
? which interface is instantiated directly?
= deleted E
> /home/user/src/{word}.cpp:{nn}:30: error: use of deleted function 'std::unique_ptr<_Tp>::unique_ptr(const std::unique_ptr<_Tp>&)'
|    {nn} |     auto second = first;
|       |                   ^~~~~
? A sole owner is being copied.
? duplicating something that may only be moved
= deprecated W
> /home/user/src/{word}.cpp:{nn}:8: warning: 'void {word2}_init()' is deprecated: call {word2}_setup() instead [-Wdeprecated-declarations]
? Which initialiser should no longer be called?
? outdated call and its successor
= ctest F
> {n}/9 Test #{n}: {word}_roundtrip .................***Failed    0.{nn} sec
| mismatch at byte {nnn}: 0x{n}a != 0x{n2}f
? Encoding and decoding again does not give the same.
? which test of the suite did not pass?
= ctesttime F
> {n}/9 Test #{n}: {word}_stress ....................***Timeout {sec}.01 sec
? Which test ran for too long?
? endurance check was cut off
= generator E
> CMake Error: Error: generator : Ninja
| Does not match the generator used previously: Unix Makefiles
| Either remove the CMakeCache.txt file and CMakeFiles directory or choose a different binary directory.
? Why must the folder be cleared first?
? leftovers of another build system kind
= fetch E
> CMake Error at {word}-subbuild/cmake/{word2}.cmake:{nn} (message):
|   Each download failed!
|     error: downloading 'https://dl.{word}.example/{word}-{ver}.tar.gz' failed
|           status_code: 6
? Which source archive could not be fetched?
? network trouble in obtaining a third-party part
"""),
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
    blocks("""
TASK [{word} : install packages] ***********************************************
ok: [{word2}-01]
ok: [{word3}-02]
%
TASK [{word} : write {word2} settings] ****************************************
changed: [{word3}-01]
%
TASK [Gathering Facts] *********************************************************
ok: [{word}-{n}]
ok: [{word2}-{n2}]
%
TASK [{word} : create folder] **************************************************
ok: [{word2}-{n}]
%
RUNNING HANDLER [{word} : restart {word2}] ************************************
changed: [{word3}-{n}]
%
TASK [{word} : include {word2} tasks] *****************************************
included: /home/user/play/roles/{word}/tasks/{word2}.yml for {word3}-{n}
"""),
    kit.parse_catalogue("""
= unreach E
> TASK [Gathering Facts] *********************************************************
| fatal: [{word}-{nn}]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh: connect to host {ip} port 22: Connection timed out", "unreachable": true}
? Which machine could not be talked to?
? a host that does not answer
= sudo E
> TASK [{word} : update cache] ***************************************************
| fatal: [{word2}-{nn}]: FAILED! => {"msg": "Missing sudo password"}
? Where was becoming root impossible?
? elevation needs a secret nobody gave
= undef E
> TASK [{word} : template {word2}] ***********************************************
| fatal: [{word3}-{nn}]: FAILED! => {"changed": false, "msg": "AnsibleUndefinedVariable: '{word2}_port' is undefined"}
? Which value was never given for a file to be written?
? a placeholder without content
= pkg E
> TASK [{word} : install {word2}] ************************************************
| fatal: [{word3}-{nn}]: FAILED! => {"changed": false, "msg": "No package matching '{word2}-server' is available"}
? Which software is not in the distribution?
? installation of something unknown
= service E
> TASK [{word} : start {word2}] **************************************************
| fatal: [{word3}-{nn}]: FAILED! => {"changed": false, "msg": "Could not find the requested service {word2}: host"}
? Which daemon does not exist on its machine?
? starting something that is not installed
= lock E
> TASK [{word} : apt upgrade] ****************************************************
| fatal: [{word2}-{nn}]: FAILED! => {"changed": false, "msg": "Failed to lock apt for exclusive operation: Failed to lock directory /var/lib/apt/lists/"}
? Where was the package manager busy?
? someone else holds the lists
= ignored W
> TASK [{word} : probe {word2}] **************************************************
| fatal: [{word3}-{nn}]: FAILED! => {"changed": true, "cmd": ["{word2}", "--check"], "rc": {n}, "stderr": "not ready"}
| ...ignoring
? Which failure was passed over on purpose?
? a setback that did not stop the run
= skipped N
> TASK [{word} : format disk] ****************************************************
| skipping: [{word2}-{nn}]
? Was a drive prepared, or was this left out?
? omitted preparation of storage
= diff N
> TASK [{word} : sshd config] ****************************************************
| --- before: /etc/ssh/sshd_config
| +++ after: /etc/ssh/sshd_config
| @@ -{nn},1 +{nn},1 @@
| -PermitRootLogin yes
| +PermitRootLogin no
| changed: [{word2}-{nn}]
? Where is remote login of the administrator forbidden from now on?
? a hardening edit
= retry N
> FAILED - RETRYING: [{word}-{nn}]: wait for {word2} port (3 retries left).
| FAILED - RETRYING: [{word}-{nn}]: wait for {word2} port (2 retries left).
| ok: [{word}-{nn}]
? What needed patience but came up at last?
? repeated waiting for a socket with a happy end
= retryfail E
> FAILED - RETRYING: [{word}-{nn}]: health check (1 retries left).
| fatal: [{word}-{nn}]: FAILED! => {"attempts": {n}, "changed": false, "msg": "Status code was 503 and not [200]", "status": 503, "url": "http://localhost:{port}/health"}
? Which application did not become well in the given time?
? exhausted attempts to get a good answer
= checksum E
> TASK [{word} : download release] ***********************************************
| fatal: [{word2}-{nn}]: FAILED! => {"changed": false, "msg": "The checksum for /tmp/{word}.tgz did not match {hash}; it was {hash2}."}
? Which download was damaged or exchanged?
? fingerprint of an archive differs
= assertion E
> TASK [{word} : check memory] ***************************************************
| fatal: [{word2}-{nn}]: FAILED! => {"assertion": "ansible_memtotal_mb >= 4096", "changed": false, "evaluated_to": false, "msg": "this host is too small"}
? Which machine has not enough RAM for its role?
? a size condition was not met
= vault E
> ERROR! Attempting to decrypt but no vault secrets found for {word}.yml
? Which secret file could not be opened?
? the key for enciphered variables is missing
= deprec W
> [DEPRECATION WARNING]: Use of the {word}_facts variable is deprecated; it will be removed in version 2.{nn}.
? What in the play will stop working?
? advance notice of a removal
= disk E
> TASK [{word} : unpack] *********************************************************
| fatal: [{word2}-{nn}]: FAILED! => {"changed": false, "msg": "Failed to write to /opt/{word}: [Errno 28] No space left on device"}
? Which machine is full?
? unpacking stopped for want of room
= perm E
> TASK [{word} : copy key] *******************************************************
| fatal: [{word2}-{nn}]: FAILED! => {"changed": false, "msg": "Destination /etc/{word}/private not writable"}
? Where may nothing be stored?
? target folder protected against writing
= recap N
> {word}-{nn}               : ok={nn2}   changed={n}    unreachable=0    failed=1    skipped={n2}    rescued=1    ignored=0
? Which host got through with a rescue?
? one line of the closing figures that shows a recovered failure
"""),
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


_RUNNER = blocks("""
##[group]Run actions/checkout@v4
with:
  fetch-depth: 1
##[endgroup]
%
##[group]Run make {word}
make {word}
shell: /usr/bin/bash -e {0}
##[endgroup]
%
Cache restored from key: {word}-linux-{hash}
%
Uploading {word}.xml as junit report ({n} kB)
%
Post job cleanup.
[command]/usr/bin/git version
git version 2.43.0
""")
CI_ODD = kit.parse_catalogue("""
= cachemiss N
> Cache not found for input keys: {word}-linux-{hash}, {word}-linux-
? Was nothing remembered from an earlier run?
? stored dependencies were not available
= cancelled E
> ##[error]The operation was canceled.
? Was the run broken off from outside?
? end before its time
= artifact W
> ##[warning]No files were found with the provided path: dist/{word}/*.whl. No artifacts will be uploaded.
? Which results were missing when they should be kept?
? nothing to upload
= nodeprec W
> ##[warning]Node.js 16 actions are deprecated. Please update the following actions to use Node.js 20: acme/{word}-action@v{n}.
? Which building block of the pipeline is out of date?
? notice on the runtime of a step
= secret E
> ##[error]Input required and not supplied: {word}_token
? Which credential was not handed in?
? a step lacks a mandatory value
= exit E
> ##[error]Process completed with exit code {nn}.
? With what status did the step end?
? the runner's verdict on a command
= dockerlogin E
> Error response from daemon: Get "https://registry.example/v2/": unauthorized: incorrect username or password
| ##[error]Process completed with exit code 1.
? Why could the image not be uploaded?
? the registry did not accept our sign-in
= disk W
> ##[warning]You are running out of disk space. The runner will stop working when the machine runs out of disk space. Free space left: {nn} MB
? Is the machine nearly full?
? storage on the runner is short
= deploy N
> Deployed {word} to https://{word}-{hex}.preview.example
? Where can the result be looked at?
? address of the trial version
= flake W
> Test {word}.{word2} failed on attempt 1, passed on attempt 2 (flaky)
? Which check is not reliable?
? success only at the second go
= coverage N
> Total coverage: {nn}.{n}% (-0.{n2}% from main)
? Did the exercised share fall?
? comparison of the tested part with the main line
= git E
> fatal: couldn't find remote ref refs/heads/{word}-fix
? Which branch has vanished?
? fetching the source failed
= timeoutjob E
> ##[error]The job has exceeded the maximum execution time of {sec}m0s
? Did the whole thing run longer than permitted?
? time budget of the job used up
= version E
> ##[error]Version {ver} with arch x64 not found. The list of all available versions can be found here: https://{word}.example/versions.json
? Which tool release can the runner not provide?
? wanted interpreter is unavailable
= commitlint E
> ✖   subject may not be empty [subject-empty]
| ✖   type must be one of [feat, fix, docs] [type-enum]
| ✖   found 2 problems, 0 warnings
? What is wrong with the message of a change?
? rule on describing commits broken
= tag N
> Pushed tag v{ver} to origin
? Which release mark was set?
? publication of a version
""")
_CI_ALIKE = groups(
    "cancelled timeoutjob exit timeout\ncachemiss artifact\nsecret dockerlogin git\nnodeprec deprecated deprec version engine pyver enforcer minver\ndisk heap\nflake\ncoverage unreach\nexit ctest failwant tobe assert"
)

PAPERS = [CARGO, GOTEST, JEST, PIP, NPM, WEBPACK, MAVEN, CMAKE, ANSIBLE]


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of builds and CI of many ecosystems; `observations` is how many outputs to make (default 200)."""
    for index in range(int(options.get("observations", 200))):
        local = random.Random(rng.getrandbits(64))
        if local.random() < 0.2:
            yield from _ci(local, index)
        else:
            yield from paper(local, local.choice(PAPERS), index, NAME)
