//! Errors of `object_store`.

use object_store::Error as Foreign;

use crate::error::{Error, ErrorKind};

/// A failed call. "Not found" is rejected: a missing bucket or folder is not a missing object.
pub(super) fn failed(what: &str, error: Foreign) -> Error {
    let kind = match &error {
        Foreign::PermissionDenied { .. } | Foreign::Unauthenticated { .. } => ErrorKind::Forbidden,
        Foreign::AlreadyExists { .. } => ErrorKind::Exists,
        Foreign::Precondition { .. } | Foreign::NotModified { .. } => ErrorKind::Damaged,
        // `Generic` stands for failures of the network, of the service and of the request alike, so they count as
        // transient.
        Foreign::Generic { .. } | Foreign::JoinError { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::Rejected,
    };
    Error::new(kind, format!("{what}: {error}")).caused_by(error)
}
