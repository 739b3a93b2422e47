"""Which scenarios of boto3 every server can be asked, by their source."""

import ast
from pathlib import Path

SCENARIOS = Path(__file__).parent.parent / "clients/scenarios"
MODULES = [
    "batches",
    "dead_letters",
    "deduplication",
    "delay_and_retention",
    "fifo",
    "long_polls",
    "moves",
    "visibility",
]
# What scenarios may wait in real time, in seconds.
PATIENCE = 3
# The clock and the faults of sqs-mock-server.
OURS_ALONE = {"fault", "call", "now_ms"}


def askable():
    """The names of the scenarios, each with its module."""
    return [(name, module) for module in MODULES for name in scenarios_of(module)]


def scenarios_of(module):
    tree = ast.parse((SCENARIOS / f"{module}.py").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, function in functions.items():
        if ast.unparse(function.args) == "mock" and waits(function, functions) <= PATIENCE:
            yield name


def waits(function, functions):
    """The seconds that a function advances the clock, with what it calls; infinite if it needs more than time."""
    total = 0
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name) and call.func.id in functions:
            total += waits(functions[call.func.id], functions)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in OURS_ALONE:
            return float("inf")
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "advance":
            seconds = call.args[0]
            total += seconds.value if isinstance(seconds, ast.Constant) else float("inf")
    return total
