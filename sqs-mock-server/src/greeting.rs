//! The startup message of the binary.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write as _};

use sqs_mock_server::{Compat, MockSqs};

/// The maximum length of each list.
const LISTED: usize = 20;
/// The default access key and secret, which are public.
const DEFAULT_PAIR: [&str; 2] = ["test", "test"];

/// Prints the endpoint, environment variables to paste into a shell, the queues, the topics and the address of the console.
/// Then the line for which tools of another server wait.
pub(crate) fn greet(server: &MockSqs, has_console: bool, compat: Option<Compat>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "sqs-mock-server {} listens on {}\n", env!("CARGO_PKG_VERSION"), server.endpoint_url())?;
    out.write_all(exports(&server.environment()).as_bytes())?;
    if let Some(https) = server.https_url() {
        let url = server.endpoint_url();
        writeln!(
            out,
            "\nHTTPS: {https}\n  curl -o root.pem {url}/_mock/tls-root    # for AWS_CA_BUNDLE=root.pem"
        )?;
    }
    let s3 = server.s3_endpoint_url().map(|url| (url, server.s3().buckets().join(", ")));
    // Otherwise there is nothing to say.
    if let Some((url, buckets)) =
        s3.filter(|(url, buckets)| *url != server.endpoint_url() || !buckets.is_empty())
    {
        let directory = server.s3().directory().display();
        writeln!(out, "\nS3 listens on {url}\n  directory: {directory}\n  buckets: {buckets}")?;
    }
    if let Some(data) = server.data() {
        let (file, durability) = (data.file(), data.durability);
        let mebibytes = std::fs::metadata(&file).map_or(0, |file| file.len().div_ceil(1 << 20));
        writeln!(out, "\nData: {}, {mebibytes} MiB, durability: {durability}", file.display())?;
    }
    list(&mut out, "Queues", server.configured_queues())?;
    list(&mut out, "Topics", server.configured_topics())?;
    if has_console {
        writeln!(out, "\nConsole: {}/_mock/console/", server.endpoint_url())?;
    }
    if compat == Some(Compat::LocalStack) {
        writeln!(out, "\nReady.")?;
    }
    out.flush()
}

fn list(out: &mut impl io::Write, title: &str, items: &[impl Display]) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    for item in items.iter().take(LISTED) {
        writeln!(out, "  {item}")?;
    }
    match items.len().checked_sub(LISTED) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  and {more} more"),
    }
}

/// The variables with credentials.
const KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";

/// Commands for a POSIX shell. Hides secrets that are not the default, since the output may be logged.
fn exports(environment: &[(&str, String)]) -> String {
    let value =
        |wanted: &str| environment.iter().find(|(name, _)| *name == wanted).map(|(_, value)| &**value);
    let is_default = [KEY, SECRET].map(value) == DEFAULT_PAIR.map(Some);
    let line = |(name, value): &(&str, String)| {
        if *name == SECRET && !is_default {
            format!("# {name} is the secret that was given for this key\n")
        } else {
            format!("export {name}={}\n", quoted(value))
        }
    };
    environment.iter().map(line).collect()
}

/// Quotes a text as one word of a POSIX shell.
fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.,:/@%+=".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_for_a_shell_if_necessary() {
        for (text, expected) in [
            ("http://127.0.0.1:9324", "http://127.0.0.1:9324"),
            ("http://[::1]:9324", "'http://[::1]:9324'"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(date)", "'$(date)'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn secret_is_printed_only_if_it_is_the_default() {
        let lines = |key: &str, secret: &str| {
            let values = [("AWS_REGION", "r"), (KEY, key), (SECRET, secret)];
            exports(&values.map(|(name, value)| (name, value.to_owned())))
        };
        assert!(
            lines("test", "test")
                .ends_with("export AWS_ACCESS_KEY_ID=test\nexport AWS_SECRET_ACCESS_KEY=test\n")
        );
        let comment = "# AWS_SECRET_ACCESS_KEY is the secret that was given for this key\n";
        assert!(lines("AK ID", "test").ends_with(&format!("export AWS_ACCESS_KEY_ID='AK ID'\n{comment}")));
        assert!(lines("test", "hush").ends_with(&format!("export AWS_ACCESS_KEY_ID=test\n{comment}")));
    }
}
