//! A thread that renews leases with a client of its own, so that handlers which block their runtime lose no lease.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::Execute;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::BufferedClient;
use crate::error::BuildError;
use crate::settings::Settings;

/// The thread, before it is started, and its client, through which all visibility changes go: so those of one message stay in order.
#[derive(Clone, Debug)]
pub(crate) struct RenewalThread<H: Execute> {
    pub(crate) client: BufferedClient<H>,
    runtime: Arc<Unstarted>,
}

/// The runtime of the thread, until the thread has it.
#[derive(Debug)]
struct Unstarted(Mutex<Option<Runtime>>);

impl Drop for Unstarted {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.lock().take() {
            // A runtime must not be dropped within another one.
            runtime.shutdown_background();
        }
    }
}

impl<H: Execute> RenewalThread<H> {
    /// `settings` are those of the client of the consumer.
    pub(crate) fn new(client: H, settings: Settings) -> Result<Self, BuildError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| BuildError::new("renewal_thread", error, "what the system can start"))?;
        let home = Some(runtime.handle().clone());
        let client = BufferedClient::assemble(client, settings, home, None);
        Ok(Self { client, runtime: Arc::new(Unstarted(Mutex::new(Some(runtime)))) })
    }

    /// Runs a task on the thread, which ends with it. The handle fails if the thread ends before.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> io::Result<JoinHandle<()>> {
        let (unstarted, client) = (Arc::clone(&self.runtime), self.client.clone());
        let (ended, end) = oneshot::channel();
        thread::Builder::new().name("sqs-leases".to_owned()).spawn(move || {
            // Taken here: if the thread does not start, the runtime must not be dropped with this closure.
            let Some(runtime) = unstarted.0.lock().take() else { return };
            runtime.block_on(async {
                task.await;
                // All messages are settled.
                client.close_within(Duration::ZERO).await;
            });
            // An error means that nobody waits.
            let _ = ended.send(());
        })?;
        Ok(tokio::spawn(async {
            if end.await.is_err() {
                resume_unwind(Box::new("the thread that renews leases has ended"));
            }
        }))
    }
}
