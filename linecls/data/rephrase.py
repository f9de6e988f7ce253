"""Turning a handle (docstring, comment, error message, help text, commit subject) into a query.

A handle is what an author wrote about a piece of code. A query asks for that piece: with another wording
(question, situation, command, goal, keywords), with synonyms, and without identifiers, so that the words
alone do not lead to the lines.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from linecls.data.vocabulary import (
    BASE_VERBS,
    FORMS,
    MAKE,
    NOUNS,
    STOPWORDS,
    VERBS,
    WORD,
    gerund,
    participle,
    past,
    stem,
    stems,
    third_person,
    words_of,
)

_MARKUP = [
    (re.compile(r":[a-z:+-]+:`~?!?([^`<]*?)(?:\s*<[^`]*>)?`"), r"`\1`"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"``([^`]*)``"), r"`\1`"),
    (re.compile(r"`([^`<]+) <[^`]*>`_+"), r"\1"),
    (re.compile(r"\[[A-Za-z0-9_, -]*\]_?"), ""),
    (re.compile(r"\((?:[^()]|\([^()]*\))*\)"), ""),
    (re.compile(r"\*\*?([A-Za-z_][\w ]*)\*?\*?"), r"\1"),
    (re.compile(r"[CAL]\{([^}]*)\}"), r"`\1`"),
    (re.compile(r"\s+"), " "),
]
_IDENTIFIER = re.compile(r"^[A-Za-z_][\w.]*$")


def clean(text: str, rng: random.Random) -> str | None:
    """The first sentence of a handle without markup; None when it cannot become a query."""
    if re.search(r"https?://|>>>|\.\. |::|@\w+", text):
        return None
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = re.split(r"(?<=[a-z0-9`'\")])[.!?](?:\s|$)", text.strip())[0].strip(" .:;,-")
    if "`" in text:
        text = re.sub(r"`([^`]*)`", lambda m: _spell(m.group(1)), text)
    words = [_plain(word) for word in text.split()]
    text = re.sub(r"(?<![\w.])\.(?=[A-Za-z])", "", " ".join(words)).replace("``", "").replace('"', "").strip()
    if (
        text.count("(") != text.count(")")
        or not text
        or re.search(r"[<>={}\\|*#`\[\]~^$%@+]", text)
        or not text.isascii()
    ):
        return None
    if "," in text and len(text.split()) > 14 and rng.random() < 0.7:
        text = text.split(",")[0] if len(text.split(",")[0].split()) >= 6 else text
    return text


def _plain(word: str) -> str:
    core = word.strip("\"'.,;:!?")
    is_code = re.search(r"[_]|[a-z][A-Z]|^\w+\.\w+", core) and core.lower() not in ("e.g", "i.e")
    return word.replace(core, _spell(core)) if is_code else word


def _spell(code: str) -> str:
    code = code.strip().strip("~!").removesuffix("()")
    if _IDENTIFIER.match(code):
        return words_of(code) or code
    return code


# Handles that say nothing about what a piece of code does begin like this.
_GENERIC = re.compile(
    r"^(see |todo|fixme|xxx|hack|note|nb|noqa|type:|pragma|pylint|mypy|same as|alias|like |deprecated"
    r"|override|overridden|internal|helper|private|public|initiali[sz]e (self|the (object|instance|class))"
    r"|constructor|init\b|test|this (is|function|method|class|module|property|one)|the following|base class"
    r"|abstract|subclass|implement|wrapper|for (backward|compat|internal|more|example|testing)|backward"
    r"|copyright|licen[sc]e|python \d|example|default implementation|convenience|shortcut|shorthand"
    r"|synonym|equivalent"
    r"|must be|should be|default|not implemented|magic|usage|args|return self|do nothing|does nothing|no-?op"
    r"|dummy|this$|sentinel|ensure that this|defined|used (by|in|to|for)|called)",
    re.IGNORECASE,
)


def is_telling(text: str) -> bool:
    """Whether a cleaned handle says enough to find code by: enough content words, not a stock phrase."""
    if _GENERIC.match(text) or not 4 <= len(text.split()) <= 24:
        return False
    content = [w for w in WORD.findall(text) if len(w) > 2 and w.lower() not in STOPWORDS]
    return len({w.lower() for w in content}) >= 3


def synonyms(text: str, rng: random.Random, taboo: Iterable[str] = (), rate: float = 0.45) -> str:
    """Replace words by synonyms: those whose stem is in `taboo` nearly always, others at `rate`."""
    forbidden = set(taboo)
    out = []
    tokens = re.split(r"([A-Za-z]+)", text)
    for i, token in enumerate(tokens):
        if i % 2 == 0 or token.isupper() or len(token) < 3:
            out.append(token)
            continue
        lower = token.lower()
        options: list[str] = []
        if lower in NOUNS:
            options = NOUNS[lower]
        elif lower in FORMS:
            base, form = FORMS[lower]
            if form != "s" or not (
                i > 1 and re.search(r"\b(the|of|a|all|any|these|those)$", "".join(tokens[:i]).rstrip(), re.I)
            ):
                options = [MAKE[form](other) for other in VERBS.get(base, [])]
        fresh = [o for o in options if not stems(o) & forbidden] or options
        if (
            fresh
            and not _is_noun_here(tokens[:i], lower)
            and rng.random() < (0.9 if stem(lower) in forbidden else rate)
        ):
            choice = rng.choice(fresh)
            out.append(choice[0].upper() + choice[1:] if token[0].isupper() else choice)
        else:
            out.append(token)
    return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", re.sub(r"\b([Aa])n (?=[bcdfgjklmnpqrstvwyz])", r"\1 ", "".join(out)))


def _is_noun_here(before: list[str], word: str) -> bool:
    """Whether a word that looks like a verb's base form cannot be one, by the word in front of it."""
    if word in NOUNS or word not in BASE_VERBS:
        return False
    previous = re.findall(r"[A-Za-z']+", "".join(before))
    allowed = (
        "to",
        "we",
        "you",
        "it",
        "they",
        "not",
        "and",
        "or",
        "can",
        "will",
        "must",
        "should",
        "may",
        "could",
        "would",
        "don't",
        "let's",
        "also",
    )
    return bool(previous) and previous[-1].lower() not in allowed


