"""Small places in a Python file and questions about them by what they do: a default, a guard, a handler, a branch.

Unlike `python_labels`, which takes a handle out of the text, nothing is removed here: the question comes from the
structure (which exception, which condition, which call) told in other words, and the names of the function around it.
"""

from __future__ import annotations

import ast
import random
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from linecls.data.families._toolkit import catalogue_text
from linecls.data.python_labels import labels_of, message_handle
from linecls.data.rephrase import clean, rephrase, synonyms
from linecls.data.vocabulary import FORMS, gerund, stems, words_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Point:
    """A question about a file: `answer` holds line numbers from 0 (several ranges when it stands in several places).

    key: two points with one key are about the same thing told twice; a text with two of them is not asked about it.
    cuttable: whether the question has no answer left when the lines are gone.
    """

    rule: str
    key: str
    query: str
    answer: tuple[range, ...]
    cuttable: bool = False


def _table(name: str) -> dict[str, list[str]]:
    rows = {}
    for line in catalogue_text(name).splitlines():
        left, _, right = line.partition(" = ")
        if right:
            rows[left.strip()] = [part.strip() for part in right.split(" | ")]
    return rows


_SHORT = _table("code_short")
_EXCEPTIONS = _table("code_exceptions")
_TYPES = _table("code_types")
_CALLS = [(re.compile(pattern), queries) for pattern, queries in _table("code_calls").items()]


def phrase(identifier: str, rng: random.Random, rate: float = 0.5) -> str:
    """An identifier in words, short forms written out, some words replaced by synonyms."""
    words = words_of(identifier.strip("_")).split()
    told = [rng.choice(_SHORT[w]) if w in _SHORT else w for w in words]
    return synonyms(" ".join(told), rng, rate=rate)


def doing(function: str, rng: random.Random) -> str | None:
    """What a function does, as a gerund or a noun phrase with article; None when its name says too little."""
    words = words_of(function.strip("_")).split()
    if not words or len("".join(words)) < 5 or function.startswith("__") or words[0] in ("test", "main"):
        return None
    base, form = FORMS.get(words[0], ("", ""))
    if base and form == "" and words[0] not in ("id", "name"):
        if len(words) == 1:
            return f"{gerund(base)} something" if rng.random() < 0.3 else f"the {words[0]} step"
        rest = phrase("_".join(words[1:]), rng)
        if words[1] in ("for", "from", "to", "by", "with", "in", "and", "as", "on", "into", "if", "until", "or"):
            return f"{gerund(base)} {rest}"
        others = [w for w in synonyms(base, rng, rate=0.5).split(" ") if w]
        verb = " ".join(others)
        return f"{gerund(verb)} {rest if rest.endswith('s') and rng.random() < 0.5 else 'the ' + rest}"
    if words[0] in ("is", "has", "can", "should", "needs", "on", "do", "to", "from", "as", "with", "by"):
        return None
    return f"the {phrase(function, rng)} function"


def _span(node: ast.stmt | ast.ExceptHandler | ast.expr) -> range:
    return range(node.lineno - 1, node.end_lineno or node.lineno)


