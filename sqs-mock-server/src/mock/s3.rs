//! The S3 server of an embedded server.

use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::MockSqs;
#[cfg(feature = "config-file")]
use super::buckets;
use crate::config::Config;
use crate::s3::{Front, Host, MockS3, S3, Targets};
#[cfg(feature = "sns")]
use crate::service::delivery::Publisher;
use crate::service::delivery::Queues;
#[cfg(feature = "sns")]
use crate::sns::ops::TopicPublisher;
use crate::sqs::ops::Service;

impl MockSqs {
    /// The S3 server.
    ///
    /// # Panics
    /// The server was started without S3: call [`s3`](super::MockSqsBuilder::s3), and start it with a socket.
    pub fn s3(&self) -> &MockS3 {
        match &self.s3 {
            Some(s3) => s3,
            None => panic!("this server has no S3: start it with MockSqs::builder().s3(S3::temporary())"),
        }
    }

    /// The base URL of S3, if it was started.
    pub fn s3_endpoint_url(&self) -> Option<&str> {
        self.s3.as_ref().map(MockS3::endpoint_url)
    }

    /// Starts S3. The result answers its requests on the connections of the SQS server.
    pub(super) fn start_s3(
        &mut self,
        settings: S3,
        listener: TcpListener,
        url: String,
        config: &Config,
    ) -> io::Result<Arc<Front>> {
        #[cfg(feature = "config-file")]
        let (settings, notifications) = buckets::initial(settings, config);
        #[cfg(not(feature = "config-file"))]
        let notifications = Vec::new();
        let names = Arc::clone(self.services.sqs.names());
        #[cfg(feature = "sns")]
        let topics: Option<Arc<dyn Publisher>> = Some(Arc::new(TopicPublisher::new(
            Arc::clone(&self.services.topics.sns),
            names.base_url(&names.own_host),
        )));
        #[cfg(not(feature = "sns"))]
        let topics = None;
        let queues: Arc<dyn Queues> = Arc::<Service>::clone(&self.service);
        let targets = Targets { queues, topics, account: names.account.clone() };
        let host = Host {
            clock: self.service.clock().clone(),
            faults: self.service.faults().clone(),
            seed: self.service.seed(),
            limits: config.limits,
            names,
            journal: Arc::clone(&self.services.journal),
            targets: Arc::new(targets),
            notifications,
        };
        let (s3, front) = MockS3::start(settings, listener, url, host)?;
        let _ = self.services.s3.set(s3.content());
        self.s3 = Some(s3);
        Ok(front)
    }
}
