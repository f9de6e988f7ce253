"""Errors that a caller can act on; the command line prints them as one line and exits with status 2."""

from __future__ import annotations


class LineclsError(Exception):
    """Base of every error that linecls raises on purpose. The message says what to do."""


class ArtifactError(LineclsError):
    """A model directory is missing, incomplete, corrupt, or of an unknown schema version."""


class DeviceError(LineclsError):
    """The asked-for device is unknown or has no execution provider in the installed ONNX Runtime."""


class RecordError(LineclsError):
    """A row of a record file is malformed; the message names the file and the line."""


class MissingExtraError(LineclsError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class StoreError(LineclsError):
    """The store of original outputs cannot be used, or does not hold what was asked for."""


def missing_extra(package: str, extra: str) -> MissingExtraError:
    """The error for a feature whose optional dependency `package` comes with the extra `extra`."""
    return MissingExtraError(f"{package} is not installed; run: pip install 'linecls[{extra}]'")