def _lower_first(text: str) -> str:
    head = text.split(" ", 1)[0]
    return text if (len(head) > 1 and not head[1:].islower()) or head == "I" else text[:1].lower() + text[1:]


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _imperative(text: str) -> tuple[str, str] | None:
    """Base verb and the rest when a handle starts with a verb (`Returns the x` or `Return the x`)."""
    head, _, rest = text.partition(" ")
    adverb = ""
    if head.lower().endswith("ly") and rest:
        adverb = head.lower() + " "
        head, _, rest = rest.partition(" ")
    base, form = FORMS.get(head.lower(), ("", ""))
    if (
        not base
        or form not in ("", "s")
        or not rest
        or re.match(r"(is|are|was|has|have|must|should|of|can|will|for)\b", rest)
    ):
        return None
    if adverb:
        rest = rest + " " + adverb.strip()
    return base, rest


_WHETHER = re.compile(
    r"^(?:(?:returns?|checks?|determines?|tests?|tells?|decides?|sees?|verif(?:y|ies)|indicates?)\s+)?"
    r"(?:(?:true|a bool\w*|a flag|bool)\s+)?"
    r"(?:(?:if and only if|iff|if|whether or not|whether|when)\s+)(.*)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:and )?(?:or )?(?:false|none|true|not)(?: otherwise| if not)?$|,? otherwise .*$|,? else .*$", re.I
)


def _whether(clause: str, rng: random.Random) -> str:
    return rng.choice(
        [
            "How is it decided whether {}?",
            "Which check tells whether {}?",
            "What determines if {}?",
            "Where is it tested whether {}?",
            "How do we know if {}?",
            "Which lines find out whether {}?",
            "Find the check for whether {}.",
            "How does the code tell that {}?",
        ]
    ).format(clause)


