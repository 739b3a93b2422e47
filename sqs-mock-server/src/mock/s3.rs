//! The S3 server of an embedded server, with the buckets of a config file.

use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::config::Config;
use crate::config::bucket::BucketDefinition;
use crate::config::file::Problem;
use crate::control::delivery::{Publisher, Queues};
use crate::http::tls::Acceptor;
use crate::mock::MockSqs;
use crate::mock::queues::duplicates;
use crate::s3::front::Front;
use crate::s3::notifications::Configuration;
use crate::s3::outbox::Targets;
use crate::s3::outbox::TopicPublisher;
use crate::s3::{Host, MockS3, S3};
use crate::sqs::service::Service;

impl MockSqs {
    /// The S3 server.
    ///
    /// # Panics
    /// The server was started without S3: call [`s3`](crate::mock::builder::MockSqsBuilder::s3), and start it with a socket.
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
    pub(crate) fn start_s3(
        &mut self,
        settings: S3,
        listener: Option<TcpListener>,
        url: String,
        config: &Config,
        tls: Option<Acceptor>,
    ) -> io::Result<Arc<Front>> {
        let (settings, notifications) = initial(settings, config);
        let names = Arc::clone(self.services.sqs.names());
        let topics: Arc<dyn Publisher> = Arc::new(TopicPublisher::new(
            Arc::clone(&self.services.sns.actions),
            names.base_url("http", &names.own_host),
        ));
        let queues: Arc<dyn Queues> = Arc::<Service>::clone(&self.service);
        let targets = Targets { queues, topics, account: names.account.clone() };
        let host = Host {
            clock: self.service.clock().clone(),
            faults: self.service.faults().clone(),
            seed: self.service.seed(),
            limits: config.limits,
            tls,
            names,
            journal: Arc::clone(&self.services.front.journal),
            targets: Arc::new(targets),
            notifications,
        };
        let (s3, front) = MockS3::start(settings, listener, url, host)?;
        let _ = self.services.s3.set(s3.content());
        self.s3 = Some(s3);
        Ok(front)
    }
}

/// The name of a bucket, with its notification configuration.
type Configured = (String, Configuration);

/// Adds the buckets of the file, which have no [`problems`], to the settings, and returns their notification
/// configurations.
fn initial(mut settings: S3, config: &Config) -> (S3, Vec<Configured>) {
    for BucketDefinition { name, .. } in &config.buckets {
        if !settings.buckets.contains(name) {
            settings.buckets.push(name.clone());
        }
    }
    let configured = config.buckets.iter().filter_map(|bucket| configuration(bucket, config).ok()?);
    (settings, configured.collect())
}

/// Conflicts between buckets, and notifications that S3 would reject.
pub(crate) fn problems(config: &Config) -> Vec<Problem> {
    let paths: Vec<_> = (0..config.buckets.len()).map(|at| format!("buckets[{at}]")).collect();
    let buckets = || paths.iter().zip(&config.buckets);
    let names = buckets().map(|(path, bucket)| (path.as_str(), &bucket.name));
    let mut found = duplicates("bucket", names, &config.source);
    for (path, bucket) in buckets() {
        if config.s3.as_ref().is_none_or(|s3| !s3.enabled) {
            found.push(Problem::new(path, crate::services::S3_IS_OFF));
        }
        let text = configuration(bucket, config).err();
        found.extend(text.map(|text| Problem::new(format!("{path}.notifications"), text)));
    }
    found
}

/// The notification configuration of a bucket, by the rules of `PutBucketNotificationConfiguration`. Its targets need not
/// exist.
fn configuration(bucket: &BucketDefinition, config: &Config) -> Result<Option<Configured>, String> {
    let Some(definitions) = &bucket.notifications else { return Ok(None) };
    let place = (config.region(), config.account());
    let rules = definitions.iter().map(|definition| definition.requested(place)).collect();
    let mut ids = (1..).map(|number: usize| format!("{}-{number}", bucket.name));
    let new_id = || ids.next().unwrap_or_default();
    let checked = Configuration::check(rules, false, config.region(), new_id);
    checked.map(|configuration| Some((bucket.name.clone(), configuration))).map_err(|fault| fault.to_string())
}
