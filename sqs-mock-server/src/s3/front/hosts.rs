//! Virtual-hosted-style addressing: the bucket is part of the host name.

use std::sync::Arc;

use s3s::S3Result;
use s3s::host::{S3Host, VirtualHost};

use crate::s3::store::Store;

/// Accepts any host name of the server. `<bucket>.<any host>` names a bucket that exists, `<bucket>.localhost` names
/// any bucket. For all other hosts the bucket is in the path.
#[derive(Debug)]
pub(super) struct Hosts(pub(super) Arc<Store>);

impl Hosts {
    fn bucket<'h>(&self, host: &'h str) -> Option<&'h str> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let dots = name.match_indices('.').map(|(at, _)| at);
        let labels = dots.filter_map(|at| name.get(..at));
        labels.rev().find(|name| self.0.bucket(name).is_some()).or_else(|| of_localhost(name))
    }
}

fn of_localhost(name: &str) -> Option<&str> {
    let bucket = name.strip_suffix(".localhost")?;
    let bucket = bucket.strip_suffix(".s3").unwrap_or(bucket);
    (bucket != "s3").then_some(bucket)
}

impl S3Host for Hosts {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let server = VirtualHost::new(host);
        Ok(match self.bucket(host) {
            Some(bucket) => server.with_bucket(bucket),
            None => server,
        })
    }
}