def _name(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""


def _article(words: str) -> str:
    return f"an {words}" if words[:1].lower() in "aeio" else f"a {words}"


def _constant(name: str, value: ast.expr, rng: random.Random) -> str | None:
    words = words_of(name.strip("_")).split()
    if len(name) < 5 or not words or name.startswith("__"):
        return None
    told = phrase(name, rng, 0.6)
    if isinstance(value, ast.Call):
        if _name(value.func) == "compile":
            told = re.sub(r"\b(regexp?|re|pattern|template|expression|rx|matcher)\b", "", told).strip()
            return told and rng.choice(
                [
                    f"Which pattern recognises {told}?",
                    f"What text counts as {told}? Show the expression.",
                    f"the regular expression for {told}",
                    f"How is {told} matched?",
                    f"I have to widen what is accepted as {told}; which expression?",
                ]
            )
        return None
    kind = getattr(value, "value", None)
    if isinstance(value, ast.Constant) and isinstance(kind, bool):
        return rng.choice(
            [f"Is {told} on or off at first?", f"Which lines switch {told}?", f"Initial setting of {told}?"]
        )
    if isinstance(value, ast.Constant) and isinstance(kind, (int, float)):
        if {"timeout", "delay", "interval", "seconds", "ttl", "age", "duration", "period"} & set(words):
            return rng.choice(
                [
                    f"How long is {told}?",
                    f"After how much time does {told} end?",
                    f"{told}: how much is it?",
                    f"Where is the length of {told} fixed?",
                ]
            )
        if {"max", "maximum", "limit"} & set(words):
            rest = " ".join(w for w in words if w not in ("max", "maximum", "limit", "default"))
            rest = phrase(rest.replace(" ", "_"), rng) if rest else told
            return rng.choice(
                [
                    f"What is the upper bound for {rest}?",
                    f"How far may {rest} go at most?",
                    f"Where is {rest} capped?",
                    f"I need to raise the ceiling on {rest}; which line?",
                ]
            )
        return rng.choice(
            [
                f"Which number is {told}?",
                f"What is the value of {told}?",
                f"{told} as a figure",
                f"Where is {told} set?",
            ]
        )
    if isinstance(value, ast.Constant) and isinstance(kind, str) and kind.strip():
        return rng.choice(
            [
                f"Which text is used as {told}?",
                f"What does {told} look like?",
                f"Where is {told} spelled out?",
                f"Find the {told}.",
            ]
        )
    if isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.Set)) and len(_span(value)) <= 14:
        if sum(isinstance(node, ast.Constant) for node in ast.walk(value)) < 2:
            return None
        return rng.choice(
            [
                f"What belongs to {told}?",
                f"Which values count as {told}?",
                f"Where are {told} listed?",
                f"I want to add one more to {told}; where?",
            ]
        )
    return None


