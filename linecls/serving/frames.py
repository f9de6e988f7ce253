"""Messages between a caller and the resident process: a small JSON header and raw bytes.

A frame is 4 bytes of magic, the header's length (4 bytes), the body's length (8 bytes), all big-endian, the header
and the body.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from typing import Any

MAX_HEADER = 4 << 20  # bytes; a query stands in the header
MAX_BODY = 256 << 20  # bytes; a larger observation is pruned in the caller's own process

_MAGIC = b"LCD1"
_PREFIX = struct.Struct("!4sIQ")
_PIECE = 1 << 20


class FrameError(Exception):
    """The other side sent something that is no frame, too much, or went away."""


class Line:
    """One connection with a limit on silence and a limit on the whole.

    silence: seconds that one send or receive may take.
    deadline: `time.monotonic()` after which everything raises TimeoutError; None is never.
    """

    def __init__(self, connection: socket.socket, *, silence: float, deadline: float | None = None) -> None:
        self.connection = connection
        self.silence = silence
        self.deadline = deadline

    def send(self, header: dict[str, Any], body: bytes | memoryview = b"") -> None:
        """Send one frame. Raises FrameError when it is over the limits, OSError when it does not go through."""
        head = json.dumps(header).encode("ascii")
        if len(head) > MAX_HEADER or len(body) > MAX_BODY:
            raise FrameError("the message is over the limits")
        self._send_all(_PREFIX.pack(_MAGIC, len(head), len(body)) + head)
        self._send_all(body)

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """Header and body of the next frame. Raises FrameError, or OSError (TimeoutError among them)."""
        magic, head_size, body_size = _PREFIX.unpack(self._receive_exactly(_PREFIX.size))
        if magic != _MAGIC or head_size > MAX_HEADER or body_size > MAX_BODY:
            raise FrameError("not a message of this protocol")
        try:
            header = json.loads(self._receive_exactly(head_size))
        except ValueError as error:
            raise FrameError("the header is not JSON") from error
        if not isinstance(header, dict):
            raise FrameError("the header is not a JSON object")
        return header, self._receive_exactly(body_size)

    def _send_all(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            self._arm()
            rest = rest[self.connection.send(rest[:_PIECE]) :]

    def _receive_exactly(self, size: int) -> bytes:
        data = bytearray()  # grows with what comes, not with what was announced
        while len(data) < size:
            self._arm()
            piece = self.connection.recv(min(_PIECE, size - len(data)))
            if not piece:
                raise FrameError("the connection ended in the middle of a message")
            data += piece
        return bytes(data)

    def _arm(self) -> None:
        left = self.silence
        if self.deadline is not None:
            left = min(left, self.deadline - time.monotonic())
            if left <= 0:
                raise TimeoutError("the deadline has passed")
        self.connection.settimeout(left)


def peer_uid(connection: socket.socket) -> int | None:
    """User id of the process at the other end; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        return struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    if sys.platform == "darwin":
        version, uid = struct.unpack_from("II", connection.getsockopt(0, 1, 76))  # LOCAL_PEERCRED, struct xucred
        return uid if version == 0 else None
    return None


def peer_pid(connection: socket.socket) -> int | None:
    """Process id at the other end; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        return struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return None
