//! Which protocol a request speaks.

use http::header::{CONTENT_TYPE, HeaderMap};

use super::{X_AMZ_TARGET, json, text_of};
use crate::operation::Action;

/// Which protocol a request speaks, and which action it asks for.
///
/// AWS JSON is known by its header or media type; everything else is the Query protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Detected {
    /// AWS JSON; the error is the unknown target.
    AwsJson(Result<Action, String>),
    /// The Query protocol; the action is in the form.
    Query,
}

impl Detected {
    /// Looks at the headers of a request.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        if let Some(target) = headers.get(X_AMZ_TARGET) {
            let target = String::from_utf8_lossy(target.as_bytes());
            return Self::AwsJson(json::action(&target).ok_or_else(|| target.into_owned()));
        }
        match text_of(headers, &CONTENT_TYPE) {
            Some(media) if json::is_media_type(media) => Self::AwsJson(Err(String::new())),
            _ => Self::Query,
        }
    }
}
