"""What a row is, and how chapters declare rows."""

from collections.abc import Callable
from dataclasses import dataclass

from wire import JSON, QUERY

RECORDED, LOGGED, DOCUMENTED = "recorded", "logged", "documented"
BOTH = (JSON, QUERY)
# Rules of other services, which have one protocol each.
SNS, S3 = "SNS", "S3"
SERVICES = (SNS, S3)


@dataclass(frozen=True)
class Row:
    """A rule of AWS. `check` asserts it on the responses of a server."""

    chapter: str
    title: str
    evidence: str
    protocols: tuple
    check: Callable

    @property
    def is_of_sqs(self):
        return self.protocols[0] in BOTH


class Chapter:
    """`protocols` are those of its rows, unless a row has others."""

    def __init__(self, title, protocols=BOTH):
        self.title = title
        self.protocols = protocols
        self.rows = []

    def row(self, title, evidence, protocols=None):
        def declare(check):
            self.rows.append(Row(self.title, title, evidence, protocols or self.protocols, check))
            return check

        return declare

    def refusals(self, on, *refusals):
        """Declares requests that must fail: (title, evidence, action, members, code[, text, evidence of the text]).

        `on` creates the queue of the row: it gets the session and returns members that all requests have. `members` can
        be a list, for several requests. `text` can be a function of the members.
        """
        for title, evidence, action, members, code, *text in refusals:
            self.rows.append(Row(self.title, refused(title), evidence, BOTH, refusing(on, action, members, code)))
            if text:
                expected, evidence = text
                check = refusing(on, action, members, code, expected)
                TEXTS.rows.append(Row(TEXTS.title, f"{self.title}: {title}", evidence, BOTH, check))


def refused(title):
    """The title of a row about a request that must fail."""
    first = title.split()[0]
    # The names of members keep their case.
    is_word = first[1:] == first[1:].lower()
    return f"Refused: {title[0].lower() if is_word else title[0]}{title[1:]}"


def refusing(on, action, members, code, text=None):
    def check(session):
        common = on(session)
        for more in members if isinstance(members, list) else [members]:
            refusal = session.refused(action, code, **{**common, **more})
            if text is not None:
                expected = text(more) if callable(text) else text
                assert refusal.message == expected, f"the text is {refusal.message!r}"

    return check


TEXTS = Chapter("Texts of errors")
