"""The few errors kanon_sql raises on purpose: each names the thing and the next step in one sentence."""


class KanonError(Exception):
    """Base of every deliberate error; the command line prints its text alone and exits with code 2."""


class SpecError(KanonError):
    """The request itself is wrong: an unknown key, a k below 1, one column in two roles."""


class SourceError(KanonError):
    """The data cannot be read as asked: no such file, table or column, an empty or malformed one."""


class HierarchyError(KanonError):
    """A hierarchy is missing, ragged, not a hierarchy, or does not cover the data."""


class TargetError(KanonError):
    """The release cannot be written where it should go: it exists, it is the source, the disk is full."""


class InfeasibleError(KanonError):
    """No node of the lattice meets the privacy model within the suppression limit."""


class VerificationError(KanonError):
    """What was written is not what was promised; it has been rolled back and nothing was released."""
