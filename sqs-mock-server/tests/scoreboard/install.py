"""Installs packages of a registry into a directory, once for each version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Of one installation, in seconds. Some servers are compiled.
PATIENCE = 1800


class Unavailable(Exception):
    """A server that cannot run here. The text is a reason without paths."""


def once(directory, pinned, install):
    """Installs unless this version is installed."""
    stamp = directory / "installed"
    if stamp.is_file() and stamp.read_text() == pinned:
        return
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    install(directory)
    stamp.write_text(pinned)


def run(*command, environment=None, **more):
    program = Path(command[0]).name
    if not shutil.which(command[0]):
        raise Unavailable(f"{program} is not installed")
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **more,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable("its installation takes too long") from None
    if done.returncode:
        # The registry's own words have paths and hosts, which the page must not have.
        print(f"{done.stdout}{done.stderr}"[-3000:], file=sys.stderr)
        raise Unavailable(f"{program} cannot install it")


def python_from(minor):
    """The interpreter that runs this, or an installed one, of Python 3.`minor` or newer."""
    if sys.version_info >= (3, minor):
        return sys.executable
    for name in (f"python3.{number}" for number in range(minor, minor + 4)):
        # A version manager has commands of versions that are not selected, which fail.
        if (program := shutil.which(name)) and subprocess.run([program, "--version"], capture_output=True).returncode == 0:
            return program
    raise Unavailable(f"it requires Python 3.{minor} or newer")


def by_pip(*packages, minor=0):
    def install(directory):
        run(python_from(minor), "-m", "venv", directory)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(directory / "bin/python", *pip, *packages)

    return install


def by_npm(*packages):
    def install(directory):
        (directory / "package.json").write_text("{}")
        run("npm", "install", "--no-audit", "--no-fund", "--loglevel", "error", *packages, cwd=directory)

    return install


def by_cargo(package, *options):
    def install(directory):
        # Not into the target folder of this workspace, which others may be using.
        environment = {"CARGO_TARGET_DIR": str(directory / "target")}
        run("cargo", "install", "--quiet", "--debug", *options, package, "--root", directory, environment=environment)
        shutil.rmtree(directory / "target", ignore_errors=True)

    return install


def by_go(package):
    def install(directory):
        run("go", "install", package, environment={"GOBIN": str(directory)})

    return install


def by_maven(pom, *properties):
    def install(directory):
        plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
        output = f"-Dmdep.outputFile={directory / 'classpath'}"
        run("mvn", "--quiet", "--batch-mode", "--file", pom, *properties, plugin, output)

    return install
