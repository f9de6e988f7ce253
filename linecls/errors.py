"""Errors that a caller can act on; the command line prints them as one line and exits with status 2."""

from __future__ import annotations


class LineclsError(Exception):
    """Base of every error that linecls raises on purpose. The message says what to do."""


class ArtifactError(LineclsError):
    """A model directory is missing, incomplete, corrupt, or of an unknown schema version."""


class DeviceError(LineclsError):
    """The asked-for device is unknown or has no execution provider in the installed ONNX Runtime."""


class QueryError(LineclsError, ValueError):
    """A query is empty: there is nothing to look for."""


class RecordError(LineclsError):
    """A row of a record file is malformed; the message names the file and the line."""


class MissingExtraError(LineclsError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class StoreError(LineclsError):
    """The store of original outputs cannot be used, or does not hold what was asked for."""


def empty_query() -> QueryError:
    """The error for a query that asks nothing (`observation.is_blank`)."""
    return QueryError("the query is empty: say what to look for")


def missing_extra(package: str, extra: str) -> MissingExtraError:
    """The error for a feature whose optional dependency `package` comes with the extra `extra`."""
    return MissingExtraError(f"{package} is not installed; run: pip install 'linecls[{extra}]'")
