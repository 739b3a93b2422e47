//! Run with: `cargo run --example migrate_from_aws_sdk`
//!
//! Compiles one program twice: with `use aws_sdk_sqs as sqs` and with `use sqs_client::sdk as sqs`. Only the import differs,
//! and both give the same results and typed errors.

use std::error::Error;

mod with_aws_sdk {
    use aws_sdk_sqs as sqs;
    include!("migrate_from_aws_sdk/tour.rs");
}

mod with_sqs_client {
    use sqs_client::sdk as sqs;
    include!("migrate_from_aws_sdk/tour.rs");
}

const HELP: &str = "\
Runs the same code with aws-sdk-sqs and with sqs-client against one server and compares the results.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, server) = sqs_examples::connect().await?;
    let endpoint = client.config().endpoint_url().unwrap_or_default().to_owned();

    println!("\nWith aws-sdk-sqs:");
    // This build omits the TLS client of the AWS SDK to save time.
    let http = aws_smithy_http_client::Builder::new().build_http();
    let config = with_aws_sdk::config(&endpoint).http_client(http).build();
    let theirs =
        with_aws_sdk::tour(&aws_sdk_sqs::Client::from_conf(config), &sqs_examples::fresh("theirs")).await?;

    println!("\nWith sqs-client:");
    let config = with_sqs_client::config(&endpoint).build();
    let ours =
        with_sqs_client::tour(&sqs_client::sdk::Client::from_conf(config), &sqs_examples::fresh("ours"))
            .await?;

    if theirs == ours {
        println!("\nThe results of all {} steps are the same.", ours.len());
        drop(server);
        return Ok(());
    }
    Err(format!("the results differ:\naws-sdk-sqs {theirs:#?}\nsqs-client {ours:#?}").into())
}
