"""The few errors kanon_sql raises on purpose: each names the thing and the next step in one sentence."""

from collections.abc import Iterable


class KanonError(Exception):
    """Base of every deliberate error; the command line prints its text alone and exits with code 2.

    The text holds no value of the data, so that it may stand in a log. `values`: the first few that it is about, as
    text, or what the database says of them; for a person who may see the data.

    >>> error = HierarchyError("the hierarchy lacks 1 of its values", ["'Bern'"])
    >>> str(error), error.values
    ('the hierarchy lacks 1 of its values', ("'Bern'",))
    """

    def __init__(self, text: str = "", values: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.values = tuple(values)


class SpecError(KanonError):
    """The request itself is wrong: an unknown key, a k below 1, one column in two roles."""


class SourceError(KanonError):
    """The data cannot be read as asked: no such file, table or column, an empty or malformed one."""


class HierarchyError(KanonError):
    """A hierarchy is missing, ragged, not a hierarchy, or does not cover the data."""


class TargetError(KanonError):
    """The release cannot be written where it should go: it exists, it is the source, the disk is full."""


class InfeasibleError(KanonError):
    """No node of the lattice meets the privacy model within the suppression limit, or no release at all can."""


class VerificationError(KanonError):
    """What was written is not what was promised; it has been rolled back and nothing was released."""


class DifferencingError(KanonError):
    """A release and the one that it would replace single out more people together than allowed; the old one stays."""


class ReleaseWarning(UserWarning):
    """What a careful reader of a release should know; the manifest's `warnings` say the same."""


class SourceWarning(ReleaseWarning):
    """How a file was read, where something had to be recognized that could be said."""


class StatementWarning(SourceWarning):
    """What is in a printed statement that its reader should know."""
