//! The buckets of a config file.

use super::queues::duplicates;
use crate::config::{BucketDefinition, Config, Problem};
use crate::s3::{Configuration, S3};

/// The name of a bucket, with its notification configuration.
type Configured = (String, Configuration);

/// Adds the buckets of the file, which have no [`problems`], to the settings, and returns their notification
/// configurations.
pub(super) fn initial(mut settings: S3, config: &Config) -> (S3, Vec<Configured>) {
    for BucketDefinition { name, .. } in &config.buckets {
        if !settings.buckets.contains(name) {
            settings.buckets.push(name.clone());
        }
    }
    let configured = config.buckets.iter().filter_map(|bucket| configuration(bucket, config).ok()?);
    (settings, configured.collect())
}

/// Conflicts between buckets, and notifications that S3 would reject.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let paths: Vec<_> = (0..config.buckets.len()).map(|at| format!("buckets[{at}]")).collect();
    let buckets = || paths.iter().zip(&config.buckets);
    let names = buckets().map(|(path, bucket)| (path.as_str(), &bucket.name));
    let mut found = duplicates("bucket", names, &config.source);
    for (path, bucket) in buckets() {
        if config.s3.is_none() {
            found.push(Problem::new(path, "S3 is off; [s3] or --with-s3 DIR starts it"));
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
