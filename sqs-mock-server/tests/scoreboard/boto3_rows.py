"""The scenarios of boto3 that need no clock and no faults: `boto3_rows.py ENDPOINT PROTOCOL`.

Prints a line of JSON for each: its name, and its error or null. Runs in the environment of a client, as the scenarios do.
"""

import json
import os
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from boto3_scenarios import SCENARIOS, askable

sys.path.append(str(SCENARIOS))

import mock as scenario

# Of one scenario, in seconds.
PATIENCE = 25
AT_A_TIME = 8


class RealTime(scenario.Mock):
    """A server with nothing but SQS: time passes by itself."""

    def call(self, method, path, content=None):
        pass

    def advance(self, seconds):
        # A bit more, since servers round and are not faster than real time.
        time.sleep(seconds + 0.15)


def error_of(check, server):
    outcome = ["no end in time"]

    def run():
        try:
            check(server)
            outcome[0] = None
        except Exception as error:
            outcome[0] = f"{type(error).__name__}: {error}"[:500]

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return outcome[0]


def main(endpoint, protocol):
    # Names that no earlier run has taken.
    scenario.NUMBERS = count(random.SystemRandom().randrange(10**9) * 1000)
    server = RealTime(endpoint, protocol)
    found = [(name, getattr(__import__(module), name)) for name, module in askable()]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        # Once more after an error, since the machine may have been busy.
        errors = pool.map(
            lambda check: error_of(check, server) and error_of(check, server), [check for _, check in found]
        )
        for (name, _), error in zip(found, errors, strict=True):
            print(json.dumps({"name": name, "error": error}), flush=True)
    # Threads that hang do not keep the process.
    os._exit(0)


main(*sys.argv[1:])