def _condition(test: ast.expr) -> tuple[str, str]:
    """What a guard looks at, and whether that is `absent` or `present`; empty strings for anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _name(test.operand), "absent"
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        if test.comparators[0].value is None:
            return _name(test.left), "absent" if isinstance(test.ops[0], ast.Is) else "present"
        if isinstance(test.left, ast.Call) and _name(test.left.func) == "len" and test.comparators[0].value == 0:
            return _name(test.left.args[0]) if test.left.args else "", "absent"
    return "", ""


_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _branch(node: ast.If, own: list[str], rng: random.Random, where: str) -> Iterator[tuple[str, str, str]]:
    """(rule, key, query) of an `if` whose test is simple enough to tell."""
    test = node.test
    seen, state = _condition(test)
    if seen and len(seen) > 2 and state == "absent" and seen not in ("self", "cls", "result", "data", "value"):
        told = phrase(seen, rng)
        last = node.body[-1]
        if isinstance(last, _LEAVING):
            ends = {
                ast.Return: ["give up early", "return at once", "have nothing more to do"],
                ast.Raise: ["fail", "refuse to go on", "end with an error"],
                ast.Continue: ["skip to the next one", "pass over an entry"],
                ast.Break: ["leave the loop", "stop looping"],
            }[type(last)]
            end = rng.choice(ends)
            yield (
                "guard",
                f"guard {seen}",
                rng.choice(
                    [
                        f"What happens in {where} if there is no {told}?",
                        f"{where}: which condition makes it {end} for lack of {told}?",
                        f"Where does {where} {end} since {told} is absent?",
                        f"Without {told}, what does {where} do?",
                        f"no {told} given to {where}",
                    ]
                ),
            )
        elif isinstance(last, ast.Assign) and _name(last.targets[0]) == seen:
            yield (
                "fallback",
                f"fallback {seen}",
                rng.choice(
                    [
                        f"What stands in for {told} in {where} when none was given?",
                        f"Which lines fill in {told} if the caller of {where} left it out?",
                        f"{where}: where does {told} come from if nobody passes it?",
                        f"fallback for {told} in {where}",
                    ]
                ),
            )
    if isinstance(test, ast.Call) and _name(test.func) == "isinstance" and len(test.args) == 2:
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        names = [_name(kind) for kind in kinds]
        if all(n in _TYPES or re.match(r"[A-Z][a-z]+[A-Za-z]*$", n) for n in names) and len(names) <= 2:
            told = " or ".join(
                rng.choice(_TYPES[n]) if n in _TYPES else _article(f"{phrase(n, rng)} object") for n in names
            )
            subject = phrase(_name(test.args[0]), rng) if len(_name(test.args[0])) > 3 else "the input"
            yield (
                "kind",
                f"kind {names}",
                rng.choice(
                    [
                        f"How is {told} treated in {where}?",
                        f"What does {where} do if {subject} is {told}?",
                        f"Which branch of {where} is for {told}?",
                        f"{where}: what if we are handed {told}?",
                        f"{where} with {told}",
                    ]
                ),
            )
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        value = test.comparators[0]
        left = _name(test.left)
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and left and left not in own:
            word = re.sub(r"[_-]+", " ", value.value).strip()
            if re.fullmatch(r"[A-Za-z][a-z]{2,}( [a-z]+){0,2}", word):
                told = synonyms(word.lower(), rng, rate=0.7)
                yield (
                    "choice",
                    f"choice {left} {word}",
                    rng.choice(
                        [
                            f"What is special in {where} when {phrase(left, rng)} is {told}?",
                            f"Which lines of {where} are for the {told} case?",
                            f"{where}: how does it behave with {told} as {phrase(left, rng)}?",
                            f"Where does {where} deal with {told}?",
                        ]
                    ),
                )


def _handler(handler: ast.ExceptHandler, rng: random.Random, where: str) -> tuple[str, str] | None:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [_name(kind) for kind in kinds]
    if not all(names) or len(names) > 2:
        return None
    told = [rng.choice(_EXCEPTIONS[n]) for n in names if n in _EXCEPTIONS]
    if not told:
        words = re.sub(r"\b(error|exception|err)\b", "", words_of(names[0])).strip()
        if len(words) < 5:
            return None
        told = [f"there is {'an' if words[0] in 'aeiou' else 'a'} {synonyms(words, rng)} problem"]
    what = told[0] if len(told) == 1 else " or ".join(told)
    return f"except {names}", rng.choice(
        [
            f"What is done when {what} during {where}?",
            f"{what[0].upper()}{what[1:]} in the middle of {where}; how is that handled?",
            f"If {what}, what does {where} do instead of failing?",
            f"Which lines of {where} cope with this: {what}?",
            f"Does {where} survive it when {what}?",
            f"Where is the case covered that {what} ({where})?",
        ]
    )


def _default(argument: ast.arg, value: ast.expr, rng: random.Random, where: str) -> str | None:
    if not isinstance(value, ast.Constant) or value.value is None or len(argument.arg) < 4:
        return None
    told = phrase(argument.arg, rng, 0.6)
    if isinstance(value.value, bool):
        return rng.choice(
            [
                f"Is {told} on by default in {where}?",
                f"Unless told otherwise, does {where} use {told}?",
                f"{where}: initial state of the {told} switch",
            ]
        )
    return rng.choice(
        [
            f"Which {told} does {where} use unless told otherwise?",
            f"What is the standard {told} of {where}?",
            f"{where}: what if no {told} is passed?",
            f"Where is the preset {told} for {where}?",
        ]
    )


def _of_function(node: _Function, rng: random.Random, lines: list[str], owner: str) -> Iterator[Point]:
    where = doing(node.name, rng)
    if where is None:
        return
    if owner and rng.random() < 0.35:
        where += f" of the {phrase(owner, rng, 0.3)}"
    spot = f"{owner}.{node.name}"
    own = ["self", "cls"]
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True))
    pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
    for argument, value in pairs:
        query = _default(argument, value, rng, where)
        if query:
            line = argument.lineno - 1
            yield Point("default", f"{spot} default {argument.arg}", query, (range(line, (value.end_lineno or 0)),))
    final = node.body[-1]
    telling = isinstance(final, ast.Return) and not isinstance(
        final.value, (ast.Constant, ast.Name, ast.Attribute, type(None))
    )
    if telling and (node.end_lineno or 0) - node.lineno >= 8 and len(_span(final)) <= 6:
        query = rng.choice(
            [
                f"What does {where} hand back in the end?",
                f"What comes out of {where}?",
                f"Which value is the outcome of {where}?",
                f"What do callers of {where} receive?",
            ]
        )
        yield Point("result", f"{spot} result", query, (_span(final),))
    for inner in ast.walk(node):
        if isinstance(inner, ast.If):
            stop = inner.body[-1].end_lineno or 0
            answer = range(inner.lineno - 1, stop)
            if len(answer) <= 10:
                for rule, key, query in _branch(inner, own, rng, where):
                    yield Point(rule, f"{spot} {key}", query, (answer,), cuttable=not inner.orelse)
        elif isinstance(inner, ast.ExceptHandler) and len(_span(inner)) <= 10:
            found = _handler(inner, rng, where)
            if found:
                yield Point("handler", f"{spot} {found[0]}", found[1], (_span(inner),), cuttable=True)
        elif isinstance(inner, (ast.With, ast.AsyncWith)) and len(_span(inner)) <= 10:
            opened = inner.items[0].context_expr
            if "lock" in _name(opened).lower() or "lock" in _name(getattr(opened, "func", None)).lower():
                query = rng.choice(
                    [
                        f"Which part of {where} must not run in two threads at once?",
                        f"What does {where} do under mutual exclusion?",
                        f"{where}: critical section",
                    ]
                )
                yield Point("lock", f"{spot} lock", query, (_span(inner),), cuttable=True)
        elif isinstance(inner, ast.Call) and _name(inner.func) in ("get", "pop", "setdefault") and len(inner.args) == 2:
            key = inner.args[0]
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and len(_span(inner)) <= 3:
                told = phrase(re.sub(r"\W+", "_", key.value), rng, 0.7)
                if len(told) > 4 and re.search("[a-z]", told):
                    query = rng.choice(
                        [
                            f"{where}: which {told} is assumed when the entry is missing?",
                            f"What does {where} take for {told} if it was not specified?",
                            f"Where does {where} look up {told}?",
                            f"{told} in {where}, with what to use otherwise",
                        ]
                    )
                    yield Point("lookup", f"{spot} lookup {key.value}", query, (_span(inner),))
        elif (
            isinstance(inner, ast.Call)
            and _name(inner.func) in ("sorted", "sort", "min", "max")
            and any(k.arg == "key" for k in inner.keywords)
            and len(_span(inner)) <= 4
        ):
            verb = {"min": "the smallest", "max": "the largest"}.get(_name(inner.func), "the order")
            query = rng.choice(
                [
                    f"By what is {verb} decided in {where}?",
                    f"{where}: which criterion gives {verb}?",
                    f"What decides {verb} when {where} compares entries?",
                ]
            )
            yield Point("order", f"{spot} order", query, (_span(inner),))


_LEVELS = {
    "debug": "only for debugging",
    "info": "as information",
    "warning": "as a warning",
    "warn": "as a warning",
    "error": "as an error",
    "exception": "with a traceback",
    "critical": "as critical",
}


def _statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, list[ast.stmt], ast.AST]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                for statement in body:
                    if isinstance(statement, ast.stmt):
                        yield statement, body, node


def _said(statement: ast.stmt, body: list[ast.stmt], parent: ast.AST, rng: random.Random) -> Point | None:
    """A log call or a warning, asked for by what it says; a short block around it belongs to the answer."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    name = _name(call.func)
    if name not in _LEVELS or not call.args or not isinstance(call.args[0], (ast.Constant, ast.JoinedStr)):
        return None
    value = call.args[0]
    raw = (
        value.value
        if isinstance(value, ast.Constant)
        else "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in value.values)
    )
    if not isinstance(raw, str):
        return None
    handle = message_handle(raw)
    text = clean(handle, rng) if handle else None
    if not text or len(text.split()) < 3 or len(text.split()) > 16:
        return None
    told = synonyms(text[0].lower() + text[1:], rng, rate=0.75)
    answer = _span(statement)
    if isinstance(parent, (ast.If, ast.ExceptHandler)) and body[0] is statement and body is parent.body:
        whole = range(parent.lineno - 1, body[-1].end_lineno or 0)
        if len(whole) <= 6:
            answer = whole
    if len(answer) > 10:
        return None
    query = rng.choice(
        [
            f"Where is this reported: {told}?",
            f'Users see a note like "{told}" in the log. Which lines write it?',
            f"When do we tell people: {told}?",
            f"Which lines say {_LEVELS[name]} something like {told}?",
            f"log message: {told}",
            f"{told[0].upper()}{told[1:]}; which condition leads to that message?",
        ]
    )
    return Point("said", f"said {text}", query, (answer,), cuttable=True)


