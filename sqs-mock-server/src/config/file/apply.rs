//! From a file to the settings of a server.

use super::{Auth, ConfigFile};
use crate::config::Config;
use crate::http::AdminToken;

impl ConfigFile {
    /// Sets what the file names.
    pub(crate) fn apply(self, config: &mut Config) {
        fn set<T>(to: &mut T, from: Option<T>) {
            if let Some(value) = from {
                *to = value;
            }
        }
        set(&mut config.host, self.host);
        set(&mut config.port, self.port);
        set(&mut config.account, self.account);
        set(&mut config.region, self.region);
        set(&mut config.relaxed_timing, self.relaxed_timing);
        set(&mut config.clock_frozen, self.clock_frozen);
        set(&mut config.auto_create_queues, self.auto_create);
        set(&mut config.delivery, self.delivery);
        set(&mut config.queue_url_style, self.queue_url_style);
        set(&mut config.journal, self.journal);
        config.public_url = self.public_url.or(config.public_url.take());
        config.seed = self.seed.or(config.seed);
        let limits = &mut config.limits;
        set(&mut limits.max_memory, self.max_memory);
        set(&mut limits.max_queues, self.max_queues);
        set(&mut limits.max_connections, self.max_connections);
        set(&mut limits.max_body, self.max_body);
        set(&mut limits.max_bodies, self.max_bodies);
        set(&mut limits.max_head, self.max_head);
        set(&mut limits.head_timeout, self.head_timeout);
        set(&mut limits.body_timeout, self.body_timeout);
        set(&mut limits.write_timeout, self.write_timeout);
        set(&mut limits.grace, self.grace);
        match self.auth {
            Some(Auth::Sigv4) => config.keys = Some(self.keys.unwrap_or_default().into_iter().collect()),
            Some(Auth::None) => config.keys = None,
            None => {}
        }
        set(&mut config.allowed_hosts, self.allow_hosts);
        set(&mut config.cors_origins, self.cors_origins);
        config.admin_token =
            self.admin_token.map(|token| AdminToken(token.into())).or(config.admin_token.take());
        #[cfg(feature = "s3")]
        if let Some(settings) = self.s3.settings() {
            config.s3 = Some(settings);
        }
        config.faults.extend(self.faults);
        config.queues.extend(self.queues);
    }
}
