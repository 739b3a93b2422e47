//! A server in a process of its own, so that what is measured here is the other side alone.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use crate::arguments::Failed;

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// None where nobody reads it.
    output: Option<BufReader<ChildStdout>>,
    ends_with_input: bool,
}

impl Server {
    /// Another program. It is killed when this is dropped; its output goes where the command says.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn of(command: Command) -> Result<Self, Failed> {
        Self::start(command, false)
    }

    fn start(mut command: Command, ends_with_input: bool) -> Result<Self, Failed> {
        let child = command.stdin(Stdio::piped()).spawn();
        let name = || command.get_program().display();
        let mut child = child.map_err(|error| format!("cannot run {}: {error}", name()))?;
        let output = child.stdout.take().map(BufReader::new);
        Ok(Self { child, output, ends_with_input })
    }

    /// This program again, which has to call [`until_input_ends`] (or read its input in another way) and then end: so it
    /// does when this is dropped, and also when this process ends in whatever way. Ctrl-c does not reach it, so that it
    /// removes what it has written.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn of_this_program<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Result<Self, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self::start(command, true)
    }

    /// The next line of its output, without its end.
    ///
    /// # Errors
    /// When there is none.
    pub fn line(&mut self) -> Result<String, Failed> {
        let mut line = String::new();
        let output = self.output.as_mut().ok_or("the output of the server is not read")?;
        if output.read_line(&mut line)? == 0 {
            return Err("the server has ended".into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Writes a line to its input.
    ///
    /// # Errors
    /// When it has ended.
    pub fn tell(&mut self, order: &str) -> Result<(), Failed> {
        let input = self.child.stdin.as_mut().ok_or("the server has no input")?;
        Ok(writeln!(input, "{order}")?)
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it has ended, if it has.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Failed> {
        Ok(self.child.try_wait()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if !self.ends_with_input {
            // An error says that it is gone already.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Waits until whoever started this process has dropped its [`Server`], or has ended.
pub fn until_input_ends() {
    // What cannot be read any more has ended too.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn servers_answer_orders_and_end_when_dropped() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo hello; read order; echo \"did $order\"; exec sleep 1000"])
            .stdout(Stdio::piped());
        let mut server = Server::of(command).unwrap();
        assert_eq!(server.line().unwrap(), "hello");
        server.tell("it").unwrap();
        assert_eq!(server.line().unwrap(), "did it");
        assert!(server.ended().unwrap().is_none());
        let mut output = server.output.take().unwrap();
        drop(server);
        assert_eq!(output.read_line(&mut String::new()).unwrap(), 0);
    }

    #[test]
    fn programs_that_end_with_their_input_are_let_to() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo hello; cat; echo cleaned"]).stdout(Stdio::piped());
        let mut server = Server::start(command, true).unwrap();
        assert_eq!(server.line().unwrap(), "hello");
        let mut output = server.output.take().unwrap();
        drop(server);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "cleaned\n");
    }

    #[test]
    fn servers_that_have_ended_say_nothing() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]).stdout(Stdio::piped());
        let mut server = Server::of(command).unwrap();
        assert_eq!(server.line().unwrap_err().to_string(), "the server has ended");
        let error = Server::of(Command::new("no-such-program")).unwrap_err().to_string();
        assert!(error.starts_with("cannot run no-such-program: "), "{error}");
    }
}
