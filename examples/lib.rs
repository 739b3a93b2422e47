//! What all examples begin with: a client, and a server for it unless there is one already.

use sqs_client::Client;
use sqs_client::config::ConfigError;
use sqs_mock_server::MockSqs;

/// A client of the server that `AWS_ENDPOINT_URL_SQS` names, or of one that runs within this process.
///
/// Keep the second value: the embedded server stops when it is dropped.
///
/// # Errors
/// An environment variable has a value that it cannot have.
pub async fn connect() -> Result<(Client, Option<MockSqs>), ConfigError> {
    let named = std::env::var("AWS_ENDPOINT_URL_SQS").ok().filter(|url| !url.trim().is_empty());
    if let Some(url) = named {
        println!("server     {url} (from AWS_ENDPOINT_URL_SQS)");
        return Ok((Client::from_env()?, None));
    }
    let server = MockSqs::start().await;
    Ok((over_http(&server), Some(server)))
}

/// Over HTTP, as in real life: `server.client()` takes a shortcut within the process.
fn over_http(server: &MockSqs) -> Client {
    println!("server     {} (embedded; set AWS_ENDPOINT_URL_SQS for another)", server.endpoint_url());
    let mut config = server.client_config();
    config.set_transport(None);
    Client::from_conf(config.build())
}

/// As [`connect`], with a client of the S3 that `AWS_ENDPOINT_URL_S3` names, and the bucket that `BUCKET` names; or of ones
/// that run within this process.
///
/// # Errors
/// As of `connect`; the embedded servers cannot be started; `BUCKET` is not set where it is needed.
pub async fn connect_with_s3()
-> Result<(Client, aws_sdk_s3::Client, String, Option<MockSqs>), Box<dyn std::error::Error>> {
    use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
    use sqs_mock_server::s3::S3;

    let named = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let (endpoint, bucket, server) = if let Some(endpoint) = named("AWS_ENDPOINT_URL_S3") {
        (endpoint, named("BUCKET").ok_or("BUCKET says which bucket to use")?, None)
    } else {
        let server = MockSqs::builder().s3(S3::temporary().bucket("payloads")).start().await?;
        (server.s3().endpoint_url().to_owned(), "payloads".to_owned(), Some(server))
    };
    println!("S3         {endpoint}, bucket {bucket}");
    let (client, server) = match (named("AWS_ENDPOINT_URL_SQS"), server) {
        (None, Some(server)) => (over_http(&server), Some(server)),
        (_, server) => (connect().await?.0, server),
    };
    let variable = |name, default: &str| named(name).unwrap_or_else(|| default.to_owned());
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID", "test"), variable("AWS_SECRET_ACCESS_KEY", "test"));
    // The HTTP client of the AWS SDK with TLS is left out of this build, to save time; use `aws-config` in a program of yours.
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(endpoint)
        .region(Region::new(variable("AWS_REGION", "us-east-1")))
        .credentials_provider(Credentials::new(key, secret, named("AWS_SESSION_TOKEN"), None, "environment"))
        .force_path_style(true);
    Ok((client, aws_sdk_s3::Client::from_conf(config.build()), bucket, server))
}

/// A queue name that no earlier run has used: the service refuses one for a minute after its queue was deleted.
pub fn fresh(name: &str) -> String {
    let (stem, suffix) = name.strip_suffix(".fifo").map_or((name, ""), |stem| (stem, ".fifo"));
    format!("{stem}-{}{suffix}", std::process::id())
}

/// What all examples have in common, for their help.
const SERVERS: &str = "
Environment: AWS_ENDPOINT_URL_SQS names a server, such as http://localhost:9324, else one is embedded; with it,
AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY count.";

/// Whether help was asked for, which is printed then, of an example without options.
///
/// # Errors
/// There is an option.
pub fn shows_help(help: &str) -> Result<bool, String> {
    Ok(numbers(help, [])?.is_none())
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
            println!("{help}\n{SERVERS}");
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
