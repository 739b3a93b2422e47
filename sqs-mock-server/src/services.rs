//! The services of one server.

use std::fmt;
use std::sync::Arc;
#[cfg(any(feature = "s3", feature = "tls"))]
use std::sync::OnceLock;
#[cfg(feature = "s3")]
use std::sync::Weak;

use crate::control::metrics::Exposition;
use crate::front::Front;
use crate::http::guard::Guard;
use crate::outgoing::Outgoing;
use crate::query::Query;
#[cfg(feature = "s3")]
use crate::s3;
use crate::sns::Sns;
use crate::sqs::front::Endpoint;
use crate::sts::Sts;
use crate::triggers::Triggers;

/// Why a server does not serve S3, and what turns it on.
pub(crate) const S3_IS_OFF: &str = "S3 is off; the binary serves it without --no-s3 and without [s3] enabled = false, an \
                                    embedded server with the feature s3 and MockSqs::builder().s3(..) or [s3] in its config file";

/// SQS, SNS and STS with what they share, and S3 if it is started.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) front: Front,
    pub(crate) sqs: Endpoint,
    pub(crate) sns: Query<Sns>,
    pub(crate) sts: Query<Sts>,
    /// Sends requests to web hooks and functions.
    pub(crate) outgoing: Arc<Outgoing>,
    /// Queues that invoke functions. Their tasks use these services; the server ends them.
    pub(crate) triggers: Triggers,
    /// Whether it answers the readiness checks of `LocalStack`.
    pub(crate) is_localstack: bool,
    /// Whether the console is served.
    pub(crate) has_console: bool,
    /// Each reset creates it.
    pub(crate) initial: InitialState,
    /// The certificate that clients must trust, in PEM, if the server has TLS.
    #[cfg(feature = "tls")]
    pub(crate) tls_root: OnceLock<Box<str>>,
    /// S3, which its server owns, once it is started.
    #[cfg(feature = "s3")]
    pub(crate) s3: OnceLock<Weak<s3::Content>>,
}

/// Creates the initial queues, topics and faults again.
pub(crate) struct InitialState(pub(crate) Box<dyn Fn(&Services) + Send + Sync>);

impl fmt::Debug for InitialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Services {
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
    ///
    /// # Errors
    /// The buckets of S3 are not in their initial state, since their files cannot be removed or created.
    #[cfg_attr(not(feature = "s3"), expect(clippy::unnecessary_wraps, reason = "only S3 can fail"))]
    pub(crate) fn reset(self: &Arc<Self>) -> Result<(), String> {
        self.triggers.stop();
        // Before the queues: no later queue may get an event or a notification of the time before.
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.discard_events();
        }
        self.sns.actions.reset();
        self.sqs.service().reset();
        (self.initial.0)(self);
        self.front.journal.reset();
        self.outgoing.log.clear();
        self.triggers.reset(self);
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.reset().map_err(|error| format!("cannot reset the buckets of S3: {error}"))?;
        }
        Ok(())
    }

    /// The metrics of every service.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn metrics(&self) -> Exposition {
        let mut text = self.sqs.metrics().await;
        self.sns.write_metrics(&mut text);
        self.sts.write_metrics(&mut text);
        self.sns.actions.write_metrics(&mut text);
        self.outgoing.log.write_metrics(&mut text);
        self.triggers.write_metrics(&mut text);
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.write_metrics(&mut text);
        }
        text
    }
}
