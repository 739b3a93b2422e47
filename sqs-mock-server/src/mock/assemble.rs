//! From settings to a server without a socket.

use std::io;
use std::sync::Arc;

use aws_credential_types::Credentials;

use super::MockSqs;
#[cfg(feature = "config-file")]
use super::queues;
use crate::config::Config;
use crate::http::{Guard, name_of};
use crate::service::journal::Journal;
use crate::service::keys::Keys;
use crate::services::Services;
use crate::sqs::front::{Endpoint, Names};
use crate::sqs::ops::Service;

impl MockSqs {
    /// A service with its queues, which are there before anybody can call.
    pub(super) fn service(config: &Config) -> io::Result<Service> {
        let mut service = Service::new(config);
        furnish(&service, config)?;
        let config = config.clone();
        service.on_reset(move |service| {
            if let Err(error) = furnish(service, &config) {
                tracing::error!(%error, "what was there from the start cannot be made again");
            }
        });
        Ok(service)
    }

    pub(super) fn assemble(service: Service, config: &Config, url: String) -> Self {
        let Config { account, region, public_url, queue_url_style, keys, .. } = config.clone();
        #[cfg(feature = "config-file")]
        let configured_queues = queues::urls(config, host_of(&url));
        #[cfg(not(feature = "config-file"))]
        let configured_queues = Vec::new();
        let service = Arc::new(service);
        let key = keys.as_ref().and_then(Keys::first).unwrap_or(("test", "test"));
        let credentials = Credentials::new(key.0, key.1, None, None, "mock");
        let names = Names {
            account: account.clone(),
            region: region.clone(),
            public_url,
            queue_url_style,
            own_host: host_of(&url).to_owned(),
            keys,
            guard: guard(config, host_of(&url)),
        };
        let endpoint = Endpoint::new(Arc::clone(&service), names, Journal::new(config.journal));
        let services = Arc::new(Services::new(endpoint));
        Self {
            service,
            services,
            url,
            account,
            region,
            credentials,
            queue_url_style,
            configured_queues,
            server: None,
            #[cfg(feature = "s3")]
            s3: None,
            verification: config.verification.clone(),
        }
    }
}

/// The hosts that it is reached by are allowed beside those that somebody lists.
pub(super) fn guard(config: &Config, own_host: &str) -> Guard {
    let public = config.public_url.as_ref().and_then(|url| url.parse::<http::Uri>().ok());
    let public = public.as_ref().and_then(http::Uri::host);
    let own = [config.host.as_str(), own_host].into_iter().chain(public);
    let hosts = own.chain(config.allowed_hosts.iter().map(String::as_str));
    Guard {
        hosts: hosts.map(|host| name_of(host).to_ascii_lowercase()).collect(),
        cors_origins: config.cors_origins.clone(),
        admin_token: config.admin_token.clone(),
    }
}

/// Puts into a service what is to be there from the start.
#[cfg_attr(not(feature = "config-file"), expect(clippy::unnecessary_wraps, reason = "no file, no errors"))]
fn furnish(service: &Service, config: &Config) -> io::Result<()> {
    #[cfg(feature = "config-file")]
    queues::create(service, config)?;
    for fault in &config.faults {
        service.faults().inject(fault.clone());
    }
    Ok(())
}

/// The host of a URL without a path.
pub(super) fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}
