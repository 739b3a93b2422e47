//! S3 beside SQS, in a config file.

use std::path::PathBuf;

use s3s::path::check_bucket_name;
use toml::de::DeValue;

use super::section::Section;
use super::value::{self, Read};
use crate::s3::{S3, no_bucket_name};

/// What a config file says about S3. Without a directory, there is none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Section {
    /// Where objects are kept.
    pub directory: Option<PathBuf>,
    /// Port to listen on; 0 takes a free one.
    pub port: Option<u16>,
    /// Buckets that are there from the start.
    pub buckets: Option<Vec<String>>,
}

impl S3Section {
    pub(super) fn read(mut section: Section<'_, '_>) -> Self {
        let read = Self {
            directory: section.required("directory", directory).map(|directory| directory.value),
            port: section.get("port", |value| value::number(value, &(0..=u16::MAX))),
            buckets: section.get("buckets", buckets),
        };
        section.finish();
        read
    }

    /// The settings, when a directory is named.
    pub(super) fn settings(self) -> Option<S3> {
        let settings = S3::in_dir(self.directory?).port(self.port.unwrap_or(0));
        Some(self.buckets.into_iter().flatten().fold(settings, S3::bucket))
    }
}

fn directory(value: &DeValue<'_>) -> Read<PathBuf> {
    match value::text(value)? {
        text if text.is_empty() => Err("it is empty; allowed is the path of a directory".to_owned()),
        text => Ok(text.into()),
    }
}

fn buckets(value: &DeValue<'_>) -> Read<Vec<String>> {
    let wrong = || format!("it is of type {}; allowed is a list of names in quotes", value.type_str());
    let names = value.as_array().ok_or_else(wrong)?.iter().map(|name| value::text(name.get_ref()));
    let checked = names.map(|name| {
        name.and_then(|name| if check_bucket_name(&name) { Ok(name) } else { Err(no_bucket_name(&name)) })
    });
    checked.collect()
}
