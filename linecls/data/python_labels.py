"""Pieces of a Python file that its author described: by docstring, comment, error message or help text."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from dataclasses import dataclass, field

from linecls.observation import split_lines

_NOT_COMMENT = re.compile(
    r"todo|fixme|xxx|noqa|type:|pragma|pylint|mypy|fmt:|isort|flake8|!/|-\*-|coding[:=]|https?:|copyright|license"
    r"|spdx|^[-=#*~_ ]*$|pep ?\d|issue|bug \d|nosec|>>>|deprecat|backward|compat|python ?[23]|py[23]"
    r"|^(and|or|but|so|also|then|else|otherwise|\d|\()",
    re.IGNORECASE,
)

Edit = tuple[int, int, int, int, str]  # first line, column, last line, column, replacement; lines from 0


@dataclass
class Label:
    """A handle and the piece of code that it describes; line numbers count from 0 in the file's own text.

    drop: lines that must go because they hold the handle. edits: replacements inside lines.
    answer: lines of the piece. cuttable: whether the file still parses without the answer.
    """

    rule: str
    kind: str
    handle: str
    answer: range
    drop: range = range(0)
    edits: list[Edit] = field(default_factory=list)
    cuttable: bool = False


def labels_of(text: str, rng: random.Random) -> list[Label]:
    """All labels that a file offers; empty when it does not parse."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = split_lines(text)
    comments = _comments(lines, nodes)
    labels: list[Label] = []
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            labels += _docstring_label(node, lines)
        elif isinstance(node, ast.If):
            labels += _error_label(node, lines, rng)
        elif isinstance(node, ast.Call):
            labels += _option_label(node, lines)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                header = node.lineno - 1 if name == "body" and isinstance(node, (ast.If, ast.ExceptHandler)) else None
                labels += _comment_labels(body, comments, lines, header)
    told = Counter(" ".join(label.handle.lower().split()[:8]) for label in labels)
    labels = [label for label in labels if told[" ".join(label.handle.lower().split()[:8])] == 1]
    return sorted(labels, key=lambda label: (label.answer.start, label.rule))


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)]) - 1


def _docstring_label(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: list[str]) -> list[Label]:
    body, doc = node.body, ast.get_docstring(node)
    if not doc or len(body) < 2 or node.end_lineno is None or node.name.startswith("__"):
        return []
    expression = body[0]
    start, end = expression.lineno - 1, (expression.end_lineno or 0)
    if not lines[start].lstrip().startswith(('"', "'", "r", "R")) or (len(body) > 1 and body[1].lineno <= end):
        return []
    while end < node.end_lineno and not lines[end].strip():
        end += 1
    answer = range(_first(node), node.end_lineno)
    size = len(answer) - (end - start)
    if isinstance(node, ast.ClassDef):
        if size > 12:
            return []
    elif size > 18 or size < 2:
        return []
    stub = all(
        isinstance(s, (ast.Pass, ast.Raise)) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in body[1:]
    )
    if stub and not isinstance(node, ast.ClassDef):
        return []
    first = re.split(r"\n\s*\n", doc.strip())[0]
    kind = "class" if isinstance(node, ast.ClassDef) else "function"
    return [Label("docstring", kind, " ".join(first.split()), answer, range(start, end), cuttable=True)]


def _comments(lines: list[str], nodes: list[ast.AST]) -> dict[int, tuple[str, int]]:
    """Comments that stand on a line of their own: line -> text and column. Much faster than `tokenize`."""
    quoted: set[int] = set()
    for node in nodes:
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno and node.end_lineno > node.lineno:
            quoted.update(range(node.lineno, node.end_lineno))
    found = {}
    for n, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith("#") and n not in quoted:
            found[n] = (bare.rstrip(), len(line) - len(bare))
    return found


def _comment_labels(
    body: list[ast.stmt], comments: dict[int, tuple[str, int]], lines: list[str], header: int | None
) -> list[Label]:
    """Labels of the comments in a block; `header` is the line of the `if` or `except` that opens it."""
    labels = []
    for i, statement in enumerate(body):
        first = _first(statement)
        top = first
        while top - 1 in comments and comments[top - 1][1] == statement.col_offset:
            top -= 1
        if top == first or first - top > 5:
            continue
        if top > 0 and lines[top - 1].strip() and top - 1 in comments:
            continue
        raw = [comments[n][0].lstrip("#:").strip() for n in range(top, first)]
        handle = " ".join(raw)
        if _NOT_COMMENT.search(handle) or any(not r for r in raw):
            continue
        end = statement.end_lineno or first
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        compound = hasattr(statement, "body")
        for following in body[i + 1 :]:
            gap = lines[end : _first(following)]
            if gap or compound or hasattr(following, "body") or (following.end_lineno or 0) - first > 6:
                break
            end = following.end_lineno or end
        if end - first > 12:
            continue
        # A comment that opens a conditional block tells why one gets there: the condition is answer too.
        start = (
            header
            if i == 0 and header is not None and top - header <= 3 and not lines[header].lstrip().startswith("else")
            else first
        )
        if end - start == 1 and len(re.findall(r"[A-Za-z]{3,}", lines[first])) < 3:
            continue  # `continue`, `return x`: nothing to know it by
        labels.append(
            Label(
                "comment",
                "comment",
                handle,
                range(start, end),
                range(top, first),
                cuttable=len(body) > 2 and compound,
            )
        )
    return labels


