"""Static checks and builds with planted faults: mypy, pyright, ruff, flake8, pylint, gcc and make, pip.

Each project is composed of snippets; `#!` (`//!` in C) ends the line at which the tool complains, so the
evidence is found by file and line in what the tool really printed.
"""

# ruff: noqa: E501
from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page
from linecls.data.families.test_runs import NOUNS, run
from linecls.records import Record

NAME = "checks"


@dataclass
class Snippet:
    """Code with a fault at the line that ends with a mark, and queries about the complaint."""

    name: str
    head: str = ""
    body: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def snippets(text: str) -> list[Snippet]:
    """`= name` begins a snippet, `^ line` goes to the top of its file, `? query`, all else is code."""
    found: list[Snippet] = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(Snippet(line[2:].strip()))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.startswith("^ "):
            found[-1].head += line[2:] + "\n"
        elif found and (line.strip() or found[-1].body):
            found[-1].body.append(line)
    for snippet in found:
        while snippet.body and not snippet.body[-1].strip():
            snippet.body.pop()
    return found


TYPES = snippets("""
= return_str
def {t}_count(items: list[str]) -> int:
    return ",".join(items)  #!
? A function promises a number but hands back text. Where?
? declared and actual result differ: a whole number was announced
? counting {t_p} entries gives the wrong kind of value
= return_none
def {t}_title(code: int) -> str:  #!mypy
    if code > 3:
        return "high"
? In which function does one way out give nothing although text was promised?
? a path without a result
? the name of a {t_p} may silently be missing
= arg_type
def weigh_{t}(grams: int) -> float:
    return grams / 1000


{t}_weight = weigh_{t}("{nn}")  #!
? A call hands over text where digits are needed.
? wrong kind of argument for the scale
? a weight of the {t_p} is given as a string
= optional_attr
def {t}_short(name: str | None) -> str:
    return name.upper()  #!
? Where could a missing value crash a method call?
? absence of a value is not considered before it is used
? the label of a {t_p} may be empty, yet nobody checks
= missing_attr
class {T}:
    def __init__(self, level: int) -> None:
        self.level = level


def {t}_height(thing: {T}) -> int:
    return thing.{word}  #!
? A class is asked for something it does not define.
? which member does not exist?
? unknown property of a {t_p}
= wrong_args_count
def mix_{t}(left: int, right: int) -> int:
    return left + right


{t}_mixed = mix_{t}({n})  #!
? One of two required inputs was left out in a call.
? a call that is too short
? the second operand for the {t_p} is not given
= unexpected_kw
def tint_{t}(shade: int) -> int:
    return shade


{t}_tint = tint_{t}(shade={n}, {word}=True)  #!
? A named option is passed that the callee does not know.
? which call uses an invented parameter?
= assign
{t}_limit: int = "{word}"  #!
? A variable got a starting value that contradicts its annotation.
? words in a variable meant for numbers
? the limit of a {t_p} is of the wrong kind
= reassign
def {t}_state(flag: bool) -> int:
    state = {n}
    if flag:
        state = "{word}"  #!
    return len(str(state))
? A local changes its kind half-way.
? the same name first holds a number, then words
= list_item
{t}_sizes: list[int] = [{n}, {nn}, "{word}"]  #!
? One element of a collection does not fit the rest.
? a stray word among numbers
= dict_item
{t}_prices: dict[str, float] = {"a": {n}.5, {nn}: 2.0}  #!
? A mapping has a key of the wrong kind.
? which table is indexed by words except once?
= tuple_index
def {t}_pair() -> tuple[int, str]:
    return {n}, "x"


{t}_third = {t}_pair()[2]  #!
? Access to a third part of something that has only two.
? fixed-size group is indexed too far
= typed_dict
^ from typing import TypedDict
class {T}Row(TypedDict):
    name: str
    size: int


{t}_row: {T}Row = {"name": "{word}"}  #!
? A record lacks one of its required fields.
? incomplete structured dictionary
? the entry for the {t_p} has no size
= typed_dict_key
^ from typing import TypedDict
class {T}Card(TypedDict):
    title: str


def {t}_heading(card: {T}Card) -> str:
    return card["titel"]  #!
? A field name of a record is misspelt.
? which key is not part of the structure?
= protocol
^ from typing import Protocol
class {T}Sink(Protocol):
    def write(self, text: str) -> None: ...


class {T}File:
    def wirte(self, text: str) -> None:
        print(text)


def dump_{t}(sink: {T}Sink) -> None:
    sink.write("x")


dump_{t}({T}File())  #!
? An object does not offer what the interface demands.
? structural mismatch: a needed method is missing
? why can the {t_p} not be written to that target?
= override
class {T}Base:
    def render(self, width: int) -> str:
        return "x" * width


class {T}Wide({T}Base):
    def render(self, width: str) -> str:  #!
        return width
? A subclass narrows what its parent accepts.
? substitutability is broken in a method
? incompatible signature in a derived kind of {t_p}
= abstract
^ from abc import ABC, abstractmethod
class {T}Plan(ABC):
    @abstractmethod
    def cost(self) -> int: ...


{t}_plan = {T}Plan()  #!
? Something unfinished is instantiated.
? an object is made of a class that is only a pattern
= literal
^ from typing import Literal
def turn_{t}(way: Literal["left", "right"]) -> str:
    return way


{t}_way = turn_{t}("up")  #!
? A value outside of the allowed words is passed.
? which direction is not permitted?
= union
def {t}_total(value: int | list[int]) -> int:
    return value + 1  #!
? Addition on something that may be a whole list.
? one of two possible kinds does not support the operation
= not_callable
{t}_factor = {nn}
{t}_scaled = {t}_factor(2)  #!
? A number is used like a function.
? brackets behind something that cannot be called
= not_iterable
def {t}_walk(depth: int) -> int:
    total = 0
    for step in depth:  #!
        total += step
    return total
? A loop over a single number.
? looping over something that has no elements
= operand
{t}_sum = "{word}" + {n}  #!
? plus between text and digits
? unsupported combination of operands
= undefined
def {t}_area() -> float:
    return {word}_width * 2.0  #!
? A name is used that was never introduced.
? which identifier is unknown to the checker?
= import_missing
^ import {word}_{t}  #!
{t}_ready = True
? Which library cannot be located?
? a dependency that is not installed or has no type information
= index_str
def {t}_first(table: dict[str, int]) -> int:
    return table[{n}]  #!
? A dictionary is looked up with the wrong kind of key.
? words index this table, but a digit is used
= await_missing
async def fetch_{t}() -> int:
    return {nn}


async def use_{t}() -> int:
    return fetch_{t}() + 1  #!
? Somebody forgot to wait for an asynchronous result.
? arithmetic on something that has not finished yet
? the fetched {t_p} is used before it has arrived
= final
^ from typing import Final
{T}_MAX: Final = {nn}
{T}_MAX = {n}  #!
? Something declared unchangeable is changed.
? a constant gets a second value
= frozen
^ from dataclasses import dataclass
@dataclass(frozen=True)
class {T}Point:
    x: int


def move_{t}(point: {T}Point) -> None:
    point.x = {n}  #!
? A write to an immutable record.
? which field is read-only?
= generic
def {t}_names() -> list[str]:
    return ["x"]


{t}_codes: list[int] = {t}_names()  #!
? A collection of words is put where one of numbers belongs.
? element kinds of two lists do not agree
= callback
^ from collections.abc import Callable
def each_{t}(work: Callable[[int], str]) -> str:
    return work(1)


def label_{t}(text: str) -> str:
    return text


each_{t}(label_{t})  #!
? A handler with the wrong parameter kind is registered.
? a function is passed on that takes something else than it will get
= yield
^ from collections.abc import Iterator
def stream_{t}() -> Iterator[int]:
    yield "{word}"  #!
? A generator produces something else than it says.
? wrong kind of element in a stream
= property
class {T}Gauge:
    @property
    def level(self) -> int:
        return {n}


{T}Gauge().level = {nn}  #!
? An attribute that can only be read is written.
? setter missing
= self_missing
class {T}Door:
    def open() -> None:  #!
        print("open")
? A method forgot its instance.
? which method takes no parameter although it must take one?
= possibly_unbound
def {t}_mode(flag: bool) -> str:
    if flag:
        mode = "a"
    return mode  #!pyright
? A local might never get its value.
? used although only one branch sets it
= super_init
class {T}Node:
    def __init__(self, name: str) -> None:
        self.name = name


class {T}Leaf({T}Node):
    def __init__(self) -> None:
        super().__init__()  #!
? The parent is set up without what it needs.
? constructor of the base class is called with too little
= str_bytes
def {t}_send(data: bytes) -> None:
    print(data)


{t}_send("{word}")  #!
? Text is given where raw octets are wanted.
? encoding step forgotten
= enum_member
^ from enum import Enum
class {T}Kind(Enum):
    SMALL = 1


{t}_kind = {T}Kind.LARGE  #!
? A choice is used that the enumeration does not list.
? unknown enumeration member
= missing_return_value
def {t}_store(value: int) -> None:
    return value  #!
? A procedure gives something back although it should give nothing.
? unwanted result
""")

