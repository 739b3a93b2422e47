//! Run with: `cargo run --example migrate_from_aws_sdk`
//!
//! The same code, compiled twice: once with `use aws_sdk_sqs as sqs`, once with `use sqs_client as sqs`. Both run
//! against the same server and must print the same. What has to change in a program is the import, and the way
//! that errors are matched:
//!
//! ```text
//! aws-sdk-sqs   match error.into_service_error() { e if e.is_queue_does_not_exist() => .., e => return Err(e.into()) }
//! sqs-client    match error                      { e if e.is_queue_does_not_exist() => .., e => return Err(e.into()) }
//! ```

use std::error::Error;

mod with_aws_sdk {
    use aws_sdk_sqs as sqs;
    include!("migrate_from_aws_sdk/tour.rs");
}

mod with_sqs_client {
    use sqs_client as sqs;
    include!("migrate_from_aws_sdk/tour.rs");
}

const HELP: &str = "\
Runs the same code with aws-sdk-sqs and with sqs-client against one server, and compares what they did.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, server) = sqs_examples::connect().await?;
    let endpoint = client.config().endpoint_url().unwrap_or_default().to_owned();

    println!("\nWith aws-sdk-sqs:");
    // The one line that differs: the AWS SDK is told here which HTTP client to use, since its default one with TLS
    // is left out of this build.
    let http = aws_smithy_http_client::Builder::new().build_http();
    let config = with_aws_sdk::config(&endpoint).http_client(http).build();
    let theirs =
        with_aws_sdk::tour(&aws_sdk_sqs::Client::from_conf(config), &sqs_examples::fresh("theirs")).await?;

    println!("\nWith sqs-client:");
    let config = with_sqs_client::config(&endpoint).build();
    let ours =
        with_sqs_client::tour(&sqs_client::Client::from_conf(config), &sqs_examples::fresh("ours")).await?;

    if theirs == ours {
        println!("\nBoth did the same, in {} steps.", ours.len());
        drop(server);
        return Ok(());
    }
    Err(format!("the two differ:\n{theirs:#?}\n{ours:#?}").into())
}
