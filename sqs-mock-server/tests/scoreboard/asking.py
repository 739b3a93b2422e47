"""Asks a server all rows."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from catalogue import ASKED, ROWS, SCENARIOS, title_of
from install import Unavailable
from rows import BOTH, S3, SERVICES, SNS
from session import Session, shortened

AT_A_TIME = 8
# Errors of a response that came, and differs.
DECIDED = ("AssertionError", "KeyError")
# Of all scenarios in one protocol, in seconds.
PATIENCE = 1200


def ask(server, name, pythons):
    """{(chapter, title): {protocol: error or None}} in the protocols and services that the server has.

    `pythons` have a boto3 for each protocol of SQS.
    """
    spoken = [protocol for protocol in BOTH if is_spoken(server, protocol)]
    if not spoken:
        raise Unavailable("it cannot create a queue")
    # Rules of SNS and S3 create queues, and read them, in the Query protocol if the server has it.
    asked_in = {protocol: protocol for protocol in spoken}
    asked_in |= {service: spoken[-1] for service in SERVICES if is_served(server, service, spoken[-1])}
    cells = [(row, protocol) for row in ASKED for protocol in row.protocols if protocol in asked_in]
    errors = {}
    # Again, since a row may fail because of the others: for lack of time, or by a crash. What crashes goes alone.
    for what, workers, these in [
        ("row", AT_A_TIME, lambda: cells),
        ("again", AT_A_TIME // 2, lambda: [cell for cell in cells if errors[cell]]),
        ("alone", 1, lambda: [cell for cell in cells if errors[cell] and not errors[cell].startswith(DECIDED)]),
    ]:
        server.revive()
        errors |= all_errors(server, name, what, workers, these(), asked_in)
    server.revive()
    results = {(row.chapter, row.title): {} for row in ROWS}
    for (row, protocol), error in errors.items():
        results[row.chapter, row.title][protocol] = error
    for protocol in spoken:
        progress(name, f"boto3, {protocol}")
        found = dict(scenarios(server, pythons[protocol], protocol))
        for row in SCENARIOS.rows:
            error = found.get(row.title, "the client ended before")
            results[row.chapter, row.title][protocol] = error
        server.revive()
    progress(name, "done", end="\n")
    return results


def is_spoken(server, protocol):
    """Whether a queue can be created in a protocol."""
    for _ in range(2):
        try:
            with Session(server.endpoint, protocol) as session:
                session.queue()
            return True
        except Exception:
            server.revive()
    return False


def is_served(server, service, protocol):
    """Whether a topic or a bucket can be created."""
    create = {SNS: Session.topic, S3: Session.bucket}[service]
    for _ in range(2):
        try:
            with Session(server.endpoint, protocol) as session:
                create(session)
            return True
        except Exception:
            server.revive()
    return False


def all_errors(server, name, what, workers, cells, asked_in):
    """The errors of rows, several at a time."""
    errors = {}
    with ThreadPoolExecutor(workers) as pool:
        asked = [(cell, pool.submit(error_of, server, cell[0], asked_in[cell[1]])) for cell in cells]
        for cell, future in asked:
            errors[cell] = future.result()
            if workers == 1:
                server.revive()
            progress(name, f"{what} {len(errors)} of {len(cells)}")
    return errors


def error_of(server, row, protocol):
    try:
        with Session(server.endpoint, protocol) as session:
            row.check(session)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]
    return None


def scenarios(server, python, protocol):
    command = [python, f"{sys.path[0]}/boto3_rows.py", server.endpoint, protocol.lower()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode()
    else:
        if done.returncode:
            print(f"\n{shortened(done.stderr[-300:])}", file=sys.stderr)
    for line in output.splitlines():
        found = json.loads(line)
        yield title_of(found["name"]), found["error"]


def progress(name, text, end=""):
    print(f"\r\x1b[K{name}: {text}", end=end, file=sys.stderr, flush=True)
