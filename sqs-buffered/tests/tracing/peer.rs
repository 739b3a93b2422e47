//! The Rust peer for tests of trace context with clients of other languages. The script `run` starts it.
//!
//! `queue NAME` creates a queue and prints its URL. `send` sends a message within a span and prints its trace id and span id.
//! `consume` handles a message and prints the trace id of the handler and the span id of the sender.

use std::env::var;
use std::error::Error;
use std::sync::{Arc, Mutex};

use opentelemetry::Context;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use sqs_buffered::{BufferedClient, Consumer, MessageContext};
use sqs_client::Client;
use tokio::sync::Notify;
use tokio::time::{Duration, timeout};
use tracing::Instrument as _;
use tracing_subscriber::layer::SubscriberExt as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = SdkTracerProvider::builder().build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("peer"));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let client = Client::from_env()?;
    match arguments[..] {
        ["queue", name] => {
            let queue = client.create_queue().queue_name(name).send().await?;
            println!("{}", queue.queue_url().unwrap_or_default());
        }
        ["send"] => send(client).instrument(tracing::info_span!("order")).await?,
        ["consume"] => consume(client).await?,
        _ => return Err("unknown arguments; allowed are `queue NAME`, `send` and `consume`".into()),
    }
    Ok(())
}

async fn send(client: Client) -> Result<(), Box<dyn Error>> {
    let buffered = BufferedClient::new(client);
    buffered.send(var("QUEUE_URL")?, "one coffee").await?;
    print(&Context::current(), &Context::current());
    Ok(())
}

async fn consume(client: Client) -> Result<(), Box<dyn Error>> {
    let (done, contexts) = (Arc::new(Notify::new()), Arc::new(Mutex::new(None)));
    let (handled, recorded) = (Arc::clone(&done), Arc::clone(&contexts));
    let handler = move |context: MessageContext| {
        let (handled, recorded) = (Arc::clone(&handled), Arc::clone(&recorded));
        async move {
            if let Ok(mut recorded) = recorded.lock() {
                *recorded = Some((Context::current(), context.trace_context()));
            }
            handled.notify_one();
        }
    };
    let consumer =
        Consumer::builder(client, var("QUEUE_URL")?).wait_time(Duration::ZERO).handler(handler).build()?;
    consumer.run_until(timeout(Duration::from_secs(10), done.notified())).await?;
    let contexts = contexts.lock().ok().and_then(|mut contexts| contexts.take());
    let (own, sender) = contexts.ok_or("no message within 10 seconds")?;
    print(&own, &sender);
    Ok(())
}

/// Prints the trace id of one context and the span id of another.
fn print(trace: &Context, span: &Context) {
    println!("{} {}", trace.span().span_context().trace_id(), span.span().span_context().span_id());
}
