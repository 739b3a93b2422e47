//! A function of the Lambda runtime for Rust, in a process of its own, behind an invoke API.

use std::collections::HashMap;
use std::env;
use std::process::{Child, Command, Stdio};

use lambda_runtime::{LambdaEvent, service_fn};
use sqs_client::lambda::{SqsBatchResponse, SqsEvent};
use sqs_mock_server::{MockSqs, Trigger};

use super::hook::{Call, Hook};
use super::{created, sent, until};

/// Where the runtime finds its API.
const API: &str = "AWS_LAMBDA_RUNTIME_API";

const INVOKE: &str = "/2015-03-31/functions/orders/invocations";

/// Fails messages with the body `bad`, and as a whole if one is `boom`.
async fn handle(event: LambdaEvent<SqsEvent>) -> Result<SqsBatchResponse, lambda_runtime::Error> {
    let records = event.payload.records;
    if records.iter().any(|record| record.body == "boom") {
        return Err("no tea left".into());
    }
    let failed = records.into_iter().filter(|record| record.body == "bad");
    Ok(SqsBatchResponse::failed(failed.map(|record| record.message_id)))
}

/// The test below runs this test in a child process, where it is the function. Otherwise it does nothing.
#[tokio::test]
async fn child_process_is_a_function() {
    if env::var_os(API).is_some() {
        lambda_runtime::run(service_fn(handle)).await.unwrap();
    }
}

/// Kills the process with its value.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_function(api: &str) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "triggers::lambda::child_process_is_a_function", "--nocapture"])
        .env(API, api)
        .env("AWS_LAMBDA_FUNCTION_NAME", "orders")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
        .stdout(Stdio::null());
    Process(command.spawn().unwrap())
}

/// Passes invocations to the runtime, as Lambda does.
async fn serve(mut hook: Hook) {
    let mut waiting: Vec<Call> = Vec::new();
    let mut invoked: Vec<Call> = Vec::new();
    let mut running: HashMap<String, Call> = HashMap::new();
    for number in 0_u64.. {
        let call = hook.next().await;
        let path = call.head.uri.path().to_owned();
        let parts: Vec<_> = path.split('/').collect();
        match parts.as_slice() {
            [_, "2018-06-01", "runtime", "invocation", "next"] => waiting.push(call),
            [_, "2018-06-01", "runtime", "invocation", id, ending] => {
                let invocation = running.remove(*id).expect("an invocation that runs");
                let failed = (*ending == "error").then(|| ("x-amz-function-error", "Unhandled".to_owned()));
                invocation.reply((200, failed.into_iter().collect(), call.body.to_vec()));
                call.answer(202, "");
            }
            _ => {
                assert_eq!(
                    (path.as_str(), &call.headers()["x-amz-invocation-type"]),
                    (INVOKE, &http::HeaderValue::from_static("RequestResponse"))
                );
                invoked.push(call);
            }
        }
        if !waiting.is_empty() && !invoked.is_empty() {
            let (next, invocation) = (waiting.remove(0), invoked.remove(0));
            let headers = [
                ("lambda-runtime-aws-request-id", format!("request-{number}")),
                ("lambda-runtime-deadline-ms", "4102444800000".to_owned()),
                (
                    "lambda-runtime-invoked-function-arn",
                    "arn:aws:lambda:us-east-1:000000000000:function:orders".to_owned(),
                ),
                ("lambda-runtime-trace-id", "Root=1-5759e988-bd862e3fe1be46a994272793".to_owned()),
            ];
            next.reply((200, headers.into(), invocation.body.to_vec()));
            running.insert(format!("request-{number}"), invocation);
        }
    }
}

#[tokio::test]
async fn function_of_the_rust_runtime_handles_messages_and_reports_failures() {
    let hook = Hook::start().await;
    let (url, api) =
        (format!("{}{INVOKE}", hook.host()), hook.host().trim_start_matches("http://").to_owned());
    tokio::spawn(serve(hook));
    let _function = start_function(&api);
    let server = MockSqs::builder()
        .clock_frozen()
        .trigger(Trigger::new("orders", url).report_batch_item_failures(true))
        .in_process()
        .unwrap();
    created(&server, "orders").await;

    sent(&server, "orders", &["tea", "bad", "milk"]).await;
    until(|| server.triggers()[0].deleted == 2 && server.triggers()[0].kept >= 1).await;
    assert_eq!(server.queue("orders").bodies(), ["bad"]);
    assert_eq!(server.triggers()[0].failures, 0);

    sent(&server, "orders", &["boom"]).await;
    until(|| server.triggers()[0].failures == 1).await;
    let error = server.triggers()[0].last_error.clone().unwrap();
    assert!(
        error.contains("the function failed (\"Unhandled\")") && error.contains("no tea left"),
        "{error}"
    );
    assert_eq!(server.queue("orders").bodies(), ["bad", "boom"]);
}