LINT = snippets("""
= F401
^ import {module}  #!
? Something is loaded and then never needed.
? dead weight at the top of a file
= F841
def {t}_scan(rows):
    {word} = len(rows)  #!
    return rows
? A local gets a value nobody reads.
? useless assignment inside a function
= F821
def {t}_size():
    return {word}_size * 2  #!
? Which name does not exist at all?
? use of something never defined
= F811
def {t}_twice():
    return 1


def {t}_twice():  #!
    return 2
? A function is written two times under the same name.
? the second definition hides the first
= E711
def {t}_missing(value):
    return value == None  #!
? An equality test where identity should be used for emptiness.
? comparison to the null object in the wrong style
= E712
def {t}_ready(flag):
    if flag == True:  #!
        return 1
    return 0
? A truth value is compared explicitly.
? clumsy check of a boolean
= E722
def {t}_try(work):
    try:
        work()
    except:  #!
        return None
? Every possible failure is swallowed, even a keyboard interrupt.
? handler that does not say what it catches
= E731
{t}_key = lambda row: row[0]  #!
? An anonymous function is given a name; a definition would be better.
? assignment of an inline function
= E741
def {t}_length(values):
    l = len(values)  #!
    return l
? A variable name can be mistaken for a digit.
? ambiguous single letter
= F541
{t}_text = f"plain {t}"  #!
? A template text has nothing to be filled in.
? needless prefix of a string
= F632
def {t}_is_red(colour):
    return colour is "red"  #!
? Identity is compared with a literal.
? text is tested for being the same object
= F601
{t}_map = {"a": 1, "b": 2, "a": 3}  #!
? A mapping has one key two times.
? an entry silently overwrites an earlier one
= B006
def {t}_collect(item, seen=[]):  #!
    seen.append(item)
    return seen
? A default that is shared between calls.
? which parameter's default can be modified by accident?
= B007
def {t}_repeat(n):
    for {word} in range(n):  #!
        print("x")
? A loop counter is not used in its body.
? needless loop variable
= B008
^ import time
def {t}_stamp(now=time.time()):  #!
    return now
? A default is computed only once, when the program is loaded.
? call inside of a parameter default
= B904
def {t}_number(text):
    try:
        return int(text)
    except ValueError:
        raise RuntimeError("bad")  #!
? A new error hides where it came from.
? the original cause gets lost while re-raising
= B905
def {t}_pairs(a, b):
    return list(zip(a, b))  #!
? Two sequences are walked in parallel without insisting on equal length.
? uneven inputs would be cut silently
= B015
def {t}_compare(a, b):
    a == b  #!
    return a
? A comparison whose outcome nobody looks at.
? statement without effect
= B017
^ import pytest
def test_{t}_fails():
    with pytest.raises(Exception):  #!
        {t}_boom()
? A test accepts just any failure.
? too broad an expectation in a test
= B023
def {t}_handlers(names):
    made = []
    for name in names:
        made.append(lambda: print(name))  #!
    return made
? A closure will see the last value of the loop only.
? late binding inside a loop
= S105
{t}_password = "hunter{nn}"  #!
? A secret is written in the source.
? hard-coded credential
= S301
^ import pickle
def {t}_restore(data):
    return pickle.loads(data)  #!
? Loading untrusted objects may run foreign code.
? dangerous deserialisation
= S324
^ import hashlib
def {t}_mark(data):
    return hashlib.md5(data).hexdigest()  #!
? An outdated fingerprint algorithm is used.
? weak cryptography
= S602
^ import subprocess
def {t}_call(name):
    subprocess.run("ls " + name, shell=True, check=True)  #!
? User input could be executed by the command interpreter.
? possible injection into a shell
= S608
def {t}_query(db, name):
    return db.execute("select * from {t}s where name = '" + name + "'")  #!
? A database statement is glued together from input.
? possible injection into the database
= S311
^ import random
def {t}_dice():
    return random.randint(1, 6)  #!
? Chance that is not good enough for secrets.
? predictable numbers
= S113
^ import requests
def {t}_get(url):
    return requests.get(url)  #!
? A web request might wait for ever.
? no limit on how long a remote answer may take
= S101
def {t}_guard(value):
    assert value > 0  #!
    return value
? A safety check that disappears when Python optimises.
? check that should be a real exception
= S506
^ import yaml
def {t}_conf(text):
    return yaml.load(text, Loader=yaml.Loader)  #!
? Settings are parsed in a way that may create arbitrary objects.
? unsafe reading of a configuration document
= UP007
^ from typing import Optional
def {t}_maybe(value: Optional[int]):  #!
    return value
? old notation for a value that may be missing
? an annotation could use the modern bar
= UP006
^ from typing import List
def {t}_all(values: List[int]):  #!
    return values
? a container type from the old module instead of the built-in one
? annotation style that newer Pythons made superfluous
= UP031
def {t}_line(n):
    return "%d {t}s" % n  #!
? text is composed with the oldest kind of placeholder
? percent signs for formatting
= UP008
class {T}Child(dict):
    def __init__(self):
        super({T}Child, self).__init__()  #!
? The parent is called in the long-winded way of Python 2.
? needless arguments when reaching for the base class
= SIM102
def {t}_both(a, b):
    if a:  #!
        if b:
            return 1
    return 0
? Two conditions could be one.
? needless nesting
= SIM115
def {t}_read(path):
    handle = open(path)  #!
    return handle.read()
? A file is opened and possibly never closed.
? no context manager around a resource
= SIM118
def {t}_keys(table):
    return [k for k in table.keys()]  #!
? going through the keys explicitly is not needed
? redundant call while walking a dictionary
= C401
def {t}_unique(rows):
    return set(r for r in rows)  #!
? a generator is put into a constructor where a comprehension would do
? a distinct collection is built in a roundabout way
= C416
def {t}_copy(rows):
    return [r for r in rows]  #!
? a comprehension that only copies
? pointless rebuilding of a list
= PLR0913
def {t}_make(a, b, c, d, e, f, g):  #!
    return a + b + c + d + e + f + g
? A function takes too many things.
? overlong parameter list
= PLR2004
def {t}_far(km):
    return km > {nnn}  #!
? An unexplained number stands in a comparison.
? a figure that should have a name
= PLW0603
def {t}_reset():
    global {t}_state  #!
    {t}_state = 0
? A function changes a module-wide variable.
? hidden shared state is rebound
= PTH118
^ import os
def {t}_path(folder):
    return os.path.join(folder, "{word}")  #!
? joining file names the old way
? objects for paths would be preferable here
= DTZ005
^ import datetime
def {t}_now():
    return datetime.datetime.now()  #!
? A clock reading does not know where on Earth it was taken.
? the moment lacks a zone
= T201
def {t}_show(x):
    print(x)  #!
? debugging output was left in
? writes straight to the terminal
= ERA001
# {t}_old = compute({n})  #!
{t}_new = 1
? Code was switched off instead of removed.
? a remark that is really a former statement
= ARG001
def {t}_ignore(value, {word}):  #!
    return value
? A parameter plays no role in the function.
? input that has no influence
= RET505
def {t}_sign(n):
    if n > 0:
        return 1
    else:  #!
        return -1
? The other branch is superfluous after leaving the function.
? needless alternative
= TRY002
def {t}_fail():
    raise Exception("no {t}")  #!
? The most general error is thrown; an own kind would be better.
? vague failure type
= N802
def {t}ToText(x):  #!
    return str(x)
? A function is named in camel case.
? naming style differs from the convention
= N801
class {t}_holder:  #!
    pass
? A class has a name in small letters.
? type name against the convention
= C901
def {t}_maze(a, b, c):  #!
    if a:
        for x in b:
            if x:
                while c:
                    if c > 3:
                        c -= 1
                    elif c > 2:
                        c -= 2
                    elif c > 1:
                        break
            elif a > 2:
                return 3
            elif a > 3:
                return 4
    elif b:
        return 1
    elif c:
        return 2
    return 0
? A function has too many branches to be understood.
? tangled control flow
= A001
{shadow} = "{t}"  #!
? A name of the language's own is covered up.
? shadowing of a builtin at module level
= RUF005
def {t}_joined(rows):
    return [1] + rows  #!
? Lists are concatenated where unpacking would be clearer.
? plus between collections
= FBT003
{t}_done = run_{t}("x", True)  #!
? A bare truth value in a call: nobody knows what it means.
? unnamed switch as an argument
= INP001
""")
LINT = [s for s in LINT if s.queries]

