//! Precedence of flags, environment, file and defaults.

use std::path::PathBuf;

use sqs_mock_server::s3::S3;
use sqs_mock_server::{ByteSize, Compat, Config, Data, Durability, Secret, Tls};

use super::Arguments;
use super::values::{Faults, Quotas};

/// The port of ElasticMQ, which many projects have configured.
pub(crate) const PORT: u16 = 9324;
/// The port of S3.
pub(super) const S3_PORT: u16 = 9325;

impl Arguments {
    /// Overrides the settings of a file with those of flags and environment. Faults add up: those of the file come
    /// first.
    ///
    /// # Errors
    /// A key is malformed (the text does not show it), or settings of S3 are given without a directory.
    pub(crate) fn apply(self, config: &mut Config) -> Result<(), String> {
        fn set<T>(to: &mut T, from: Option<T>) {
            if let Some(value) = from {
                *to = value;
            }
        }
        set(&mut config.host, self.host.map(Some));
        set(&mut config.compat, self.compat.map(Some));
        config.port = self.port.or(config.port).or(Some(config.compat.map_or(PORT, Compat::port)));
        set(&mut config.public_url, self.public_url.map(Some));
        set(&mut config.queue_url_style, self.queue_url_style);
        set(&mut config.allow_hosts, given(self.allow_hosts));
        set(&mut config.cors_origins, given(self.cors_origins));
        set(&mut config.admin_token, self.admin_token.map(|token| Some(Secret::from(token))));
        set(&mut config.console, self.no_console.then_some(Some(false)));
        set(&mut config.account, self.account.map(Some));
        set(&mut config.region, self.region.map(Some));
        set(&mut config.auth, self.auth);
        let relaxed = self.relaxed_timing.map(|is_relaxed| !is_relaxed);
        config.one_minute_rules = self.one_minute_rules.or(relaxed).or(config.one_minute_rules);
        set(&mut config.delivery, self.delivery);
        set(&mut config.auto_create, self.auto_create);
        set(&mut config.strict, self.strict);
        set(&mut config.policies, self.policies);
        set(&mut config.throughput_quotas, self.throughput_quotas.map(|Quotas(quotas)| quotas));
        set(&mut config.journal, self.journal.map(Some));
        config.faults.extend(self.fault.into_iter().flat_map(|Faults(faults)| faults));
        set(&mut config.seed, self.seed.map(Some));
        set(&mut config.limits.max_memory, self.max_memory.map(|ByteSize(bytes)| bytes));
        set(&mut config.limits.max_queues, self.max_queues);
        set(&mut config.limits.max_connections, self.max_connections);
        set(&mut config.log, self.log.map(Some));
        set(&mut config.log_format, self.log_format);
        tls(self.tls, self.tls_cert, self.tls_key, &mut config.tls)?;
        data(self.data, self.durability, &mut config.data)?;
        s3(self.with_s3, self.s3_port, self.s3_buckets, &mut config.s3)?;
        if !self.keys.is_empty() {
            config.keys = self.keys.iter().map(|text| key(text)).collect::<Result<_, _>>()?;
        } else if config.keys.is_empty() {
            config.keys.insert("test".to_owned(), Secret::from("test"));
        }
        Ok(())
    }
}

/// The values of a repeated flag, if it is given.
fn given(list: Vec<String>) -> Option<Vec<String>> {
    Some(list).filter(|list| !list.is_empty())
}

/// Overrides the settings of TLS with flags.
fn tls(
    is_on: Option<bool>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    to: &mut Option<Tls>,
) -> Result<(), String> {
    match (is_on, cert, key) {
        (Some(false), None, None) => *to = None,
        (Some(false), ..) => {
            return Err("--tls false cannot be combined with --tls-cert and --tls-key".to_owned());
        }
        (_, Some(cert), Some(key)) => *to = Some(Tls::files(cert, key)),
        (_, Some(_), None) => return Err("--tls-cert requires --tls-key".to_owned()),
        (_, None, Some(_)) => return Err("--tls-key requires --tls-cert".to_owned()),
        (Some(true), None, None) => {
            to.get_or_insert_default();
        }
        (None, None, None) => {}
    }
    Ok(())
}

/// Overrides the settings of the data directory with flags.
fn data(
    directory: Option<PathBuf>,
    durability: Option<Durability>,
    to: &mut Option<Data>,
) -> Result<(), String> {
    if let Some(directory) = directory {
        let durability = to.take().map(|data| data.durability).unwrap_or_default();
        *to = Some(Data::new(directory).durability(durability));
    }
    match (durability, to) {
        (None, _) => Ok(()),
        (Some(durability), Some(data)) => {
            data.durability = durability;
            Ok(())
        }
        (Some(_), None) => Err("--durability requires --data".to_owned()),
    }
}

/// Overrides the settings of S3 with flags.
fn s3(
    directory: Option<PathBuf>,
    port: Option<u16>,
    buckets: Vec<String>,
    settings: &mut Option<S3>,
) -> Result<(), String> {
    if directory.is_some() {
        settings.get_or_insert_with(S3::temporary).directory = directory;
    }
    match settings {
        Some(settings) => {
            settings.port = port.or(settings.port).or(Some(S3_PORT));
            settings.buckets = given(buckets).unwrap_or_else(|| std::mem::take(&mut settings.buckets));
        }
        None if port.is_some() || !buckets.is_empty() => {
            return Err("--s3-port and --s3-bucket require --with-s3 DIR".to_owned());
        }
        None => {}
    }
    Ok(())
}

fn key(text: &str) -> Result<(String, Secret), String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => {
            Ok((id.to_owned(), Secret::from(secret)))
        }
        _ => Err("a key of --key or SQS_MOCK_KEYS must have the form ID:SECRET".to_owned()),
    }
}
