"""The page: written from results, and read again for the servers that were not asked."""

from catalogue import ROWS
from peers import MISSING
from wire import JSON, QUERY

PASSES, FAILS, ABSENT, UNKNOWN = "✓", "✗", "–", "?"
HALF = {JSON: "J", QUERY: "Q"}
OURS = "sqs-mock-server"
INTRODUCTION = """\
# Scoreboard

What AWS answers, and which servers answer the same. One program asks all servers the same questions. Each question is one rule, which is
checked on the response.

| Mark | Meaning |
|---|---|
| ✓ | passes, in both protocols where the rule holds for both |
| J, Q | passes only in AWS JSON, or only in the Query protocol |
| ✗ | fails |
| – | cannot be asked: the server does not have the protocol; other rules are then asked in its protocol alone |
| ? | not asked yet |

| Evidence | Source of the rule |
|---|---|
| recorded | a response of AWS that a public test suite recorded |
| logged | a response of AWS in a public issue or forum |
| documented | the documentation or the service model of AWS |

Account, region, request id, host and time are not compared. AWS JSON passes by status and error shape, the Query protocol by status and error
code. Texts of errors have a chapter of their own. Servers have their default settings, and their queues are new for each rule.

```sh
sqs-mock-server/tests/scoreboard/run                         # all servers
sqs-mock-server/tests/scoreboard/run --servers ours,moto     # some of them; the others keep their columns
```

It needs Python 3.11, and cargo, npm, Maven with Java, and Go for the servers that they install. The failed responses are in
`target/scoreboard/results.json`.
"""


def mark(cell, protocols):
    """The mark of a row: `cell` has the errors by protocol."""
    asked = [protocol for protocol in protocols if protocol in cell]
    passed = [protocol for protocol in asked if not cell[protocol]]
    if not asked:
        return ABSENT
    if passed == asked:
        return PASSES
    return HALF[passed[0]] if passed else FAILS


def marks_of(results):
    return {(row.chapter, row.title): mark(results[row.chapter, row.title], row.protocols) for row in ROWS}


class Page:
    """The columns of a page: {server title: (version, {(chapter, title): mark})}, in order, and its footnotes."""

    def __init__(self, columns, missing):
        self.columns = columns
        self.missing = missing

    @classmethod
    def read(cls, text):
        columns, chapter, names = {}, None, []
        for line in text.splitlines():
            if line.startswith("## "):
                chapter, names = line[3:], []
            if not line.startswith("| "):
                continue
            first, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if first == "Server":
                for name, version in zip(cells, [""] * len(cells), strict=True):
                    columns[name] = (version, {})
            elif first == "Version":
                columns = {name: (version, {}) for name, version in zip(columns, cells, strict=True)}
            elif first == "Rule":
                names = cells[1:]
            elif names:
                for name, cell in zip(names, cells[1:], strict=True):
                    columns[name][1][chapter, first] = cell
        missing = [line[2:] for line in text.splitlines() if line.startswith("- ")]
        return cls(columns, missing)

    def text(self):
        lines = [INTRODUCTION, *self.summary(), ""]
        chapter = None
        for row in ROWS:
            if row.chapter != chapter:
                chapter = row.chapter
                lines += ["", f"## {chapter}", "", *head("Rule", "Evidence", *self.columns)]
            marks = [marks.get((row.chapter, row.title), UNKNOWN) for _, marks in self.columns.values()]
            lines.append(table_row(row.title, row.evidence, *marks))
        return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"

    def summary(self):
        lines = head("Server", *self.columns)
        lines.append(table_row("Version", *(version for version, _ in self.columns.values())))
        lines.append(table_row(f"All {len(ROWS)} rules", *(self.count(column, ROWS) for column in self.columns)))
        for protocol, title in [(JSON, "AWS JSON"), (QUERY, "Query")]:
            rows = [row for row in ROWS if protocol in row.protocols]
            counts = [self.count_in(protocol, column, rows) for column in self.columns]
            lines.append(table_row(f"{title}: {len(rows)}", *counts))
        for chapter in dict.fromkeys(row.chapter for row in ROWS):
            rows = [row for row in ROWS if row.chapter == chapter]
            counts = [self.count(column, rows) for column in self.columns]
            lines.append(table_row(f"{chapter}: {len(rows)}", *counts))
        missing = [f"- {line}" for line in self.missing]
        return [*lines, "", "Not asked:", "", *missing] if missing else lines

    def count_in(self, protocol, column, rows):
        _, marks = self.columns[column]
        alone = [marks.get((row.chapter, row.title)) for row in rows if row.protocols == (protocol,)]
        return ABSENT if set(alone) == {ABSENT} else self.count(column, rows, HALF[protocol])

    def count(self, column, rows, half=None):
        _, marks = self.columns[column]
        found = [marks.get((row.chapter, row.title), UNKNOWN) for row in rows]
        return str(sum(cell in (PASSES, half) for cell in found))


def head(*cells):
    return [table_row(*cells), "|" + "---|" * len(cells)]


def table_row(*cells):
    return "| " + " | ".join(cells) + " |"


def footnotes(unavailable):
    return [f"{title}: {reason}" for title, reason in {**unavailable, **MISSING}.items()]
