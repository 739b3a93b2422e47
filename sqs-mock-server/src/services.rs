//! The services of one server.

use std::sync::Arc;
#[cfg(feature = "s3")]
use std::sync::{OnceLock, Weak};

#[cfg(feature = "sns")]
use http::request::Parts;

use crate::config::{Compat, Config};
use crate::http::Guard;
#[cfg(feature = "sns")]
use crate::http::Reply;
#[cfg(feature = "sns")]
use crate::query::Front;
#[cfg(feature = "s3")]
use crate::s3;
#[cfg(all(feature = "s3", feature = "sns"))]
use crate::service::delivery::Publisher;
use crate::service::journal::Journal;
use crate::service::metrics::Exposition;
#[cfg(feature = "sns")]
use crate::sns::ops::Sns;
#[cfg(all(feature = "s3", feature = "sns"))]
use crate::sns::ops::TopicPublisher;
use crate::sqs::front::Endpoint;
#[cfg(feature = "sns")]
use crate::sts::Sts;

/// SQS, SNS with STS if they are compiled, and S3 if it is started.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) sqs: Endpoint,
    #[cfg(feature = "sns")]
    pub(crate) topics: Topics,
    /// The requests to all services.
    pub(crate) journal: Arc<Journal>,
    /// The server whose interface this one also has.
    compat: Option<Compat>,
    /// Whether the console is served.
    #[cfg(feature = "console")]
    has_console: bool,
    #[cfg(feature = "s3")]
    s3: OnceLock<Weak<s3::Content>>,
}

/// SNS and STS, with the HTTP layer that they share.
#[cfg(feature = "sns")]
#[derive(Debug)]
pub(crate) struct Topics {
    front: Front,
    pub(crate) sns: Arc<Sns>,
}

#[cfg(feature = "sns")]
impl Topics {
    pub(crate) fn new(front: Front, sns: Sns) -> Self {
        Self { front, sns: Arc::new(sns) }
    }

    /// The topics, for S3.
    #[cfg(feature = "s3")]
    pub(crate) fn publisher(&self) -> Arc<dyn Publisher> {
        Arc::new(TopicPublisher::new(Arc::clone(&self.sns), self.front.own_url()))
    }

    /// Answers a request to SNS.
    pub(crate) async fn answer_sns(&self, head: &Parts, body: &[u8]) -> Reply {
        self.front.answer(&*self.sns, head, body).await
    }

    /// Answers a request to STS.
    pub(crate) async fn answer_sts(&self, head: &Parts, body: &[u8]) -> Reply {
        self.front.answer(&Sts, head, body).await
    }

    fn write_metrics(&self, text: &mut Exposition) {
        self.front.write_metrics(text);
        self.sns.write_metrics(text);
    }
}

impl Services {
    /// All services except S3.
    pub(crate) fn new(
        sqs: Endpoint,
        #[cfg(feature = "sns")] topics: Topics,
        journal: Arc<Journal>,
        config: &Config,
    ) -> Self {
        Self {
            sqs,
            #[cfg(feature = "sns")]
            topics,
            journal,
            compat: config.compat,
            #[cfg(feature = "console")]
            has_console: config.console.unwrap_or(true),
            #[cfg(feature = "s3")]
            s3: OnceLock::new(),
        }
    }

    /// Whether it answers the readiness checks of `LocalStack`.
    pub(crate) fn is_localstack(&self) -> bool {
        self.compat == Some(Compat::LocalStack)
    }

    /// Whether the console is served.
    #[cfg(feature = "console")]
    pub(crate) fn has_console(&self) -> bool {
        self.has_console
    }

    /// Adds S3, which its server owns. Called at most once.
    #[cfg(feature = "s3")]
    pub(crate) fn attach_s3(&self, s3: Weak<s3::Content>) {
        let _ = self.s3.set(s3);
    }

    /// S3, while its server runs.
    #[cfg(feature = "s3")]
    pub(crate) fn s3(&self) -> Option<Arc<s3::Content>> {
        self.s3.get().and_then(Weak::upgrade)
    }

    /// Whether S3 runs.
    #[cfg_attr(not(feature = "s3"), expect(clippy::unused_self, reason = "this build has no S3"))]
    pub(crate) fn has_s3(&self) -> bool {
        #[cfg(feature = "s3")]
        return self.s3().is_some();
        #[cfg(not(feature = "s3"))]
        false
    }

    /// The rules for requests of browsers.
    pub(crate) fn guard(&self) -> &Guard {
        &self.sqs.names().guard
    }

    /// Resets every service to its initial state, and removes all recorded requests.
    pub(crate) fn reset(&self) {
        // Before the queues: no later queue may get an event of the time before.
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.discard_events();
        }
        self.sqs.service().reset();
        #[cfg(feature = "sns")]
        self.topics.sns.reset();
        self.journal.reset();
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.reset();
        }
    }

    /// The metrics of every service.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn metrics(&self) -> Exposition {
        #[cfg_attr(
            not(any(feature = "s3", feature = "sns")),
            expect(unused_mut, reason = "only they add to it")
        )]
        let mut text = self.sqs.metrics().await;
        #[cfg(feature = "sns")]
        self.topics.write_metrics(&mut text);
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.write_metrics(&mut text);
        }
        text
    }
}
