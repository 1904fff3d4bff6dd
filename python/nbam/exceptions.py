"""One exception for each kind of fault. All derive from `NBAMError` and from the built-in exception that fits best."""

from __future__ import annotations

import re

__all__ = [
    "CancelledError",
    "DataValueError",
    "DivergedError",
    "DuplicateColumnError",
    "EmptyError",
    "ExistsError",
    "FileError",
    "FormatError",
    "InputError",
    "InternalError",
    "LabelError",
    "ModelError",
    "NBAMError",
    "ParameterError",
    "ReportError",
    "ShapeError",
    "TargetError",
    "TooLargeError",
    "UnknownColumnError",
    "UnseenCategoryError",
]


def _in_python(text: str) -> str:
    """The command line's options in a sentence, written as Python's arguments."""
    text = re.sub(r"--([a-z][a-z-]*) (classification|regression)\b", r"\1='\2'", text)
    text = text.replace("--out", "folder").replace("--force", "force=True").replace("--no-id", "id=False")
    return re.sub(r"--([a-z]+)\b", r"\1=", text)


class NBAMError(Exception):
    """Something that nbam could not do. `hint` says what can be done about it, where that is known."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = _in_python(message)
        self.hint = _in_python(hint) if hint else None
        super().__init__(self.message if self.hint is None else f"{self.message} ({self.hint})")

    def __reduce__(self) -> tuple[type[NBAMError], tuple[str, str | None]]:
        return type(self), (self.message, self.hint)


class ShapeError(NBAMError, ValueError):
    """Two inputs disagree in size, or an input is empty."""


class DataValueError(NBAMError, ValueError):
    """A value of a feature, a target, a weight or an error cannot be used; the message names its row."""


class LabelError(NBAMError, ValueError):
    """The labels cannot be learned from: only one class, or far too many."""


class ParameterError(NBAMError, ValueError):
    """A parameter is out of its range."""


class DivergedError(NBAMError, ArithmeticError):
    """The fit stopped being finite."""


class CancelledError(NBAMError, RuntimeError):
    """The fit was asked to stop."""


class ModelError(NBAMError, ValueError):
    """A saved model cannot be used: damaged, of another version, or made for other data."""


class FileError(NBAMError, OSError):
    """A file could not be read or written."""


class FormatError(NBAMError, ValueError):
    """The data is not what it says it is: truncated, ragged, or of an unknown kind."""


class TooLargeError(NBAMError, MemoryError):
    """The data would not fit in memory."""


class UnknownColumnError(NBAMError, KeyError):
    """There is no column of that name."""

    def __str__(self) -> str:
        # KeyError would show the sentence in quotes.
        return str(self.args[0])


class DuplicateColumnError(NBAMError, ValueError):
    """A column name occurs twice, or one column was given two roles."""


class EmptyError(NBAMError, ValueError):
    """There are no rows or no features."""


class TargetError(NBAMError, ValueError):
    """The target cannot be used; the message names its row where one is at fault."""


class UnseenCategoryError(NBAMError, ValueError):
    """New rows hold a category that the training rows did not."""


class InputError(NBAMError, ValueError):
    """The data or the settings do not go together."""


class ExistsError(NBAMError, FileExistsError):
    """The place of the output is taken."""


class ReportError(NBAMError, RuntimeError):
    """The report could not be rendered."""


class InternalError(NBAMError, RuntimeError):
    """A defect of nbam itself."""
