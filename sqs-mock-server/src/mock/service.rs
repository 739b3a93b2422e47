//! The service of a server, with the state of its data directory.

use std::io;
use std::sync::Arc;

use crate::config::Config;
#[cfg(feature = "durable")]
use crate::sns::ops::Restored;
use crate::sqs::engine::Settings;
use crate::sqs::ops::changes::ChangeReader;
use crate::sqs::ops::{Service, Start};
#[cfg(feature = "durable")]
use crate::store::Store;

/// Keeps a data directory open.
#[derive(Debug, Default)]
pub(super) struct Kept {
    #[cfg(feature = "durable")]
    pub(super) store: Option<Store>,
    /// The topics of the directory, until they are restored.
    #[cfg(feature = "durable")]
    pub(super) topics: Restored,
    /// The number of earlier processes.
    #[cfg(feature = "durable")]
    pub(super) starts: u64,
}

/// A service with the state of its data directory, or without queues.
#[cfg_attr(not(feature = "durable"), expect(clippy::unnecessary_wraps, reason = "no directory, no errors"))]
pub(super) fn service(config: &Config) -> io::Result<(Service, Kept)> {
    #[cfg(feature = "durable")]
    if let Some(data) = &config.data {
        let (store, contents) = Store::open(data)?;
        let service = empty_service(config, Some(store.reader()));
        let (topics, starts) = (contents.topics, contents.sqs.starts);
        service.restore(contents.sqs)?;
        if config.clock_frozen {
            service.clock().freeze();
        }
        store.follow(service.clock());
        let kept = Kept { store: Some(store), topics, starts };
        return Ok((service, kept));
    }
    Ok((empty_service(config, None), Kept::default()))
}

/// A service without queues.
fn empty_service(config: &Config, reader: Option<Arc<dyn ChangeReader>>) -> Service {
    let start = Start {
        seed: config.seed,
        time: config.clock_start.map(Into::into),
        frozen: config.clock_frozen,
        auto_create: config.auto_create,
    };
    let settings = Settings {
        relaxed_timing: config.relaxed_timing,
        delivery: config.delivery,
        strict: config.strict,
        policies: config.policies,
        max_memory: config.limits.max_memory,
        max_queues: config.limits.max_queues,
        ..Settings::default()
    };
    Service::new(start, settings, reader)
}
