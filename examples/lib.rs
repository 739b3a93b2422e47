//! What all examples begin with: a client, and a server for it unless there is one already.

use sqs_client::Client;
use sqs_client::config::EnvironmentError;
use sqs_mock_server::MockSqs;

/// A client of the server that `AWS_ENDPOINT_URL_SQS` names, or of one that runs within this process.
///
/// Keep the second value: the embedded server stops when it is dropped.
///
/// # Errors
/// An environment variable has a value that it cannot have.
pub async fn connect() -> Result<(Client, Option<MockSqs>), EnvironmentError> {
    let named = std::env::var("AWS_ENDPOINT_URL_SQS").ok().filter(|url| !url.trim().is_empty());
    if let Some(url) = named {
        println!("server     {url} (from AWS_ENDPOINT_URL_SQS)");
        return Ok((Client::from_env()?, None));
    }
    let server = MockSqs::start().await;
    println!("server     {} (embedded; set AWS_ENDPOINT_URL_SQS for another)", server.endpoint_url());
    // Over HTTP, as in real life; without this line it would be the server's shortcut within the process.
    let mut config = server.client_config();
    config.set_transport(None);
    Ok((Client::from_conf(config.build()), Some(server)))
}

/// A queue name that no earlier run has used: the service refuses one for a minute after its queue was deleted.
pub fn fresh(name: &str) -> String {
    let (stem, suffix) = name.strip_suffix(".fifo").map_or((name, ""), |stem| (stem, ".fifo"));
    format!("{stem}-{}{suffix}", std::process::id())
}

/// The numbers behind options of the command line, or their defaults; `None` when help was asked for and printed.
///
/// # Errors
/// An option is unknown, or has no number behind it.
pub fn numbers<const N: usize>(
    help: &str,
    options: [(&str, usize); N],
) -> Result<Option<[usize; N]>, String> {
    let mut values = options.map(|(_, default)| default);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--help" || argument == "-h" {
            println!("{help}");
            return Ok(None);
        }
        let Some(index) = options.iter().position(|(name, _)| *name == argument) else {
            return Err(format!("unknown option {argument}; --help says which there are"));
        };
        let value = arguments.next().and_then(|value| value.parse().ok());
        values[index] = value.ok_or_else(|| format!("{argument} wants a number"))?;
    }
    Ok(Some(values))
}

/// The front page's snippets, so that they are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
