//! The service of a server, with the state of its data directory.

use std::io;
use std::sync::Arc;

use crate::config::Config;
use crate::sqs::engine::Settings;
use crate::sqs::ops::changes::ChangeReader;
use crate::sqs::ops::{Service, Start};
#[cfg(feature = "durable")]
use crate::store::{Data, Store};

/// Keeps a data directory open.
#[derive(Debug, Default)]
pub(super) struct Kept {
    #[cfg(feature = "durable")]
    store: Option<Store>,
}

impl Kept {
    #[cfg(feature = "durable")]
    pub(super) fn data(&self) -> Option<&Data> {
        self.store.as_ref().map(Store::data)
    }
}

/// A service with the state of its data directory, or without queues.
#[cfg_attr(not(feature = "durable"), expect(clippy::unnecessary_wraps, reason = "no directory, no errors"))]
pub(super) fn service(config: &Config) -> io::Result<(Service, Kept)> {
    #[cfg(feature = "durable")]
    if let Some(data) = &config.data {
        let (store, restored) = Store::open(data)?;
        let service = empty_service(config, Some(store.reader()));
        service.restore(restored)?;
        if config.clock_frozen {
            service.clock().freeze();
        }
        store.follow(service.clock());
        return Ok((service, Kept { store: Some(store) }));
    }
    Ok((empty_service(config, None), Kept::default()))
}

/// A service without queues.
pub(super) fn empty_service(config: &Config, reader: Option<Arc<dyn ChangeReader>>) -> Service {
    let start = Start {
        seed: config.seed,
        time: config.clock_start,
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
    Service::new(&start, settings, reader)
}
