"""The exceptions that reach a user, each one sentence that says what is wrong and what to do.

    TriageError            1   something asked for could not be achieved
    ├── InputError         2   bad usage or input: a file, an id, a setting
    │   ├── ReportError    2   a report that cannot be read
    │   └── StoreError     2   a store that cannot be opened or written
    ├── TargetError        1   a target that is not available or stopped working
    ├── TrackerError       1   the issue tracker refused or could not be reached
    └── InterruptError     130   the user stopped it

The number is the exit code. A library's own exceptions are wrapped at their one door (`raise … from exc`),
so nothing above the steps catches anything else.
"""


class TriageError(Exception):
    """Something that was asked for could not be achieved; the text is for a person."""

    exit_code = 1


class InputError(TriageError):
    """Bad usage or input; nothing was changed."""

    exit_code = 2


class ReportError(InputError):
    """A report that is missing, damaged, or no report at all."""


class StoreError(InputError):
    """A store that cannot be opened, read or written."""


class TargetError(TriageError):
    """A target that is not available here, or that stopped working."""


class TrackerError(TriageError):
    """The issue tracker refused, or could not be reached."""


class InterruptError(TriageError):
    """Ctrl-C, or a request to end: the text says what is kept and how to go on."""

    exit_code = 130