C_FAULTS = snippets("""
= unused_var
int {t}_area(int w) {
    int {word} = w * 2; //!
    return w;
}
? A local is set but plays no role.
? leftover variable
= implicit_decl
int {t}_send(int x) {
    return {word}_write(x); //!
}
? Something is called that no header announces.
? a function nobody declared
= undeclared
int {t}_level(void) {
    return {word}_level + 1; //!
}
? An identifier is unknown to the compiler.
? which name was never introduced?
= missing_semicolon
int {t}_sum(int a, int b) {
    int c = a + b
    return c; //!
}
? A statement is not ended.
? punctuation missing
= int_from_ptr
int {t}_id(const char *name) {
    int id = name; //!
    return id;
}
? An address is squeezed into a number.
? text pointer used as an integer
= ptr_mismatch
void {t}_fill(int *target);
void {t}_start(void) {
    double value = 0;
    {t}_fill(&value); //!
}
? The address of a floating number is passed where one of a whole number is wanted.
? pointee kinds differ in a call
= too_few
int {t}_mix(int a, int b);
int {t}_call(void) {
    return {t}_mix(1); //!
}
? A call lacks an operand.
? too little is passed
= too_many
int {t}_one(int a);
int {t}_more(void) {
    return {t}_one(1, 2); //!
}
? A call passes more than fits.
? surplus operand
= no_return
int {t}_kind(int x) {
    if (x > 3)
        return 1;
} //!
? A function can end without giving its result.
? control may fall off the end
= sign_compare
int {t}_fits(int n, unsigned size) {
    return n < size; //!
}
? Signed and unsigned are compared.
? a negative value could look huge
= format
void {t}_print(long v) {
    printf("%d\\n", v); //!
}
? A placeholder does not fit the value printed.
? output conversion has the wrong width
= format_arg
void {t}_log(int v) {
    printf("%s\\n", v); //!
}
? A number is printed as if it were text.
? this output would crash
= assign_cond
int {t}_same(int a, int b) {
    if (a = b) //!
        return 1;
    return 0;
}
? An assignment stands where a comparison was meant.
? one equals sign too few
= dangling_else
int {t}_pick(int a, int b) {
    if (a) //!
        if (b)
            return 1;
        else
            return 2;
    return 0;
}
? It is unclear to which condition the alternative belongs.
? braces would help
= misleading_indent
int {t}_move(int a) {
    if (a) //!
        a++;
        a += 2;
    return a;
}
? Layout suggests that a line belongs to a condition, but it does not.
? deceptive white space
= shift
int {t}_mask(void) {
    return 1 << 40; //!
}
? Bits are moved further than there are.
? width of the type is exceeded by a shift
= div_zero
int {t}_half(int a) {
    return a / 0; //!
}
? The compiler sees undefined arithmetic.
? a denominator of nought
= overflow
char {t}_big(void) {
    char c = {nnnn}; //!
    return c;
}
? A constant is too large for its variable.
? value changes on being stored
= const_discard
void {t}_edit(char *s);
void {t}_view(const char *s) {
    {t}_edit(s); //!
}
? Read-only text is handed to something that may alter it.
? a promise not to modify is dropped
= const_assign
int {t}_fix(void) {
    const int limit = {n};
    limit = {nn}; //!
    return limit;
}
? A read-only variable is written.
? constant changed
= incomplete
struct {t}_box;
int {t}_volume(struct {t}_box *b) {
    return b->width; //!
}
? The layout of a structure is not known here.
? only announced, never defined
= no_member
struct {t}_item { int size; };
int {t}_cost(struct {t}_item *i) {
    return i->{word}; //!
}
? A structure lacks the field that is read.
? which component does not exist?
= redefinition
int {t}_main(void) { return 1; }
int {t}_main(void) { return 2; } //!
? The same function is given two bodies.
? double definition
= conflicting
int {t}_open(int mode);
long {t}_open(int mode) { //!
    return mode;
}
? Announcement and definition differ.
? two versions of a signature
= case_dup
int {t}_code(int c) {
    switch (c) {
    case 1: return 1;
    case 1: return 2; //!
    }
    return 0;
}
? A branch of a selection occurs twice.
? repeated label
= fallthrough
int {t}_step(int c) {
    switch (c) {
    case 1: c += 1; //!
    case 2: c += 2;
    }
    return c;
}
? One case runs into the next.
? break forgotten
= enum_switch
enum {t}_color { {T}_RED, {T}_BLUE };
int {t}_paint(enum {t}_color c) {
    switch (c) { //!
    case {T}_RED: return 1;
    }
    return 0;
}
? Not all possibilities of an enumeration are handled.
? forgotten alternative
= unused_func
static int {t}_helper(int x) { //!
    return x;
}
? A private function is never called.
? dead code
= unused_param
int {t}_void(int a, int {word}) { //!
    return a;
}
? A parameter is ignored by its function.
? input without use
= uninit
int {t}_guess(int f) {
    int r; 
    if (f) r = 1;
    return r; //!
}
? A value may be read before there is one.
? garbage could be returned
= include
^ #include "{word}_{t}.h" //!
int {t}_version(void) { return 1; }
? A header is not there.
? which file could the preprocessor not open?
= static_assert
_Static_assert(sizeof(int) == 3, "{t} layout"); //!
? A compile-time condition does not hold.
? size assumption violated
= array_bounds
int {t}_last(void) {
    int a[3] = {1, 2, 3};
    return a[{nn}]; //!
}
? Access far behind the end of a small field.
? the compiler proves an index wrong
= string_overflow
void {t}_name(void) {
    char b[4];
    strcpy(b, "a rather long {t}"); //!
    puts(b);
}
? A text does not fit into its buffer.
? copying overruns the target
= local_addr
int *{t}_where(void) {
    int x = 1;
    return &x; //!
}
? The address of something short-lived is given away.
? pointer into a dead frame
= unterminated
const char *{t}_word(void) {
    return "{word}; //!
}
? A quotation mark is not closed.
? literal runs past the line
= lvalue
int {t}_set(int a) {
    {n} = a; //!
    return a;
}
? Something that is no place gets a value.
? literal on the left side
= break_outside
int {t}_stop(int a) {
    if (a) break; //!
    return a;
}
? A jump out of a loop where there is none.
? leaving what was never entered
= void_value
void {t}_ping(void);
int {t}_pong(void) {
    return {t}_ping(); //!
}
? The result of something that has no result is used.
? nothing is treated as a value
""")
_STD = "os sys json re math time shutil string textwrap calendar bisect heapq glob uuid zlib".split()
_ALIKE: list[set[str]] = [
    {"return_str", "return_none", "missing_return_value", "yield", "override"},
    {"arg_type", "callback", "str_bytes", "literal", "protocol"},
    {"optional_attr", "missing_attr", "enum_member", "self_missing", "possibly_unbound"},
    {"wrong_args_count", "unexpected_kw", "super_init"},
    {"assign", "reassign", "list_item", "dict_item", "generic", "operand", "union"},
    {"typed_dict", "typed_dict_key", "index_str", "dict_item"},
    {"final", "frozen", "property"},
    {"undefined", "import_missing"},
    {"tuple_index", "index_str"},
    {"not_callable", "not_iterable", "operand", "union", "await_missing"},
    {"abstract", "protocol"},
    {"F401", "F841", "B007", "ARG001", "B015"},
    {"F811", "F601", "A001"},
    {"E711", "E712", "F632"},
    {"E722", "B904", "B017", "TRY002"},
    {"B006", "B008", "PLW0603"},
    {"S301", "S506", "S602", "S608"},
    {"S105", "S324", "S311"},
    {"UP006", "UP007", "UP031", "UP008"},
    {"SIM102", "C901", "RET505"},
    {"C401", "C416", "SIM118", "RUF005"},
    {"N801", "N802", "E741", "A001"},
    {"PLR0913", "FBT003", "ARG001"},
    {"F541", "UP031"},
    {"F821"},
    {"S113", "SIM115"},
    {"E731", "B023"},
    {"DTZ005", "B008"},
    {"PTH118"},
    {"unused_var", "unused_func", "unused_param"},
    {"implicit_decl", "undeclared", "include"},
    {"int_from_ptr", "ptr_mismatch", "const_discard", "local_addr"},
    {"too_few", "too_many"},
    {"no_return", "void_value", "uninit"},
    {"format", "format_arg"},
    {"missing_semicolon", "unterminated"},
    {"assign_cond", "lvalue", "const_assign"},
    {"dangling_else", "misleading_indent"},
    {"shift", "overflow", "sign_compare", "div_zero"},
    {"incomplete", "no_member"},
    {"redefinition", "conflicting", "case_dup"},
    {"fallthrough", "enum_switch", "case_dup", "break_outside"},
    {"array_bounds", "string_overflow", "static_assert"},
]