def _action(verb: str, rest: str, rng: random.Random) -> str:
    s, ing, ed = third_person(verb), gerund(verb), participle(verb)
    forms = [
        f"What {s} {rest}?",
        f"Which lines {verb} {rest}?",
        f"Where does it {verb} {rest}?",
        f"Which part {s} {rest}?",
        f"Find the code that {s} {rest}.",
        f"How does it {verb} {rest}?",
        f"I need to {verb} {rest}; what does that already?",
        f"Show me what {s} {rest}.",
        f"Which code is responsible for {ing} {rest}?",
        f"{_upper_first(ing)} {rest}: where is that done?",
        f"I want to change how we {verb} {rest}. Which lines?",
        f"Locate the logic for {ing} {rest}",
        f"{verb} {rest}",
    ]
    short = re.match(
        r"^((?:the|a|an|all|any|each|every|this|that)\s[\w' -]{3,40}?)"
        r"(?=\s(?:to|from|in|into|for|with|by|if|when|as|on|using)\b|$)(.*)$",
        rest,
    )
    if short and " that " not in short.group(1) and " and " not in short.group(1):
        be = "are" if _is_many(short.group(1)) else "is"
        forms += [
            f"Where {be} {short.group(1)} {ed}{short.group(2)}?",
            f"How {be} {short.group(1)} {ed}{short.group(2)}?",
        ] * 4
    giving = verb in (
        "return",
        "give back",
        "answer with",
        "get",
        "retrieve",
        "fetch",
        "compute",
        "calculate",
        "obtain",
        "yield",
    )
    if giving and re.match(r"(the|a|an|all)\b", rest):
        core = rest
        forms = [] if verb in ("return", "give back", "answer with") else forms
        forms += [
            f"Where does {core} come from?",
            f"How is {core} worked out?",
            f"Which function hands out {core}?",
            f"What gives me {core}?",
            f"Where do callers get {core}?",
            f"What returns {core}?",
            f"I need {core}; is there a function?",
            f"How do I get {core}?",
        ] * 2
    return rng.choice(forms)


def _statement(text: str, rng: random.Random) -> str:
    condition = re.match(r"^(if|when|in case|unless)\s+([^,]{12,}),\s*(?:then )?(.+)$", text, re.IGNORECASE)
    if condition:
        word, clause, then = condition.groups()
        return rng.choice(
            [
                f"What happens {word.lower()} {clause}?",
                f"What is done {word.lower()} {clause}?",
                f"{_upper_first(word.lower())} {clause}, which lines deal with it?",
                f"{_upper_first(clause)}: where is this case handled?"
                if word.lower() in ("if", "when")
                else f"What is done {word.lower()} {clause}?",
                f"Where do we {then}?"
                if (p := _imperative(then)) and p[0] == then.split(" ")[0].lower()
                else f"What happens {word.lower()} {clause}?",
            ]
        )
    if bare := re.match(r"^(if|when|in case|unless) ([^,]+)$", text, re.IGNORECASE):
        word, clause = bare.group(1).lower(), bare.group(2)
        return rng.choice(
            [
                f"What happens {word} {clause}?",
                f"What is done {word} {clause}?",
                f"Which lines are for the case that {clause}?",
            ]
        )
    lower = _lower_first(text)
    return rng.choice(
        [
            f"{_upper_first(text)}; which lines take care of that?",
            f"{_upper_first(text)}: where is that handled?",
            f"Where is it taken into account that {lower}?",
            f"Which code copes with this: {lower}?",
            f"Which lines are there because {lower}?",
            f"{_upper_first(text)}. Where do we see to it?",
            f"{_upper_first(text)}; what does the code do about it?",
        ]
    )


def _is_many(phrase: str) -> bool:
    """Whether a noun phrase is in the plural, by its first words."""
    head = re.split(r" (?:of|we|they|that|which|whose|added|given|for|to|in|from|with|by|on|as)\b", phrase)[0]
    return re.match(r"(all|these|those)\b", head) is not None or re.search(r"[a-z]{2}[^su]s$", head) is not None


def _noun(text: str, kind: str, rng: random.Random) -> str:
    lower = _lower_first(text)
    many = _is_many(lower)
    be = "are" if many else "is"
    if kind == "function":
        return rng.choice(
            [
                f"Where {'do' if many else 'does'} {lower} come from?",
                f"How do I get {lower}?",
                f"What gives me {lower}?",
                f"Find {lower}.",
                f"Which function is about {lower}?",
                f"Where {be} {lower} worked out?",
                f"How {be} {lower} obtained?",
            ]
        )
    return rng.choice(
        [
            f"Where {be} {lower} defined?",
            f"Find {lower}.",
            f"Which definition {be} {lower}?",
            f"I am looking for {lower}.",
            f"Where do I find {lower}?",
            f"Which lines make up {lower}?",
            f"Show me {lower}.",
        ]
    )


