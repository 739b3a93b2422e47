//! The buckets of a config file.

use std::collections::BTreeMap;
use std::io;

use crate::config::{BucketDefinition, Config, Problem};
use crate::s3::{Configuration, S3};

/// The name of a bucket, with its notification configuration.
type Configured = (String, Configuration);

/// Adds the buckets of the file to the settings, and returns their notification configurations.
///
/// # Errors
/// As [`check`].
pub(super) fn initial(mut settings: S3, config: &Config) -> io::Result<(S3, Vec<Configured>)> {
    for BucketDefinition { name, .. } in &config.buckets {
        if !settings.buckets.contains(name) {
            settings.buckets.push(name.clone());
        }
    }
    Ok((settings, configurations(config)?))
}

/// Checks the buckets of the file.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], with a line of text for each problem.
pub(super) fn check(config: &Config) -> io::Result<()> {
    configurations(config).map(drop)
}

fn configurations(config: &Config) -> io::Result<Vec<Configured>> {
    let (mut configured, mut problems) = (Vec::new(), Vec::new());
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, bucket) in config.buckets.iter().enumerate() {
        if config.s3.is_none() {
            problems
                .push(Problem::new(format!("buckets[{at}]"), "S3 is off; [s3] or --with-s3 DIR starts it"));
        }
        if let Some(first) = defined.insert(&bucket.name, at) {
            let first = config.source.line(&format!("buckets[{first}].name"));
            let text = format!("duplicate bucket name; first defined at {first}");
            problems.push(Problem::new(format!("buckets[{at}].name"), text));
        }
        match configuration(bucket, config) {
            Ok(configuration) => configured.extend(configuration),
            Err(text) => problems.push(Problem::new(format!("buckets[{at}].notifications"), text)),
        }
    }
    if problems.is_empty() { Ok(configured) } else { Err(config.source.refuse(problems)) }
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
