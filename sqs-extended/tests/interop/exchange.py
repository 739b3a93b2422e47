"""Runs the scenarios with each pair of clients: `exchange.py PEER CACHE LIBRARY..`. The script `run` starts it."""

import sys
from pathlib import Path

import scenarios
from clients import Client, Exchange, Library, Unexpected

HERE = Path(__file__).parent

# The modes of our writes and of the reads of the library.
TO_LIBRARY = {
    "python": [("modern", "default"), ("legacy", "legacy")],
    "java1": [("legacy", "default")],
    "java2": [("modern", "default"), ("modern", "modern"), ("java", "default"), ("legacy", "default")],
}
# The modes of the writes of the library. Our client reads all of them.
FROM_LIBRARY = {"python": ["default", "legacy"], "java1": ["default"], "java2": ["default", "modern"]}


def main():
    peer, cache, *names = sys.argv[1:]
    ours, failed, number = Library("rust", [peer]), 0, 0
    witness = Client(ours, "modern")
    for name in names:
        theirs = Library(name, command(name, Path(cache)))
        pairs = [(Client(ours, mode), Client(theirs, other)) for mode, other in TO_LIBRARY[name]]
        pairs += [(Client(theirs, mode), witness) for mode in FROM_LIBRARY[name]]
        for writer, reader in pairs:
            before = failed
            for scenario in scenarios.ALL:
                if not supports(writer, scenario):
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


def supports(writer, scenario):
    """Whether the library of the writer supports a scenario."""
    if scenario is scenarios.streamed_payload:
        return writer.library.name == "rust"
    if scenario is scenarios.keys_of_the_sender:
        # The libraries for Java have a key prefix at most, and always add a UUID.
        return writer.library.name == "python"
    # Version 1.0.2 of the library for Java has no key prefix.
    return scenario is not scenarios.key_prefix or writer.library.name != "java1"


def command(name, cache):
    if name == "python":
        return [cache / "python/bin/python", HERE / "peer.py"]
    jars = (cache / name / "classpath").read_text().strip()
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{cache / name}:{jars}", "Peer"]


main()