def _missing_import(node: ast.Try, rng: random.Random) -> Point | None:
    first = node.body[0]
    if not isinstance(first, (ast.Import, ast.ImportFrom)) or len(_span(node)) > 10:
        return None
    if not any(_name(h.type) in ("ImportError", "ModuleNotFoundError") for h in node.handlers):
        return None
    module = (first.module or "") if isinstance(first, ast.ImportFrom) else first.names[0].name
    module = module.split(".")[0]
    if len(module) < 3:
        return None
    query = rng.choice(
        [
            f"What if {module} is not installed?",
            f"How does it get along without {module}?",
            f"Is {module} optional, and what takes its place?",
            f"Which lines make {module} a soft dependency?",
        ]
    )
    return Point("optional", f"optional {module}", query, (_span(node),), cuttable=True)


def calls(text: str, rng: random.Random) -> Iterator[tuple[str, str, list[int]]]:
    """(key, query, lines from 0) for each known sort of call; no lines for a sort that does not occur at all."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for pattern, queries in _CALLS:
        hits = []
        for match in pattern.finditer(text):
            number = bisect_right(starts, match.start()) - 1
            if not text[starts[number] : match.start()].lstrip().startswith("#"):
                hits.append(number)
        yield pattern.pattern, rng.choice(queries), sorted(set(hits))


def points_of(text: str, rng: random.Random) -> list[Point]:
    """All points that a file offers; empty when it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = text.split("\n")
    points: list[Point] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    points += _of_function(item, rng, lines, node.name)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for item in node.body:
                target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
                value = getattr(item, "value", None)
                if isinstance(item, (ast.Assign, ast.AnnAssign)) and isinstance(target, ast.Name) and value:
                    query = _constant(target.id, value, rng)
                    if query:
                        points.append(Point("constant", f"constant {target.id}", query, (_span(item),), cuttable=True))
        if isinstance(node, ast.Try) and (point := _missing_import(node, rng)):
            points.append(point)
    for item in tree.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            points += _of_function(item, rng, lines, "")
    simple: dict[int, range] = {}
    for statement, body, parent in _statements(tree):
        if point := _said(statement, body, parent, rng):
            points.append(point)
        if not hasattr(statement, "body") and len(_span(statement)) <= 6:
            for n in _span(statement):
                simple[n] = _span(statement)
        elif isinstance(statement, (ast.With, ast.If, ast.For, ast.While)):
            simple.setdefault(statement.lineno - 1, range(statement.lineno - 1, statement.lineno))
    for key, query, hits in calls(text, rng):
        blocks = sorted({simple[n] for n in hits if n in simple}, key=lambda r: r.start)
        if blocks and len(blocks) <= 4 and all(n in simple for n in hits):
            points.append(Point("call", f"call {key}", query, tuple(blocks), cuttable=len(blocks) == 1))
    for label in labels_of(text, rng):  # comments, messages and help texts that stay where they are
        query = rephrase(label.handle, label.kind, rng, stems(label.handle)) if label.rule != "docstring" else None
        answer = range(min([label.answer.start, *label.drop]), label.answer.stop)
        if query and len(answer) <= 12:
            points.append(
                Point(f"kept_{label.rule}", f"kept {label.handle}", query, (answer,), cuttable=label.cuttable)
            )
    return points