def keywords(text: str, rng: random.Random) -> str:
    """A terse query: three to six content words in their order."""
    content = [w for w in re.findall(r"[A-Za-z0-9]+", text) if w.lower() not in STOPWORDS and len(w) > 2]
    while len(content) > 6:
        content.pop(rng.randrange(len(content)))
    return " ".join(w if w.isupper() else w.lower() for w in content)


def _error(text: str, rng: random.Random) -> str:
    lower = _lower_first(text)
    if m := re.match(r"(?:can ?not|can't|could not|couldn't|unable to|failed to|refus\w+ to)\s+(.+)", text, re.I):
        rest = m.group(1)
        return rng.choice(
            [
                f"When is it impossible to {rest}?",
                f"Where does it refuse to {rest}?",
                f"What makes it give up trying to {rest}?",
                f"In which case can't we {rest}?",
                f"It does not manage to {rest}; where is that reported?",
            ]
        )
    if m := re.match(
        r"(?:an? )?(invalid|illegal|bad|malformed|unknown|unexpected|unrecognized|unsupported|duplicate"
        r"|incorrect|missing|no such|empty) (.+)",
        text,
        re.I,
    ):
        kind, rest = m.group(1).lower(), re.sub(r"^(the|an?) ", "", m.group(2))
        article = "an" if kind[0] in "aeiou" else "a"
        if kind in ("missing", "no such"):
            return rng.choice(
                [
                    f"What happens if there is no {rest}?",
                    f"Where is a lacking {rest} reported?",
                    f"The {rest} is absent; what then?",
                ]
            )
        return rng.choice(
            [
                f"Where is {article} {kind} {rest} turned down?",
                f"What happens if {article} {kind} {rest} is given?",
                f"Which check refuses {article} {kind} {rest}?",
                f"What is done about {article} {kind} {rest}?",
            ]
        )
    if m := re.match(r"expect(?:ed|ing|s)? (.+?)(?:,? (?:but )?(?:got|found|received|not).*)?$", text, re.I):
        return rng.choice(
            [
                f"Where is anything other than {m.group(1)} refused?",
                f"What happens when something else than {m.group(1)} comes?",
                f"Which lines insist on {m.group(1)}?",
            ]
        )
    if m := re.match(r"(.+?) (must|should|has to|have to|needs? to) (not )?be (.+)$", text):
        subject, modal, negation, rest = _lower_first(m.group(1)), m.group(2), m.group(3) or "", m.group(4)
        return rng.choice(
            [
                f"Where is it enforced that {subject} {modal} {negation}be {rest}?",
                f"Which check insists that {subject} {modal} {negation}be {rest}?",
                f"What if {subject} is {'' if negation else 'not '}{rest}?",
                f"What happens when {subject} is {'' if negation else 'not '}{rest}?",
            ]
        )
    if re.match(r"(can|could|must|should|does|is|was|may|needs|requires|has) ", lower):
        lower = "it " + lower
    if not _FINITE.search(lower) and not re.search(r"\b(got|has|had|exceeds|failed|requires|contains)\b", lower):
        return rng.choice(
            [
                f"{_upper_first(lower)}: which condition leads to that error?",
                f"Which check complains like this: {lower}?",
                f"What is the reason for the error about {lower}?",
                f"Users are told: {lower}. From where?",
            ]
        )
    return rng.choice(
        [
            f"Where is it complained that {lower}?",
            f"Which lines object that {lower}?",
            f"Users are told: {lower}. From where?",
            f"Which check fails with the complaint that {lower}?",
            f"{_upper_first(lower)}: which condition leads to that error?",
            f"When does it stop because {lower}?",
            f"Where do we bail out because {lower}?",
        ]
    )


def _option(text: str, rng: random.Random) -> str:
    if parts := _imperative(text):
        verb, rest = parts
        s = third_person(verb)
        return rng.choice(
            [
                f"Which option {s} {rest}?",
                f"How do I tell it to {verb} {rest}?",
                f"Is there a flag to {verb} {rest}?",
                f"Find the switch that {s} {rest}.",
                f"I want it to {verb} {rest}; which argument?",
            ]
        )
    lower = _lower_first(text)
    return rng.choice(
        [
            f"Which option is for {lower}?",
            f"Where is this setting declared: {lower}?",
            f"Which argument takes {lower}?",
            f"How do I give {lower} on the command line?",
            f"Find the option about {lower}.",
        ]
    )


