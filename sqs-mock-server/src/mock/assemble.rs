//! Builds a server without a socket from its settings.

use std::io;
use std::sync::Arc;
#[cfg(feature = "s3")]
use std::sync::OnceLock;

use aws_credential_types::Credentials;

use super::queues;
use super::service::{self, Kept};
use super::{MockSqs, Verification};
use crate::config::{Auth, Compat, Config};
use crate::http::{Guard, Names, name_of};
use crate::query::Front;
use crate::service::delivery::Queues;
use crate::service::journal::{DEFAULT_CAPACITY, Journal};
use crate::service::keys::Keys;
use crate::services::Topics;
use crate::services::{InitialState, Services};
use crate::sns::ops::{Sns, Start};
use crate::sqs::engine::{QuotaScope, QuotaTable};
use crate::sqs::front::Endpoint;
use crate::sqs::ops::Service;
#[cfg(feature = "durable")]
use crate::store::Store;

impl MockSqs {
    /// A service with its initial queues and faults.
    pub(super) fn service(config: &Config) -> io::Result<(Service, Kept)> {
        let (service, kept) = service::service(config)?;
        create_initial_state(&service, config)?;
        Ok((service, kept))
    }

    /// # Errors
    /// [`io::ErrorKind::InvalidInput`]: a topic of the data directory differs from that of the config file.
    pub(super) fn assemble(
        service: Service,
        config: &Config,
        url: String,
        verification: Option<Verification>,
        mut kept: Kept,
    ) -> io::Result<Self> {
        let service = Arc::new(service);
        let keys = (config.auth == Auth::Sigv4).then(|| Keys(config.keys.clone()));
        let key = keys.as_ref().and_then(Keys::first).unwrap_or(("test", "test"));
        let credentials = Credentials::new(key.0, key.1, None, None, "mock");
        let own_host = host_of(&url).to_owned();
        let names = Arc::new(Names {
            account: config.account().to_owned(),
            region: config.region().to_owned(),
            public_url: config.public_url.clone(),
            guard: guard(config, &own_host),
            own_host,
            keys,
        });
        let journal = Arc::new(Journal::new(journal_capacity(config)));
        let topics = topics(&service, &names, &journal, config, &mut kept);
        super::topics::create(&topics.sns, config)?;
        let endpoint = Endpoint::new(
            Arc::clone(&service),
            Arc::clone(&names),
            config.queue_url_style,
            Arc::clone(&journal),
        );
        let configured_queues = queues::urls(config, |region| endpoint.base_url(&names.own_host, region));
        let services = Services {
            sqs: endpoint,
            topics,
            journal,
            is_localstack: config.compat == Some(Compat::LocalStack),
            has_console: config.console.unwrap_or(true),
            initial: initial_state(config.clone()),
            #[cfg(feature = "s3")]
            s3: OnceLock::new(),
        };
        Ok(Self {
            service,
            services: Arc::new(services),
            url,
            credentials,
            configured_queues,
            configured_topics: super::topics::arns(config),
            server: None,
            #[cfg(feature = "s3")]
            s3: None,
            verification,
            kept,
        })
    }
}

/// SNS and STS, with the defaults of SQS.
#[cfg_attr(not(feature = "durable"), expect(unused_variables, reason = "no directory, no topics in it"))]
fn topics(
    service: &Arc<Service>,
    names: &Arc<Names>,
    journal: &Arc<Journal>,
    config: &Config,
    kept: &mut Kept,
) -> Topics {
    let (clock, seed, faults) = (service.clock().clone(), service.seed(), service.faults().clone());
    // Ids differ from those of earlier processes on the directory.
    #[cfg(feature = "durable")]
    let (seed, reader) = (seed.after(kept.starts), kept.store.as_ref().map(Store::topic_reader));
    #[cfg(not(feature = "durable"))]
    let reader = None;
    let front = Front::new(Arc::clone(names), Arc::clone(journal), clock.clone(), faults, seed);
    let queues: Arc<dyn Queues> = Arc::<Service>::clone(service);
    let published = journal_capacity(config);
    let sns = Sns::new(Start { queues, clock, seed, journal: Arc::clone(journal), published, reader });
    #[cfg(feature = "durable")]
    sns.restore(std::mem::take(&mut kept.topics));
    Topics { front, sns: Arc::new(sns) }
}

fn journal_capacity(config: &Config) -> usize {
    config.journal.unwrap_or(DEFAULT_CAPACITY)
}

/// Also allows the hosts of the server itself.
fn guard(config: &Config, own_host: &str) -> Guard {
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

/// What each reset creates again.
fn initial_state(config: Config) -> InitialState {
    InitialState(Box::new(move |services| {
        let created = [
            create_initial_state(services.sqs.service(), &config),
            super::topics::create(&services.topics.sns, &config),
        ];
        for error in created.into_iter().filter_map(Result::err) {
            tracing::error!(%error, "cannot create all initial queues and topics again");
        }
    }))
}

/// Creates the initial queues and faults.
fn create_initial_state(service: &Service, config: &Config) -> io::Result<()> {
    service.change_quotas(|table| *table = quotas(config));
    for fault in &config.faults {
        service.faults().inject(fault.clone());
    }
    let problems = queues::problems(config).into_iter();
    let problems = problems.chain(super::topics::problems(config));
    #[cfg(feature = "s3")]
    let problems = problems.chain(super::s3::problems(config));
    config.source.check(problems.collect())?;
    queues::create(service, config)
}

/// The initial throughput quotas.
fn quotas(config: &Config) -> QuotaTable {
    let mut table = QuotaTable::default();
    table.set(QuotaScope::Server, config.throughput_quotas);
    for (arn, quotas) in queues::quotas(config) {
        table.set(QuotaScope::Queue(arn), quotas);
    }
    for (scope, quotas) in config.quota_overrides.iter() {
        table.set(scope.clone(), quotas);
    }
    table
}

/// The host of a URL without a path.
fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}
