//! Builds a server without a socket from its settings.

use std::io;
use std::sync::Arc;

use aws_credential_types::Credentials;

#[cfg(feature = "config-file")]
use super::queues;
use super::service::{self, Kept};
use super::{MockSqs, Verification};
use crate::config::{Auth, Config};
use crate::http::{Guard, name_of};
#[cfg(feature = "sns")]
use crate::query::{Front, Settings};
#[cfg(feature = "sns")]
use crate::service::delivery::Queues;
use crate::service::journal::{DEFAULT_CAPACITY, Journal};
use crate::service::keys::Keys;
use crate::services::Services;
#[cfg(feature = "sns")]
use crate::services::Topics;
#[cfg(feature = "sns")]
use crate::sns::ops::Start;
use crate::sqs::engine::{QuotaScope, QuotaTable};
use crate::sqs::front::{Endpoint, Names};
use crate::sqs::ops::Service;

impl MockSqs {
    /// A service with its initial queues and faults.
    pub(super) fn service(config: &Config) -> io::Result<(Service, Kept)> {
        let (mut service, kept) = service::service(config)?;
        create_initial_state(&service, config)?;
        let config = config.clone();
        service.on_reset(move |service| {
            if let Err(error) = create_initial_state(service, &config) {
                tracing::error!(%error, "cannot create the initial queues again");
            }
        });
        Ok((service, kept))
    }

    pub(super) fn assemble(
        service: Service,
        config: &Config,
        url: String,
        verification: Option<Verification>,
        #[cfg_attr(not(feature = "sns"), expect(unused_mut, reason = "only topics are taken from it"))]
        mut kept: Kept,
    ) -> Self {
        let (account, region) = (config.account().to_owned(), config.region().to_owned());
        let queue_url_style = config.queue_url_style;
        #[cfg(feature = "config-file")]
        let configured_queues = queues::urls(config, host_of(&url));
        #[cfg(not(feature = "config-file"))]
        let configured_queues = Vec::new();
        let service = Arc::new(service);
        let keys = keys(config);
        let key = keys.as_ref().and_then(Keys::first).unwrap_or(("test", "test"));
        let credentials = Credentials::new(key.0, key.1, None, None, "mock");
        let names = Names {
            account: account.clone(),
            region: region.clone(),
            public_url: config.public_url.clone(),
            queue_url_style,
            own_host: host_of(&url).to_owned(),
            keys,
            guard: guard(config, host_of(&url)),
        };
        let journal = Arc::new(Journal::new(journal_capacity(config)));
        #[cfg(feature = "sns")]
        let topics = topics(&service, &names, &journal, (config, &mut kept));
        let endpoint = Endpoint::new(Arc::clone(&service), names, Arc::clone(&journal));
        let services = Services::new(
            endpoint,
            #[cfg(feature = "sns")]
            topics,
            journal,
            config,
        );
        let services = Arc::new(services);
        Self {
            service,
            services,
            url,
            account,
            region,
            credentials,
            queue_url_style,
            configured_queues,
            #[cfg(all(feature = "config-file", feature = "sns"))]
            configured_topics: super::topics::arns(config),
            server: None,
            #[cfg(feature = "s3")]
            s3: None,
            verification,
            kept,
        }
    }
}

/// SNS and STS, with the defaults of SQS.
#[cfg(feature = "sns")]
fn topics(
    service: &Arc<Service>,
    names: &Names,
    journal: &Arc<Journal>,
    (config, kept): (&Config, &mut Kept),
) -> Topics {
    let names = names.clone();
    let settings = Settings {
        account: names.account,
        region: names.region,
        public_url: names.public_url,
        own_host: names.own_host,
        keys: names.keys,
        guard: names.guard,
    };
    let (clock, seed) = (service.clock().clone(), kept.seed_of_topics(service.seed()));
    let faults = service.faults().clone();
    let front = Front::new(settings, Arc::clone(journal), clock.clone(), faults, seed);
    let queues: Arc<dyn Queues> = Arc::<Service>::clone(service);
    let published = journal_capacity(config);
    #[cfg_attr(not(feature = "config-file"), expect(unused_mut, reason = "only a file has topics"))]
    let mut sns =
        kept.sns(Start { queues, clock, seed, journal: Arc::clone(journal), published, reader: None });
    #[cfg(feature = "config-file")]
    super::topics::recreate_on_reset(&mut sns, config.clone());
    Topics::new(front, sns)
}

fn journal_capacity(config: &Config) -> usize {
    config.journal.unwrap_or(DEFAULT_CAPACITY)
}

/// The access keys that requests may be signed with, if signatures are required.
pub(super) fn keys(config: &Config) -> Option<Keys> {
    (config.auth == Auth::Sigv4).then(|| Keys(config.keys.clone()))
}

/// Also allows the hosts of the server itself.
pub(super) fn guard(config: &Config, own_host: &str) -> Guard {
    let public = config.public_url.as_ref().and_then(|url| url.parse::<http::Uri>().ok());
    let public = public.as_ref().and_then(http::Uri::host);
    let own = [config.host(), own_host].into_iter().chain(public);
    let hosts = own.chain(config.allow_hosts.iter().map(String::as_str));
    Guard {
        hosts: hosts.map(|host| name_of(host).to_ascii_lowercase()).collect(),
        cors_origins: config.cors_origins.clone(),
        admin_token: config.admin_token.clone(),
    }
}

/// Creates the initial queues and faults.
#[cfg_attr(not(feature = "config-file"), expect(clippy::unnecessary_wraps, reason = "no file, no errors"))]
fn create_initial_state(service: &Service, config: &Config) -> io::Result<()> {
    service.change_quotas(|table| *table = quotas(config));
    for fault in &config.faults {
        service.faults().inject(fault.clone());
    }
    #[cfg(feature = "config-file")]
    {
        let problems = queues::problems(config);
        #[cfg(feature = "sns")]
        let problems = problems.into_iter().chain(super::topics::problems(config)).collect::<Vec<_>>();
        if !problems.is_empty() {
            return Err(config.source.refuse(problems));
        }
        queues::create(service, config)?;
    }
    Ok(())
}

/// The initial throughput quotas.
fn quotas(config: &Config) -> QuotaTable {
    let mut table = QuotaTable::default();
    table.set(QuotaScope::Server, config.throughput_quotas);
    #[cfg(feature = "config-file")]
    for (arn, quotas) in queues::quotas(config) {
        table.set(QuotaScope::Queue(arn), quotas);
    }
    for (scope, quotas) in config.quota_overrides.iter() {
        table.set(scope.clone(), quotas);
    }
    table
}

/// The host of a URL without a path.
pub(super) fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}