def near(name: str, others: set[str]) -> bool:
    """Whether a query about `name` might be answered by one of the others."""
    return name in others or any(name in group and group & others for group in _ALIKE)


@dataclass
class Placed:
    """A snippet in a file: where the tool is expected to complain."""

    snippet: Snippet
    noun: str
    words: list[str]
    file: str
    line: int
    slots: kit.Slots


def compose(
    rng: random.Random,
    catalogue: list[Snippet],
    clean: list[str],
    *,
    suffix: str,
    mark: str,
    count: int,
    files: int,
    head: str,
) -> tuple[dict[str, str], list[Placed]]:
    """Files with `count` faulty snippets among clean ones; a snippet may be planted twice under other nouns."""
    nouns = rng.sample(NOUNS, files)
    chosen = rng.sample(catalogue, min(count, len(catalogue)))
    plan: list[tuple[Snippet, tuple[str, list[str]]]] = [(s, rng.choice(nouns)) for s in chosen]
    for snippet, noun in list(plan):
        if rng.random() < 0.15:
            plan.append((snippet, rng.choice([n for n in nouns if n != noun] or nouns)))
    by_file: dict[str, list[tuple[Snippet, kit.Slots] | str]] = {noun: [] for noun, _ in nouns}
    done: set[tuple[str, str]] = set()
    for snippet, (noun, words) in plan:
        if (snippet.name, noun) in done:
            continue
        done.add((snippet.name, noun))
        slots = kit.Slots(
            rng,
            {},
            {
                "t": noun,
                "T": noun.title(),
                "module": rng.choice(_STD),
                "shadow": rng.choice(["list", "input", "id", "type", "filter", "hash"]),
                "t_p": rng.choice(words),
            },
        )
        by_file[noun].append((snippet, slots))
    texts: dict[str, str] = {}
    placed: list[Placed] = []
    vocabulary = dict(NOUNS)
    for noun, items in by_file.items():
        for piece in rng.sample(clean, rng.randint(1, min(7, len(clean)))):
            items.append(kit.Slots(rng, {}, {"t": noun, "T": noun.title()}).fill(piece))
        rng.shuffle(items)
        lines = head.split("\n") if head else []
        name = f"{noun}{suffix}"
        body: list[str] = []
        marks: list[tuple[bool, int, Snippet, kit.Slots]] = []
        for item in items:
            if isinstance(item, str):
                body += [*item.split("\n"), "", ""]
                continue
            snippet, slots = item
            for line in snippet.head.rstrip("\n").split("\n") if snippet.head else []:
                filled = slots.fill(line)
                if mark in filled:
                    filled = filled.split(mark)[0].rstrip()
                    lines.append(filled)
                    marks.append((True, len(lines), snippet, slots))
                elif filled not in lines:
                    lines.append(filled)
            for line in snippet.body:
                filled = slots.fill(line)
                if mark in filled:
                    filled = filled.split(mark)[0].rstrip()
                    body.append(filled)
                    marks.append((False, len(body), snippet, slots))
                else:
                    body.append(filled)
            body += ["", ""]
        offset = len(lines) + 2
        for top, number, snippet, slots in marks:
            placed.append(
                Placed(snippet, noun, vocabulary[noun], name, number if top else number + offset, slots)
            )
        texts[name] = "\n".join([*lines, "", "", *body]).rstrip("\n") + "\n"
    return texts, placed


