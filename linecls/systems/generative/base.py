"""What all generative systems share: prompts out, lines back, a cache between, several requests at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.spans import Span
from linecls.systems.base import Generation, Selection
from linecls.systems.generative.cache import CompletionCache, request_key
from linecls.systems.generative.client import Completion, ContextError
from linecls.systems.generative.mapping import map_lines
from linecls.systems.generative.parsing import parse_answer
from linecls.systems.generative.prompts import build_messages, check_prompt

if TYPE_CHECKING:
    from linecls.records import Record

_AHEAD = 4  # requests waiting for each one under way


class Generative:
    """Base of systems that write the lines to keep; a subclass says how a request is answered."""

    name = "generative"

    def __init__(
        self,
        *,
        prompt: str = "squeez",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        background: bool = False,
        concurrency: int = 1,
        cache: str | Path | None = None,
    ) -> None:
        """prompt: "squeez" for models tuned on that form, "zero-shot" for general ones.

        max_tokens: limit of an answer; temperature: 0 for the likeliest answer; background: put a record's
        background task into the prompt (the data set's own prompts have it, the squeez package leaves it out);
        concurrency: requests at once; cache: folder that keeps completions, None for no cache.
        Raises LineclsError for an unknown prompt, ValueError for a limit out of range.
        """
        self.prompt = check_prompt(prompt)
        if max_tokens < 1 or concurrency < 1:
            raise ValueError("max_tokens and concurrency are at least 1")
        if not 0 <= temperature <= 2:
            raise ValueError(f"temperature lies between 0 and 2, not {temperature}")
        self.max_tokens, self.temperature, self.background = max_tokens, temperature, background
        self.concurrency = concurrency
        self._cache = None if cache is None else CompletionCache(cache)

    def complete(self, messages: list[dict[str, str]]) -> Completion:
        """Answer a chat. Raises ContextError where it is too long for the model."""
        raise NotImplementedError

    def identity(self) -> dict[str, Any]:
        """Everything beside the messages that an answer depends on."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """The model, the prompt and the limits."""
        return {**self.identity(), "prompt": self.prompt, "background": self.background}

    def select(self, query: str, observation: str) -> Selection:
        """The lines that the model wrote, where they stand in the observation."""
        return self._answer(query, observation, "")

    def select_many(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Selection]:
        """One selection for each (query, observation), in order, with `concurrency` requests at once."""
        return self._stream((query, observation, "") for query, observation in pairs)

    def select_records(self, records: Iterable[Record]) -> Iterator[Selection]:
        """The same for records, with their background task where the system was asked to use it."""
        return self._stream((r.query, r.tool_output, r.background_task if self.background else "") for r in records)

    def _stream(self, items: Iterable[tuple[str, str, str]]) -> Iterator[Selection]:
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix=self.name)
        waiting: deque[Future[Selection]] = deque()
        done = 0
        try:
            for item in items:
                waiting.append(pool.submit(self._answer, *item))
                while len(waiting) > self.concurrency * (1 + _AHEAD) or (waiting and waiting[0].done()):
                    yield waiting.popleft().result()
                    done += 1
            while waiting:
                yield waiting.popleft().result()
                done += 1
        except LineclsError as error:
            pool.shutdown(cancel_futures=True)  # what is under way is finished, and kept
            hint = "" if self._cache is None else "; finished answers are kept, so run it again to go on"
            raise type(error)(f"{self.name}: {error} ({done} answered{hint})") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, query: str, observation: str, background: str) -> Selection:
        messages = build_messages(self.prompt, _encodable(query), _encodable(observation), _encodable(background))
        key = "" if self._cache is None else request_key({**self.identity(), "messages": messages})
        completion = None if self._cache is None else self._cache.get(key)
        cached = completion is not None
        if completion is None:
            try:
                completion = self.complete(messages)
            except ContextError:
                return _unchanged(observation)
            if self._cache is not None:
                self._cache.put(key, completion)
        answer = parse_answer(completion.text)
        mapped = map_lines(observation, answer.lines, cut=completion.cut)
        written = mapped.exact + mapped.normalised + mapped.repeated + len(mapped.hallucinated)
        generation = Generation(
            lines=written,
            exact=mapped.exact,
            normalised=mapped.normalised,
            invented=tuple(mapped.hallucinated),
            form=answer.form,
            cut=completion.cut,
            failed=False,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            seconds=completion.seconds,
            cached=cached,
        )
        return Selection(mapped.spans, generation=generation)


def _unchanged(observation: str) -> Selection:
    """What a caller is left with when the model cannot read the observation: all of it."""
    total = len(split_lines(observation))
    spans = [Span(1, total)] if total else []
    failed = Generation(0, 0, 0, (), "none", False, True, 0, 0, 0.0, False)
    return Selection(spans, generation=failed)


def _encodable(text: str) -> str:
    """The text with bytes that are no UTF-8 (lone surrogates) as U+FFFD: JSON cannot carry them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