def _commit(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if parts and parts[0] in ("fix", "correct", "repair", "resolve"):
        rest = re.sub(
            r"^(an? |the )?(bug|issue|problem|regression|error|crash)s? (where|when|with|in|that)\s+",
            "",
            parts[1],
        )
        return rng.choice(
            [
                f"Which lines have to change to fix {rest}?"
                if rest == parts[1]
                else f"{_upper_first(rest)}: which code is at fault?",
                f"Where is the cause of this: {rest}?",
                f"I want to fix {rest}; where do I start?"
                if rest == parts[1]
                else f"Which lines are to blame when {rest}?",
                f"Goal: {_lower_first(text)}.",
                f"{_upper_first(rest)}; find the responsible lines.",
            ]
        )
    if parts:
        verb, rest = parts
        return rng.choice(
            [
                f"We want to {verb} {rest}. Which lines must change?",
                f"Where would I {verb} {rest}?",
                f"Goal: {verb} {rest}.",
                f"Task: {verb} {rest}. Show the code that this touches.",
                f"To {verb} {rest}, which lines are affected?",
                f"Which part has to be edited to {verb} {rest}?",
            ]
        )
    lower = _lower_first(text)
    return rng.choice(
        [
            f"Which lines are concerned: {lower}?",
            f"Goal: {lower}.",
            f"Where must this change be made: {lower}?",
        ]
    )


_FINITE = re.compile(
    r"\b(is|are|was|were|will|can|cannot|may|must|should|do|does|don't|doesn't|have|has|need|needs"
    r"|want|would|won't|isn't|aren't|can't|could|might|we|it)\b",
    re.IGNORECASE,
)
_TEMPLATE_WORDS = """
lines code find show locate part place function check logic responsible define definition handle case
option switch  argument flag setting goal task hunk change commit want need take care deal cope account
decide determine tell whether  come obtain work happen done enforce insist refuse turn report complain
object
"""


def _commit_verb(text: str) -> str:
    """A subject with its first verb in the base form: `Fixed the` and `Fixes the` become `Fix the`."""
    head, _, rest = text.partition(" ")
    base, form = FORMS.get(head.lower(), ("", ""))
    return f"{base[0].upper()}{base[1:]} {rest}" if base and form in ("ed", "ing", "s") else text


def _diff(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if not parts:
        lower = _lower_first(text)
        return rng.choice(
            [
                f"Which hunk is about this: {lower}?",
                f"Which change belongs to: {lower}?",
                f"Find the hunk for {lower}.",
            ]
        )
    verb, rest = parts
    s = third_person(verb)
    return rng.choice(
        [
            f"Which hunk {s} {rest}?",
            f"Which change {s} {rest}?",
            f"Find the change that {s} {rest}.",
            f"What {s} {rest} now?",
            f"Where does this start to {verb} {rest}?",
            f"Where was the code changed to {verb} {rest}?",
            f"Show the edit meant to {verb} {rest}.",
            f"Which lines of the diff {verb} {rest}?",
        ]
    )


def _log(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if not parts:
        lower = _lower_first(text)
        return rng.choice(
            [f"Which commit is about {lower}?", f"Find the commit: {lower}.", f"When was this done: {lower}?"]
        )
    verb, rest = parts
    ed, s = past(verb), third_person(verb)
    return rng.choice(
        [
            f"Which commit {ed} {rest}?",
            f"Find the commit that {ed} {rest}.",
            f"When did they {verb} {rest}?",
            f"Which entry says that it {s} {rest}?",
            f"In which commit did somebody {verb} {rest}?",
            f"Since which commit do we {verb} {rest}?"
            if verb not in ("fix", "remove", "add", "correct", "make")
            else f"Who {ed} {rest}?",
        ]
    )


def _log_body(text: str, rng: random.Random) -> str:
    text = re.sub(r"^(this|the) (commit|change|patch|pr) ", "", text, flags=re.I)
    parts = _imperative(text)
    if parts:
        return _log(text, rng)
    lower = _lower_first(text)
    return rng.choice(
        [
            f"{_upper_first(text)}: which commit is about that?",
            f"Which commit has to do with this: {lower}?",
            f"{_upper_first(text)}; which change was that?",
            f"Find the commit whose background is that {lower}.",
        ]
    )


def rephrase(handle: str, kind: str, rng: random.Random, taboo: Iterable[str] = ()) -> str | None:
    """A query for the code that `handle` describes, or None when no good one comes of it.

    kind: the sort of handle: `function`, `class`, `comment`, `error`, `option`, a commit's subject asked of a
        file (`commit`), of a diff (`diff`) or of a log (`log`), or a sentence of its body (`log_body`).
    taboo: stems of the words in the answer; they are replaced where the table knows another word.
    """
    text = clean(handle, rng)
    if text is None or not is_telling(text) or re.search(r"\b(for|to|of|in|with|by|from|the|a|and|or)$", text):
        return None
    forbidden = set(taboo)
    text = re.sub(r"\b(the|this|a) (given|specified|provided) ", r"\1 ", text)
    text = _TAIL.sub("", text) if kind == "function" else text
    if kind == "comment" and (
        opened := re.match(
            r"^((?:if|when) [^,]{15,}?) (?:we|then|it|just|this|don't|do not|use|return|raise|skip)\b",
            text,
            re.I,
        )
    ):
        text = opened.group(1)
    if rng.random() < 0.08:
        query = keywords(synonyms(text, rng, forbidden, 0.2), rng)
        return query if len(query.split()) >= 4 else None
    match = _WHETHER.match(text) if kind in ("function", "comment") else None
    if match and kind == "comment" and ("," in text or not re.match(r"(check|determine|test|see|verify)", text, re.I)):
        match = None
    if match:
        query = _whether(synonyms(match.group(1), rng, forbidden), rng)
    elif kind == "error":
        query = _error(synonyms(text, rng, forbidden), rng)
    elif kind == "option":
        if re.match(r"(if|when|whether)\b", text, re.I):
            return None
        query = _option(_with_synonyms(text, rng, forbidden), rng)
    elif kind in ("commit", "diff", "log"):
        make = {"commit": _commit, "diff": _diff, "log": _log}[kind]
        query = make(_with_synonyms(_commit_verb(text), rng, forbidden, 0.35), rng)
    elif kind == "log_body":
        query = _log_body(_with_synonyms(text, rng, forbidden, 0.3), rng)
    elif parts := _imperative(text):
        query = _action(_other_verb(parts[0], rng, forbidden), synonyms(parts[1], rng, forbidden), rng)
    elif kind in ("function", "class") and re.match(r"(an?|the|all|every|list|set|number|name|path)\b", text, re.I):
        if not re.search(r"\b(that|which|whose)\b", text) and _FINITE.search(text):
            return None
        query = _noun(synonyms(text, rng, forbidden), kind, rng)
    elif kind == "comment" and _FINITE.search(text):
        query = _statement(synonyms(text, rng, forbidden, 0.35), rng)
    else:
        return None
    query = re.sub(r"\s+", " ", query).strip()
    return _upper_first(query) if rng.random() < 0.9 else query


def _other_verb(verb: str, rng: random.Random, forbidden: set[str]) -> str:
    others = [v for v in VERBS.get(verb, []) if not stems(v) & forbidden]
    return rng.choice(others) if others and (stem(verb) in forbidden or rng.random() < 0.45) else verb


def _with_synonyms(text: str, rng: random.Random, forbidden: set[str], rate: float = 0.45) -> str:
    parts = _imperative(text)
    if not parts:
        return synonyms(text, rng, forbidden, rate)
    keep = parts[0] in ("fix",) or rng.random() < 0.5
    verb = parts[0] if keep else _other_verb(parts[0], rng, forbidden)
    return f"{verb} {synonyms(parts[1], rng, forbidden, rate)}"


_TEMPLATE_STEMS = stems(_TEMPLATE_WORDS)


def content_stems(query: str) -> set[str]:
    """Stems of a query's content words without those that the wording adds."""
    return stems(query) - _TEMPLATE_STEMS


def overlap(query: str, answer: str) -> float:
    """Share of the query's content stems that stand in the answer."""
    asked = content_stems(query)
    return len(asked & stems(answer)) / len(asked) if asked else 1.0