_CLEAN_PY = [
    "def {t}_double(value: int) -> int:\n    return value * 2",
    "class {T}Store:\n    def __init__(self) -> None:\n        self.items: list[str] = []\n\n    def add(self, item: str) -> None:\n        self.items.append(item)",
    'def {t}_join(parts: list[str]) -> str:\n    return "-".join(parts)',
    "def {t}_bounds(values: list[int]) -> tuple[int, int]:\n    return min(values), max(values)",
    '{t}_names = ["a", "b", "c"]',
    "def {t}_find(rows: dict[str, int], key: str) -> int | None:\n    return rows.get(key)",
]
_NOISE_PY = [
    "def {t}_raw(x):\n    return x",
    "def {t}_pass(a, b=None):\n    return a or b",
    "class {T}Bag:\n    def put(self, x):\n        self.x = x\n\n    def take(self):\n        return self.x",
    "def {t}_echo(*args):\n    return args",
    "def {t}_later(cb):\n    def inner():\n        return cb()\n\n    return inner",
    "def _{t}_hidden(v):\n    return v",
]
_CLEAN_C = [
    "int {t}_double(int v) { return v * 2; }",
    "int {t}_max(int a, int b) {\n    return a > b ? a : b;\n}",
    'void {t}_hello(void) {\n    puts("{t}");\n}',
    "long {t}_sum(const int *v, int n) {\n    long s = 0;\n    for (int i = 0; i < n; i++) s += v[i];\n    return s;\n}",
]


