"""Asks SQS servers the rules of AWS and writes a page about who follows them: see `--help`."""

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from asking import ask
from catalogue import ROWS
from install import Unavailable, once
from page import ABSENT, OURS, PASSES, STRICT, Page, footnotes, marks_of
from peers import PEERS, VERSIONS, Start
from server import Server
from wire import JSON, QUERY

PAGE = Path(__file__).parent.parent.parent / "docs/scoreboard.md"
OUR_COLUMNS = {OURS: [], STRICT: ["--strict"]}
HELP = """\
Asks sqs-mock-server and other SQS servers the same questions, checks that each response follows the rules of AWS for
SQS, SNS and S3, and writes the page sqs-mock-server/docs/scoreboard.md.

Servers: ours, {names}.
The others are installed from their package registries into target/scoreboard, once for each version in versions.toml.
A server that cannot be installed or started here is named on the page, with the reason.

  run                       asks all servers and writes the page
  run --servers ours,moto   asks these; the page keeps the columns of the others
  run --binary FILE         asks this sqs-mock-server instead of building one
  run --only ours --check   writes nothing; fails if the page does not have our columns as they are now

The responses that failed are in target/scoreboard/results.json, the output of the servers in target/scoreboard/run.
"""


def arguments():
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(
        prog="run",
        usage="run [--servers LIST] [--check] [--binary FILE]",
        description=HELP.format(names=", ".join(names)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--servers", "--only", metavar="LIST", help="names with commas between; all by default")
    parser.add_argument("--check", action="store_true", help="compare our columns with the page, and write nothing")
    given = parser.parse_args()
    chosen = given.servers.split(",") if given.servers else ["ours", *names]
    if unknown := set(chosen) - {"ours", *names}:
        parser.error(f"unknown servers: {', '.join(sorted(unknown))}; there are ours, {', '.join(names)}")
    if given.check and chosen != ["ours"]:
        parser.error("--check is for --only ours")
    return given, chosen


def main():
    given, chosen = arguments()
    # Servers stop with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    target = Path(os.environ["SCOREBOARD_TARGET"])
    pythons = {protocol: os.environ[f"SCOREBOARD_{protocol.upper()}"] for protocol in (JSON, QUERY)}
    found, unavailable = {}, {}
    if "ours" in chosen:
        for title, flags in OUR_COLUMNS.items():
            found[title] = (our_version(), ask_ours(target, pythons, flags))
    for peer in PEERS:
        if peer.name in chosen:
            try:
                found[peer.title] = (f"{peer.version} ({peer.registry})", ask_peer(peer, target, pythons))
            except Unavailable as reason:
                print(f"\r\x1b[K{peer.title}: {reason}", file=sys.stderr)
                unavailable[f"{peer.title} {peer.version}"] = str(reason)
    write_results(target, found)
    report(found)
    if given.check:
        sys.exit(max(check(title, *found[title]) for title in OUR_COLUMNS))
    write_page(found, unavailable, everything=not given.servers)


def our_version():
    output = subprocess.run([os.environ["SCOREBOARD_BINARY"], "--version"], capture_output=True, text=True, check=True)
    return output.stdout.split()[-1]


def ask_ours(target, pythons, flags):
    def start(port):
        return Start([os.environ["SCOREBOARD_BINARY"], "--port", str(port), *flags])

    with Server(start, target / "run/ours") as server:
        return ask(server, "ours", pythons)


def ask_peer(peer, target, pythons):
    directory = target / peer.name
    print(f"{peer.title}: installing", end="", file=sys.stderr, flush=True)
    once(directory, f"{peer.version} {VERSIONS['node']}", peer.install)
    with Server(lambda port: peer.start(directory, port), target / "run" / peer.name) as server:
        return ask(server, peer.title, pythons)


def write_results(target, found):
    """The errors by row and server."""
    errors = {}
    for server, (_, results) in found.items():
        for (chapter, title), cell in results.items():
            failed = {protocol: error for protocol, error in cell.items() if error}
            if failed:
                errors.setdefault(chapter, {}).setdefault(title, {})[server] = failed
    path = target / "results.json"
    path.write_text(json.dumps(errors, indent=1, ensure_ascii=False) + "\n")


def report(found):
    for server, (version, results) in found.items():
        marks = marks_of(results)
        for service, is_of_sqs in [("SQS", True), ("SNS and S3", False)]:
            of_service = [marks[row.chapter, row.title] for row in ROWS if row.is_of_sqs == is_of_sqs]
            if set(of_service) == {ABSENT}:
                continue
            print(f"{server} {version}: {of_service.count(PASSES)} of {len(of_service)} rules of {service}")


def write_page(found, unavailable, everything):
    """Of servers that were not asked, the columns stay."""
    before = Page.read(PAGE.read_text()) if PAGE.exists() and not everything else Page({}, [])
    columns = {}
    for title in [*OUR_COLUMNS, *(peer.title for peer in PEERS)]:
        if title in found:
            version, results = found[title]
            columns[title] = (version, marks_of(results))
        elif title in before.columns:
            columns[title] = before.columns[title]
    missing = footnotes(unavailable) if everything else before.missing
    PAGE.write_text(Page(columns, missing).text())


def check(server, version, results):
    """Compares one of our columns with the page; returns the exit status."""
    now, told = marks_of(results), Page.read(PAGE.read_text()).columns.get(server, ("", {}))
    status = 0
    for key in dict.fromkeys([*now, *told[1]]):
        if now.get(key) != told[1].get(key):
            status = 1
            chapter, title = key
            print(f"{server}: {chapter}: {title}: the page says {told[1].get(key, 'nothing')}, now {now.get(key, 'nothing')}")
            for protocol, error in results.get(key, {}).items():
                if error:
                    print(f"  {protocol}: {error}")
    if version != told[0]:
        status = 1
        print(f"the page is about version {told[0]}, this is {version}")
    if status:
        print("run sqs-mock-server/tests/scoreboard/run --servers ours, and look at what changed")
    return status


if __name__ == "__main__":
    main()