def _message(call: ast.Call) -> tuple[str, ast.expr] | None:
    if not call.args:
        return None
    node = call.args[0]
    inner = node
    while True:
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Mod, ast.Add)):
            inner = inner.left
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "format":
            inner = inner.func.value
        elif (
            isinstance(inner, ast.Call)
            and len(inner.args) == 1
            and isinstance(inner.func, ast.Name)
            and len(inner.func.id) <= 2
        ):
            inner = inner.args[0]
        else:
            break
    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
        return inner.value, node
    if isinstance(inner, ast.JoinedStr):
        text = "".join(
            v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else _placeholder(v)
            for v in inner.values
        )
        return text, node
    return None


def _placeholder(node: ast.expr) -> str:
    return "{}"


_HOLE = re.compile(r"""["'`(]?(?:%(?:\(\w+\))?[-+#0-9.]*[srdifgxc](?![a-z])|\{[^{}]*\})["'`)]?""")


def message_handle(text: str) -> str | None:
    """An error message with its placeholders taken out; None when nothing readable is left."""
    text = re.split(
        r"(?<=[a-z}'\"])[.!?;](?:\s|$)|\n|, (?:got|but got|not|was|received|found)\b|: *(?:%|\{)"
        r"|[.,;]? ?(?:did you mean|please|see|use|try|consider)\b",
        text.strip(),
        flags=re.I,
    )[0]
    holes = len(_HOLE.findall(text))
    if holes > 2:
        return None
    text = re.sub(
        r"^"
        + _HOLE.pattern
        + r"\s*(?=(?:is|are|was|has|does|did|must|should|can|cannot|may|needs|expects|requires)\b)",
        "the value ",
        text,
    )
    text = re.sub(r"\b(an?|the|of|for|in|to|with|from|by|at|on) " + _HOLE.pattern + r"(?=$|[.,;:)])", "", text)
    text = _HOLE.sub("", text)
    text = re.sub(r"\s+([.,;:])", r"\1", re.sub(r"\s+", " ", text)).strip(" .:;,'\"")
    return text if len(text.split()) >= 3 else None


def _error_label(node: ast.If, lines: list[str], rng: random.Random) -> list[Label]:
    raised = [s for s in node.body if isinstance(s, ast.Raise)]
    if len(raised) != 1 or node.orelse or raised[0] is not node.body[-1] or len(node.body) > 3:
        return []
    call = raised[0].exc
    first, end = node.lineno - 1, node.end_lineno or 0
    if not isinstance(call, ast.Call) or end - first > 12 or lines[first].lstrip().startswith("elif"):
        return []
    found = _message(call)
    handle = message_handle(found[0]) if found else None
    if not found or not handle or re.match(r"(unexpected|internal) error|not implemented", handle, re.I):
        return []
    edits: list[Edit] = []
    value = found[1]
    if rng.random() < 0.7 and len(call.args) == 1 and not call.keywords:
        edits = [
            (
                call.func.end_lineno or 0,
                call.func.end_col_offset or 0,
                call.end_lineno or 0,
                call.end_col_offset or 0,
                "()",
            )
        ]
    elif isinstance(value, (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Call)) and rng.random() < 0.6:
        edits = [
            (
                value.lineno,
                value.col_offset,
                value.end_lineno or 0,
                value.end_col_offset or 0,
                rng.choice(["msg", "message", "error"]),
            )
        ]
    edits = [(a - 1, b, c - 1, d, text) for a, b, c, d, text in edits]
    return [Label("error", "error", handle, range(first, end), edits=edits, cuttable=True)]


def _option_label(node: ast.Call, lines: list[str]) -> list[Label]:
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name not in (
        "add_argument",
        "option",
        "add_option",
        "addoption",
        "Option",
        "Argument",
        "argument",
        "Field",
        "ArgSpec",
        "config",
    ):
        return []
    documented = [k for k in node.keywords if k.arg in ("help", "description", "doc")]
    told = documented[0].value if documented else None
    if not isinstance(told, ast.Constant) or not isinstance(told.value, str):
        return []
    keyword = documented[0]
    handle = " ".join(told.value.split())
    end_line, end_col = keyword.value.end_lineno or 0, keyword.value.end_col_offset or 0
    others = [*node.args, *(k.value for k in node.keywords)]
    before = [o for o in others if (o.end_lineno or 0, o.end_col_offset or 0) <= (keyword.lineno, keyword.col_offset)]
    first, end = node.lineno - 1, node.end_lineno or 0
    if not before or end - first > 12:
        return []
    last = max(before, key=lambda o: (o.end_lineno or 0, o.end_col_offset or 0))
    start_line, start_col = last.end_lineno or 0, last.end_col_offset or 0
    closing = lines[start_line - 1][start_col:]
    if not closing.lstrip().startswith(","):  # a closing bracket of the value stands between
        return []
    edit = (start_line - 1, start_col, end_line - 1, end_col, "")
    text = re.sub(r"\(?\s*\[?default.*$|%\(default\).*$", "", handle, flags=re.I)
    return [Label("option", "option", text, range(first, end), edits=[edit], cuttable=False)]
