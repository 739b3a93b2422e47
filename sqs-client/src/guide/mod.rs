//! Guides: one page for each topic.
// The pages and the README link to files of the repository. In rustdoc the first definition of a link wins, so links.md replaces
// those links.

#[cfg(feature = "aws-sdk-sqs")]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/aws-sdk.md")]
pub mod aws_sdk {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/checksums.md")]
pub mod checksums {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/credentials.md")]
pub mod credentials {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/errors.md")]
pub mod errors {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/protocols.md")]
pub mod protocols {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/retries-and-timeouts.md")]
pub mod retries_and_timeouts {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/testing.md")]
pub mod testing {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/transports.md")]
pub mod transports {}
