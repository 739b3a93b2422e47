"""A server as a process: started, waited for, started again after a crash."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import time

from install import Unavailable

# Until the first response, in seconds.
PATIENCE = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """Runs `start(port)`, in a working directory of its own, with its output in a file."""

    def __init__(self, start, directory):
        self.start = start
        self.directory = directory
        self.log = directory.with_suffix(".log")
        self.process = None
        self.log.unlink(missing_ok=True)

    def __enter__(self):
        self.launch()
        return self

    def __exit__(self, *_):
        self.stop()

    def launch(self):
        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}"
        start = self.start(port)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        for name, text in start.files.items():
            (self.directory / name).write_text(text)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                start.command,
                cwd=self.directory,
                env={**clean(os.environ), **start.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group, which ends with its children.
                start_new_session=True,
            )
        self.wait(port)

    def wait(self, port):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                headers = {"Content-Type": "application/x-www-form-urlencoded"}
                connection.request("POST", "/", "Action=ListQueues&Version=2012-11-05", headers)
                connection.getresponse()
                return
            except OSError:
                time.sleep(0.1)
            finally:
                connection.close()
        ended = self.process.poll() is not None
        self.stop()
        raise Unavailable("it ends at its start" if ended else "it does not answer")

    def revive(self):
        """Starts the server again if it ended."""
        if self.process.poll() is not None:
            self.launch()

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(10)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        shutil.rmtree(self.directory, ignore_errors=True)


def clean(environment):
    """Without settings of AWS, which would change what servers do."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}
