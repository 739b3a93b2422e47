//! Services that keep their queues in a data directory.

use std::io;

use super::assemble::empty_service;
use crate::config::Config;
use crate::sqs::ops::Service;
use crate::store::Store;

/// A service with the state of its data directory, if it has one.
pub(super) fn service(config: &Config) -> io::Result<(Service, Option<Store>)> {
    let Some(data) = &config.data else { return Ok((empty_service(config, None), None)) };
    let (store, restored) = Store::open(data)?;
    let service = empty_service(config, Some(store.reader()));
    service.restore(restored)?;
    store.follow(service.clock());
    Ok((service, Some(store)))
}
