//! Errors of a notification configuration.

use std::fmt;

use s3s::S3ErrorCode;

/// The text of the error `MalformedXML`.
pub(crate) const MALFORMED_XML: &str =
    "The XML you provided was not well-formed or did not validate against our published schema";

/// An error with the elements that name the faulty part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: S3ErrorCode,
    pub(crate) message: &'static str,
    /// Names and contents of further elements of the error, such as `ArgumentName`.
    pub(crate) elements: Vec<(String, String)>,
}

/// Why S3 cannot send notifications to a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UnusableTarget {
    /// It does not exist.
    Missing,
    /// Its policy does not allow S3 to send notifications of the bucket.
    Denied,
}

impl Fault {
    pub(super) fn plain(message: &'static str) -> Self {
        Self { code: S3ErrorCode::InvalidArgument, message, elements: Vec::new() }
    }

    pub(super) fn malformed() -> Self {
        Self { code: S3ErrorCode::MalformedXML, ..Self::plain(MALFORMED_XML) }
    }

    pub(super) fn argument(message: &'static str, name: &str, value: &str) -> Self {
        let elements = [("ArgumentName", name), ("ArgumentValue", value)];
        let elements = elements.map(|(element, text)| (element.to_owned(), text.to_owned())).into();
        Self { elements, ..Self::plain(message) }
    }

    /// The error for targets, each with its kind of resource, its ARN and its problem. The texts about topics and
    /// permissions are not recorded.
    pub(super) fn targets<'a>(
        unusable: impl IntoIterator<Item = (&'static str, &'a str, UnusableTarget)>,
    ) -> Option<Self> {
        let elements = unusable.into_iter().enumerate().flat_map(|(index, (resource, arn, problem))| {
            let text = match problem {
                UnusableTarget::Missing => format!("The destination {resource} does not exist"),
                UnusableTarget::Denied => format!(
                    "Permissions on the destination {resource} do not allow S3 to publish notifications from this bucket"
                ),
            };
            let number = index + 1;
            [(format!("ArgumentName{number}"), arn.to_owned()), (format!("ArgumentValue{number}"), text)]
        });
        let elements: Vec<_> = elements.collect();
        let message = "Unable to validate the following destination configurations";
        (!elements.is_empty()).then(|| Self { elements, ..Self::plain(message) })
    }
}

/// The message, and the contents of the further elements in parentheses.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)?;
        let contents: Vec<_> = self.elements.iter().map(|(_, text)| text.as_str()).collect();
        if contents.is_empty() { Ok(()) } else { write!(f, " ({})", contents.join(", ")) }
    }
}