def _block(page: Page, number: int, starts: Callable[[str], bool]) -> int:
    """Last line of the block that begins at `number`: up to the next line that starts another."""
    end = number
    while end < len(page.lines) and not starts(page.lines[end]):
        end += 1
    while end > number and not page.lines[end - 1].strip():
        end -= 1
    return end


def label(
    rng: random.Random,
    page: Page,
    placed: list[Placed],
    catalogue: list[Snippet],
    locate: Callable[[Placed], list[tuple[int, int]]],
    tool: str,
    limit: int = 6,
) -> list[Label]:
    """Labels for the planted faults that the tool reported; repeated kinds only by what tells them apart."""
    by_kind: dict[str, list[Placed]] = {}
    for item in placed:
        by_kind.setdefault(item.snippet.name, []).append(item)
    labels: list[Label] = []
    for name, items in by_kind.items():
        regions = [locate(item) for item in items]
        if not any(regions):
            continue
        if len(items) == 1:
            key = f"{name}0"
            for span in regions[0]:
                page.mark(key, *span)
            labels.append(
                Label(
                    kit.vary(rng, items[0].slots.fill(rng.choice(items[0].snippet.queries))),
                    key,
                    f"{tool}_{name}",
                )
            )
            continue
        special = [q for q in items[0].snippet.queries if "{t_p}" in q]
        if special and rng.random() < 0.7 and all(regions):
            at = rng.randrange(len(items))
            for span in regions[at]:
                page.mark(f"{name}{at}", *span)
            labels.append(
                Label(
                    kit.vary(rng, items[at].slots.fill(rng.choice(special))), f"{name}{at}", f"{tool}_{name}"
                )
            )
        elif all(regions):
            for found in regions:
                for span in found:
                    page.mark(f"{name}all", *span)
            general = [q for q in items[0].snippet.queries if "{" not in q]
            if general:
                labels.append(Label(kit.vary(rng, rng.choice(general)), f"{name}all", f"{tool}_{name}_all"))
    rng.shuffle(labels)
    labels = labels[:limit]
    if labels and rng.random() < 0.35 and (easy := kit.lexical(rng, page, rng.choice(labels).key or "")):
        labels.append(easy)
    if rng.random() < 0.7:
        names = set(by_kind)
        absent = rng.choice([s for s in catalogue if not near(s.name, names)] or [None])  # type: ignore[list-item]
        if absent is not None:
            noun, words = rng.choice(NOUNS)
            slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words), "T": noun.title()})
            labels.append(
                Label(
                    kit.vary(rng, slots.fill(rng.choice(absent.queries))),
                    None,
                    f"{tool}_absent_{absent.name}",
                )
            )
    return labels


def _project(rng: random.Random) -> str:
    return rng.choice(
        [
            "atlas",
            "brook",
            "cairn",
            "dune",
            "etch",
            "flint",
            "grove",
            "heron",
            "inlet",
            "jetty",
            "kelp",
            "loom",
        ]
    ) + rng.choice(["", "kit", "ctl", "lib"])


