"""Tests queues over time with boto3: `python scenarios ENDPOINT PROTOCOL [WORD]`.

Every function of the modules below with the parameter `mock` is a scenario. Each scenario creates its own queues. The
clock of the server is frozen and advanced over HTTP, so that no scenario waits for real time. With a WORD, only
scenarios with that word in their names run.
"""

import inspect
import sys
import time
import traceback

import batches
import boto3
import dead_letters
import deduplication
import delay_and_retention
import faults
import fifo
import long_polls
import moves
import visibility
from mock import Mock

MODULES = [
    batches,
    dead_letters,
    deduplication,
    delay_and_retention,
    faults,
    fifo,
    long_polls,
    moves,
    visibility,
]


def scenarios_of(module):
    functions = inspect.getmembers(module, inspect.isfunction)
    own = [(name, function) for name, function in functions if function.__module__ == module.__name__]
    return [(name, function) for name, function in own if list(inspect.signature(function).parameters) == ["mock"]]


def main(endpoint, protocol, word=""):
    mock = Mock(endpoint, protocol)
    start = time.monotonic()
    found = [scenario for module in MODULES for scenario in scenarios_of(module) if word in scenario[0]]
    failed = []
    for name, scenario in found:
        try:
            scenario(mock)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        mock.clear_faults()
    for name in failed:
        print("failed:", name.replace("_", " "))
    elapsed = time.monotonic() - start
    passed = f"{len(found) - len(failed)} of {len(found)} scenarios in {elapsed:.1f} s"
    print(f"{'failed' if failed else 'ok'}: {passed}, boto3 {boto3.__version__}, protocol {protocol}")
    sys.exit(1 if failed or not found else 0)


main(*sys.argv[1:])
