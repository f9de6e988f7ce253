"""Any server that speaks OpenAI's chat completions: vLLM, llama.cpp, a hosted model."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError
from linecls.systems.generative.base import Generative
from linecls.systems.generative.client import Completion, JsonClient, chat_completion, first_model

API_KEY_VARIABLE = "LINECLS_API_KEY"


class Endpoint(Generative):
    """A model behind an OpenAI-compatible endpoint, asked by `POST …/chat/completions`."""

    def __init__(
        self,
        endpoint: str,
        model: str | None = None,
        *,
        prompt: str = "squeez",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        background: bool = False,
        concurrency: int = 4,
        timeout: float = 600.0,
        retries: int = 5,
        cache: str | Path | None = None,
        api_key_env: str = API_KEY_VARIABLE,
        parameters: dict[str, Any] | None = None,
        token_price: Sequence[float] | None = None,
    ) -> None:
        """endpoint: the base address, `http://HOST:PORT/v1`; model: as the server names it, None for its first.

        timeout (seconds) and retries: of one request, see `client.JsonClient`; api_key_env: the environment
        variable that holds the key, which stands in no report and no cache; parameters: further fields of the
        request (`seed`, `chat_template_kwargs`, …); token_price: US dollars per million tokens of prompt and of
        answer, for the cost that a report states; the others as for `Generative`.
        Raises EndpointError for an unusable address; the server is asked nothing before the first record.
        """
        super().__init__(
            prompt=prompt,
            max_tokens=max_tokens,
            temperature=temperature,
            background=background,
            concurrency=concurrency,
            cache=cache,
        )
        if timeout <= 0 or retries < 0:
            raise ValueError("timeout is above 0, and retries at least 0")
        address = endpoint.strip().rstrip("/").removesuffix("/chat/completions")
        self._client = JsonClient(address, api_key=os.environ.get(api_key_env), timeout=timeout, retries=retries)
        if token_price is not None and (len(token_price) != 2 or not all(0 <= p < math.inf for p in token_price)):
            raise ValueError(f"token_price is two prices, as [0.15, 0.60], not {token_price}")
        self.token_price = None if token_price is None else (float(token_price[0]), float(token_price[1]))
        self.is_here = self._client.is_loopback
        self._parameters = dict(parameters or {})
        if taken := {"model", "messages", "max_tokens", "temperature", "stream"} & self._parameters.keys():
            raise LineclsError(f"parameters of the request must not hold '{min(taken)}'")
        self._model = model
        self._lock = threading.Lock()

    def complete(self, messages: list[dict[str, str]]) -> Completion:
        """One request. Raises ContextError, or EndpointError, as `client.JsonClient.request` does."""
        return chat_completion(self._client, {**self._payload(), "messages": messages})

    def identity(self) -> dict[str, Any]:
        """The address (without user and password) and all fields of the request but the messages."""
        return {"endpoint": self._client.shown, **self._payload()}

    def _payload(self) -> dict[str, Any]:
        with self._lock:
            if self._model is None:
                self._model = first_model(self._client)
        return {
            "model": self._model,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            **self._parameters,
        }