def _typed(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    """One run of a type checker over several projects; each project's part of the output is an observation."""
    python = str(options.get("python") or sys.executable)
    tool = rng.choice(["mypy", "mypy", "pyright"])
    flags = (
        rng.choice(
            [
                ["--pretty"],
                [],
                ["--show-error-context"],
                ["--show-column-numbers"],
                ["--strict"],
                ["--pretty", "--strict"],
                ["--show-error-end"],
            ]
        )
        if tool == "mypy"
        else []
    )
    noisy = rng.random() < 0.6
    if noisy and tool == "mypy" and "--strict" not in flags:
        flags = [*flags, "--disallow-untyped-defs"]
    clean = _CLEAN_PY + _NOISE_PY if noisy else _CLEAN_PY
    projects: dict[str, tuple[dict[str, str], list[Placed]]] = {}
    while len(projects) < TYPED_BATCH:
        projects.setdefault(
            _project(rng) + rng.choice(["", "_core", "_web", "_ng"]),
            compose(
                rng,
                TYPES,
                clean,
                suffix=".py",
                mark="  #!",
                count=rng.randint(8, 34),
                files=rng.randint(4, 14),
                head="from __future__ import annotations",
            ),
        )
    home = "/home/user/src/work"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for project, (texts, _) in projects.items():
            (root / project).mkdir()
            (root / project / "__init__.py").write_text("")
            for name, text in texts.items():
                (root / project / name).write_text(text, encoding="utf-8")
        cache = options.get("cache") or Path(tempfile.gettempdir()) / "linecls-mypy"
        if tool == "mypy":
            output = run(
                [
                    python,
                    "-m",
                    "mypy",
                    "--cache-dir",
                    str(cache),
                    "--check-untyped-defs",
                    *flags,
                    *sorted(projects),
                ],
                root,
                rng,
                home,
                timeout=400,
            )
        else:
            output = run(
                [python, "-m", "pyright", "--pythonpath", python, *sorted(projects)],
                root,
                rng,
                home,
                timeout=400,
            )
    parts = _split(output, list(projects), home)
    for number, (project, (texts, placed)) in enumerate(projects.items()):
        lines = parts[project]
        errors = sum(bool(re.search(r"(: error:| - error: )", line)) for line in lines)
        files = len(
            {
                re.split(r":\d+", line.strip())[0]
                for line in lines
                if re.search(r"(: error:| - error: )", line)
            }
        )
        if not errors:
            continue
        if tool == "mypy":
            lines.append(f"Found {errors} errors in {files} files (checked {len(texts) + 1} source files)")
        else:
            warnings = sum(" - warning: " in line for line in lines)
            lines.append(f"{errors} errors, {warnings} warnings, 0 informations ")
        page = Page()
        page.say(*lines)
        yield from _typed_page(
            rng, page, tool, project, placed, f"{index}-{number}", " ".join([tool, *flags, project])
        )


TYPED_BATCH = 8


def _split(output: str, projects: list[str], home: str) -> dict[str, list[str]]:
    """Lines of each project: those that name its folder and what follows them."""
    parts: dict[str, list[str]] = {project: [] for project in projects}
    current = ""
    pattern = re.compile(
        rf"^\s*(?:{re.escape(home)}/)?({'|'.join(sorted(map(re.escape, projects), key=len, reverse=True))})/\S+"
    )
    for line in output.split("\n"):
        match = pattern.match(line)
        if match:
            current = match.group(1)
        elif re.match(r"^(Found \d+ error|\d+ errors?, )", line):
            current = ""
        if current:
            parts[current].append(line)
    return parts


def _typed_page(
    rng: random.Random, page: Page, tool: str, project: str, placed: list[Placed], ident: str, command: str
) -> Iterator[Record]:
    if tool == "mypy":
        start = re.compile(r"^(\S+\.py):(\d+):|^Found \d+|^\S+\.py: note: In")

        def locate(item: Placed) -> list[tuple[int, int]]:
            found = []
            for number, line in enumerate(page.lines, 1):
                if re.match(rf"{project}/{item.file}:{item.line}:.*error", line):
                    end = _block(page, number, lambda s: bool(start.match(s)))
                    while end < len(page.lines) and re.match(
                        rf"{project}/{item.file}:{item.line}:.*note", page.lines[end]
                    ):
                        end = _block(page, end + 1, lambda s: bool(start.match(s)))
                    found.append((number, end))
            return found
    else:
        begin = re.compile(r"^  ?\S+\.py:\d+:\d+ - |^/\S+\.py$|^\d+ errors?")

        def locate(item: Placed) -> list[tuple[int, int]]:
            return [
                (n, _block(page, n, lambda s: bool(begin.match(s))))
                for n, line in enumerate(page.lines, 1)
                if f"/{item.file}:{item.line}:" in line
            ]

    labels = label(rng, page, placed, TYPES, locate, tool)
    if rng.random() < 0.1:
        page.mark("total", len(page.lines))
        labels.append(
            Label(
                rng.choice(["How bad is it altogether?", "number of problems in total"]),
                "total",
                f"{tool}_total",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="type_check",
        command=command,
        family=NAME,
        project=project,
        ident=f"type_check-{ident}-{rng.getrandbits(32):08x}",
        package=tool,
    )


def _lint(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    python = str(options.get("python") or sys.executable)
    project = _project(rng)
    count = rng.randint(6, 18)
    texts, placed = compose(
        rng,
        LINT,
        _CLEAN_PY + _NOISE_PY,
        suffix=".py",
        mark="  #!",
        count=count,
        files=rng.randint(2, 7),
        head="",
    )
    codes = sorted({item.snippet.name for item in placed})
    home = f"/home/user/src/{project}"
    form = rng.choice(["concise", "full", "full", "grouped", "flake8", "pylint-like"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / project).mkdir()
        for name, text in texts.items():
            (root / project / name).write_text(text, encoding="utf-8")
        extra = rng.sample(
            ["D103", "ANN001", "ANN201", "D101", "D100", "INP001", "ANN202"], rng.randint(1, 3)
        )
        if form == "flake8":
            output = run(
                [
                    python,
                    "-m",
                    "flake8",
                    "--max-complexity",
                    "6",
                    *(["--show-source"] if rng.random() < 0.5 else []),
                    project,
                ],
                root,
                rng,
                home,
            )
            command = f"flake8 {project}"
        else:
            fmt = "pylint" if form == "pylint-like" else form
            output = run(
                [
                    python,
                    "-m",
                    "ruff",
                    "check",
                    "--isolated",
                    "--no-cache",
                    "--select",
                    ",".join([*codes, *extra]),
                    "--output-format",
                    fmt,
                    "--config",
                    "lint.mccabe.max-complexity=6",
                    project,
                ],
                root,
                rng,
                home,
            )
            command = rng.choice(
                [f"ruff check {project}", f"ruff check --output-format {fmt} {project}", "ruff check ."]
            )
    page = Page()
    if output:
        page.say(output)

    def locate(item: Placed) -> list[tuple[int, int]]:
        code = item.snippet.name
        path = f"{project}/{item.file}"
        found = []
        for number, line in enumerate(page.lines, 1):
            if form in ("concise", "flake8", "pylint-like"):
                if re.match(rf"(\./)?{re.escape(path)}:{item.line}:.*\b{code}\b", line):
                    end = number
                    while (
                        form == "flake8"
                        and end < len(page.lines)
                        and not re.match(r"(\./)?\S+\.py:\d+:", page.lines[end])
                    ):
                        end += 1
                    found.append((number, end))
            elif form == "grouped":
                if re.match(rf"\s+{item.line}:\d+\s+{code}\b", line):
                    above = next(
                        (
                            page.lines[n - 1]
                            for n in range(number, 0, -1)
                            if page.lines[n - 1].endswith(".py:")
                        ),
                        "",
                    )
                    if path in above:
                        found.append((number, number))
            elif (
                re.search(rf"--> {re.escape(path)}:{item.line}:", line)
                and number > 1
                and page.lines[number - 2].startswith(code)
            ):
                found.append(
                    (
                        number - 1,
                        _block(page, number, lambda s: bool(re.match(r"^[A-Z]+\d+ |^Found |^invalid", s))),
                    )
                )
        return found

    labels = label(rng, page, placed, LINT, locate, form)
    if page.lines and rng.random() < 0.12:
        number = page.find("Found ")
        if number:
            page.mark("total", number, len(page.lines))
            labels.append(
                Label(
                    rng.choice(
                        ["How many issues, and what could be repaired automatically?", "the closing tally"]
                    ),
                    "total",
                    "ruff_total",
                )
            )
    yield from kit.records(
        page,
        labels,
        tool_type="lint_output",
        command=command,
        family=NAME,
        project=f"{project}-{index % 9}",
        ident=f"lint_output-{index}-{rng.getrandbits(32):08x}",
        package="flake8" if form == "flake8" else "ruff",
    )


def _build(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    if not shutil.which("gcc") or not shutil.which("make"):
        return
    project = _project(rng)
    texts, placed = compose(
        rng,
        C_FAULTS,
        _CLEAN_C,
        suffix=".c",
        mark=" //!",
        count=rng.randint(5, 16),
        files=rng.randint(3, 8),
        head="#include <stdio.h>\n#include <string.h>",
    )
    home = f"/home/user/src/{project}"
    flags = "-Wall -Wextra -Wconversion -O2".split() if rng.random() < 0.4 else ["-Wall", "-Wextra", "-O1"]
    quiet = rng.random() < 0.4
    show = " -fno-diagnostics-show-caret" if rng.random() < 0.25 else ""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src").mkdir()
        for name, text in texts.items():
            (root / "src" / name).write_text(text, encoding="utf-8")
        objects = " ".join(f"build/{name[:-2]}.o" for name in texts)
        rule = (
            "\t@echo '  CC      $<'\n\t@$(CC) $(CFLAGS) -c $< -o $@\n"
            if quiet
            else "\t$(CC) $(CFLAGS) -c $< -o $@\n"
        )
        (root / "Makefile").write_text(
            f"CC = gcc\nCFLAGS = {' '.join(flags)} -std=gnu11{show}\nOBJS = {objects}\n\n{project}: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n\nbuild/%.o: src/%.c\n\t@mkdir -p build\n{rule}"
        )
        output = run(["make", "-k"], root, rng, home)
    page = Page()
    if output:
        page.say(output)
    begin = re.compile(r"^(src/\S+:|gcc |make|  CC |In file|/usr/bin/ld|cc1|compilation)")

    def locate(item: Placed) -> list[tuple[int, int]]:
        found = []
        for number, line in enumerate(page.lines, 1):
            if re.match(rf"src/{item.file}:{item.line}:\d+: (warning|error|fatal error):", line):
                end = _block(page, number, lambda s: bool(begin.match(s)))
                while end < len(page.lines) and re.match(r"src/\S+:\d+:\d+: note:", page.lines[end]):
                    end = _block(page, end + 1, lambda s: bool(begin.match(s)))
                first = (
                    number - 1
                    if number > 1
                    and re.match(rf"src/{item.file}: (In function|At top)", page.lines[number - 2])
                    else number
                )
                found.append((first, end))
        return found

    labels = label(rng, page, placed, C_FAULTS, locate, "gcc")
    failed = [n for n, line in enumerate(page.lines, 1) if re.match(r"make: \*\*\* \[", line)]
    if failed and len(failed) <= 4 and rng.random() < 0.3:
        for n in failed:
            page.mark("failed", n)
        labels.append(
            Label(
                rng.choice(
                    [
                        "Which objects could not be made?",
                        "targets that did not come about",
                        "What broke according to the build tool itself?",
                    ]
                ),
                "failed",
                "make_failed",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="build_output",
        command=rng.choice(["make -k", "make -k all", f"make -k {project}"]),
        family=NAME,
        project=f"{project}-{index % 9}",
        ident=f"build_output-{index}-{rng.getrandbits(32):08x}",
        package="gcc",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of static checks, builds and installations.

    Options: `observations` (default 160), `python`: an interpreter that has mypy, pyright, ruff and flake8.
    """
    wanted = int(options.get("observations", 160))
    index = 0
    while index < wanted:
        local = random.Random(rng.getrandbits(64))
        maker = local.choices([_typed, _lint, _build], weights=[1, TYPED_BATCH * 0.8, TYPED_BATCH])[0]
        yield from maker(local, index, options)
        index += TYPED_BATCH if maker is _typed else 1
