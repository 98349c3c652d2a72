"""The errors that kanon_sql raises on purpose; their texts name the problem and the next step in one sentence."""

from collections.abc import Iterable


class KanonError(Exception):
    """Base of every deliberate error; the command line prints only its text and exits with code 2.

    The text contains no values of the data, so that it can be logged. `values`: the first few values in question, as
    text, or the database's message about them, for people who may see the data.

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
    """The data cannot be read: the file, table or column is missing, empty or malformed."""


class HierarchyError(KanonError):
    """A hierarchy is missing, ragged, not a hierarchy, or does not cover the data."""


class TargetError(KanonError):
    """The release cannot be written to its target: it exists, it is the source, the disk is full."""


class InfeasibleError(KanonError):
    """No node of the lattice satisfies the privacy models within the suppression limit, or no release can."""


class VerificationError(KanonError):
    """The written release does not satisfy its models; it was rolled back and nothing was released."""


class DifferencingError(KanonError):
    """A release and the one that it would replace single out more people together than allowed; the old one stays."""


class ReleaseWarning(UserWarning):
    """A warning about a release; also in the manifest's `warnings`."""


class SourceWarning(ReleaseWarning):
    """A detected property of a file that an option could set."""


class StatementWarning(SourceWarning):
    """A warning about a printed statement."""
