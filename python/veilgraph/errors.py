"""What can go wrong."""

from __future__ import annotations


class VeilgraphError(RuntimeError):
    """The program `veilgraph` failed, was not found, or could not be given its config.

    The text names the problem and the remedy. Where the program failed, it is the program's own message.

    Attributes:
        status: Exit status of the program: 1 where something failed, 2 for a wrong config or wrong usage, negative
            where a signal ended it, and `None` where no program ended with an error.

    Example:
        >>> import veilgraph
        >>> try:
        ...     veilgraph.plan({"privatize": {"links": {"epsilom": 4.0}}})
        ... except veilgraph.VeilgraphError as error:
        ...     print(error.status)
        2

    """

    def __init__(self, message: str, status: int | None = None) -> None:
        """Keep the message and the exit status."""
        super().__init__(message)
        self.status = status


def missing_extra(cause: ImportError, extra: str) -> ImportError:
    """Return the error of a conversion whose package is not installed, or cannot be imported."""
    package = cause.name or extra
    return ImportError(f'{package} cannot be imported ({cause}); install it with: pip install "veilgraph[{extra}]"')
