"""Runs the scenarios with each pair of clients: `exchange.py PEER KEEP LIBRARY..`, from `run`."""

import sys
from pathlib import Path

import scenarios
from clients import Client, Exchange, Library, Unexpected

HERE = Path(__file__).parent

# How we write, and how the library reads.
TO_THEM = {
    "python": [("modern", "default"), ("legacy", "legacy")],
    "java1": [("legacy", "default")],
    "java2": [("modern", "default"), ("modern", "modern"), ("java", "default"), ("legacy", "default")],
}
# How the library writes. We read everything.
FROM_THEM = {"python": ["default", "legacy"], "java1": ["default"], "java2": ["default", "modern"]}


def main():
    peer, keep, *names = sys.argv[1:]
    ours, failed, number = Library("rust", [peer]), 0, 0
    witness = Client(ours, "modern")
    for name in names:
        theirs = Library(name, command(name, Path(keep)))
        pairs = [(Client(ours, mode), Client(theirs, other)) for mode, other in TO_THEM[name]]
        pairs += [(Client(theirs, mode), witness) for mode in FROM_THEM[name]]
        for writer, reader in pairs:
            before = failed
            for scenario in scenarios.ALL:
                if not can(writer, scenario):
                    continue
                number += 1
                try:
                    run(scenario, writer, reader, witness, number)
                except Unexpected as unexpected:
                    failed += 1
                    print(f"FAILED: {writer} to {reader}, {scenario.__name__}: {unexpected}", flush=True)
            if failed == before:
                print(f"ok: {writer} to {reader}", flush=True)
    sys.exit(f"failed scenarios: {failed}" if failed else 0)


def run(scenario, writer, reader, witness, number):
    is_fifo = scenario is scenarios.fifo_queue
    queue = f"interop-{number}.fifo" if is_fifo else f"interop-{number}"
    attributes = {"FifoQueue": "true"} if is_fifo else {}
    scenario(Exchange(writer, reader, witness, queue, **attributes))


def can(writer, scenario):
    """Whether the library has what a scenario asks of the writer."""
    if scenario is scenarios.streamed_payload:
        return writer.library.name == "rust"
    # The library 1.0.2 for Java has no setting for keys.
    return scenario is not scenarios.key_prefix or writer.library.name != "java1"


def command(name, keep):
    if name == "python":
        return [keep / "python/bin/python", HERE / "peer.py"]
    jars = (keep / name / "classpath").read_text().strip()
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{keep / name}:{jars}", "Peer"]


main()
