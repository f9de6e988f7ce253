"""Systems that write the lines to keep: prompts, reading of the answer, and the way back to line numbers."""

from linecls.systems.generative.client import EndpointError
from linecls.systems.generative.endpoint import Endpoint
from linecls.systems.generative.mapping import Mapped, map_lines
from linecls.systems.generative.parsing import Answer, parse_answer
from linecls.systems.generative.prompts import PROMPTS, build_messages

__all__ = ["PROMPTS", "Answer", "Endpoint", "EndpointError", "Mapped", "build_messages", "map_lines", "parse_answer"]
