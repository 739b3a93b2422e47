//! Precedence of flags, environment, file and defaults.

use std::path::PathBuf;

use sqs_mock_server::s3::S3;
use sqs_mock_server::{ByteSize, Compat, Config, Data, Durability, Secret, Tls};

use super::Arguments;
use super::values::{Faults, Quotas};

/// The port of ElasticMQ, which many projects have configured.
pub(crate) const PORT: u16 = 9324;
/// The port of S3, if its objects have a directory of their own.
pub(super) const S3_PORT: u16 = 9325;
/// The directory of the objects in the data directory.
const S3_IN_DATA: &str = "s3";

impl Arguments {
    /// Overrides the settings of a file with those of flags and environment. Faults and triggers add up: those of the file come
    /// first.
    ///
    /// # Errors
    /// A key is malformed (the text does not show it), or flags contradict each other.
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
        set(&mut config.deliver_to, given(self.deliver_to));
        config.triggers.extend(self.trigger);
        set(&mut config.admin_token, self.admin_token.map(|token| Some(Secret::from(token))));
        set(&mut config.console, self.no_console.then_some(Some(false)));
        set(&mut config.account, self.account.map(Some));
        set(&mut config.region, self.region.map(Some));
        set(&mut config.auth, self.auth);
        config.one_minute_rules = self.one_minute_rules.or(config.one_minute_rules);
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
        let flags = S3Flags {
            directory: self.with_s3,
            port: self.s3_port,
            buckets: self.s3_buckets,
            off: self.no_s3,
        };
        flags.apply(config.data.as_ref(), &mut config.s3)?;
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
            return Err("--tls=false cannot be combined with --tls-cert and --tls-key".to_owned());
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

/// The flags of S3.
struct S3Flags {
    directory: Option<PathBuf>,
    port: Option<u16>,
    buckets: Vec<String>,
    off: bool,
}

impl S3Flags {
    /// Overrides the settings of S3, which is on by default.
    fn apply(self, data: Option<&Data>, settings: &mut Option<S3>) -> Result<(), String> {
        let are_given = self.directory.is_some() || self.port.is_some() || !self.buckets.is_empty();
        if self.off && are_given {
            return Err("--no-s3 cannot be combined with --with-s3, --s3-port and --s3-bucket".to_owned());
        }
        let mut s3 = settings.take().unwrap_or_else(S3::temporary);
        s3.enabled = !self.off && (s3.enabled || are_given);
        s3.directory = self.directory.or(s3.directory);
        s3.port = self.port.or(s3.port);
        s3.buckets = given(self.buckets).unwrap_or(s3.buckets);
        *settings = Some(if s3.directory.is_some() {
            s3.port = s3.port.or(Some(S3_PORT));
            s3
        } else {
            s3.directory = data.map(|data| data.directory.join(S3_IN_DATA));
            s3.on_demand()
        });
        Ok(())
    }
}

fn key(text: &str) -> Result<(String, Secret), String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => {
            Ok((id.to_owned(), Secret::from(secret)))
        }
        _ => Err("a key of --key or SQS_MOCK_KEYS must have the form ID:SECRET".to_owned()),
    }
}
