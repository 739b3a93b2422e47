//! A server in a child process, so that a benchmark measures the client process alone.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use crate::arguments::BoxError;

/// A server process. Drop stops it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// `None` if the output is not piped.
    output: Option<BufReader<ChildStdout>>,
    ends_with_input: bool,
}

impl Server {
    /// Starts another program. Drop kills it.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn(command: Command) -> Result<Self, BoxError> {
        Self::start(command, false)
    }

    fn start(mut command: Command, ends_with_input: bool) -> Result<Self, BoxError> {
        let child = command.stdin(Stdio::piped()).spawn();
        let name = || command.get_program().display();
        let mut child = child.map_err(|error| format!("cannot run {}: {error}", name()))?;
        let output = child.stdout.take().map(BufReader::new);
        Ok(Self { child, output, ends_with_input })
    }

    /// Starts this program again. The child must end when its input ends; see [`wait_for_input_end`].
    ///
    /// Its input ends when this value is dropped or this process ends. Ctrl-c does not reach the child, so that it can
    /// remove its files.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn_self<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Result<Self, BoxError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self::start(command, true)
    }

    /// The next line of the output, without the line break.
    ///
    /// # Errors
    /// The server has ended.
    pub fn read_line(&mut self) -> Result<String, BoxError> {
        let mut line = String::new();
        let output = self.output.as_mut().ok_or("the output of the server is not piped")?;
        if output.read_line(&mut line)? == 0 {
            return Err("the server has ended".into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Writes a line to the input.
    ///
    /// # Errors
    /// The server has ended.
    pub fn write_line(&mut self, line: &str) -> Result<(), BoxError> {
        let input = self.child.stdin.as_mut().ok_or("the server has no input")?;
        Ok(writeln!(input, "{line}")?)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, or `None` while the server runs.
    ///
    /// # Errors
    /// The system does not provide the status.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>, BoxError> {
        Ok(self.child.try_wait()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if !self.ends_with_input {
            // An error means that it has already ended.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Waits until the parent process drops its [`Server`] or ends.
pub fn wait_for_input_end() {
    // An error also means the end of input.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn server_reads_lines_and_ends_on_drop() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo hello; read line; echo \"read $line\"; exec sleep 1000"])
            .stdout(Stdio::piped());
        let mut server = Server::spawn(command).unwrap();
        assert_eq!(server.read_line().unwrap(), "hello");
        server.write_line("it").unwrap();
        assert_eq!(server.read_line().unwrap(), "read it");
        assert!(server.exit_status().unwrap().is_none());
        let mut output = server.output.take().unwrap();
        drop(server);
        assert_eq!(output.read_line(&mut String::new()).unwrap(), 0);
    }

    #[test]
    fn program_that_ends_with_its_input_can_clean_up() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo hello; cat; echo cleaned"]).stdout(Stdio::piped());
        let mut server = Server::start(command, true).unwrap();
        assert_eq!(server.read_line().unwrap(), "hello");
        let mut output = server.output.take().unwrap();
        drop(server);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "cleaned\n");
    }

    #[test]
    fn read_from_an_ended_server_fails() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]).stdout(Stdio::piped());
        let mut server = Server::spawn(command).unwrap();
        assert_eq!(server.read_line().unwrap_err().to_string(), "the server has ended");
        let error = Server::spawn(Command::new("no-such-program")).unwrap_err().to_string();
        assert!(error.starts_with("cannot run no-such-program: "), "{error}");
    }
}
