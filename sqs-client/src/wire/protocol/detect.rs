//! Detects the protocol of a request.

use http::header::{CONTENT_TYPE, HeaderMap};

use super::{X_AMZ_TARGET, json, text_of};
use crate::wire::model::Action;

/// The protocol of a request and, for AWS JSON, its action.
///
/// A request with the header `X-Amz-Target` or the media type of AWS JSON uses AWS JSON. Any other request uses the Query
/// protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Detected {
    /// AWS JSON. `Err` contains an unknown `X-Amz-Target`.
    AwsJson(Result<Action, String>),
    /// The Query protocol. The form contains the action.
    Query,
}

impl Detected {
    /// Detects the protocol from the headers of a request.
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
