//! Guides: one page for each topic.
// The pages and the README link to files of the repository. In rustdoc the first definition of a link wins, so links.md replaces
// those links.

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/cleaning-up.md")]
pub mod cleaning_up {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/failures.md")]
pub mod failures {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/formats.md")]
pub mod formats {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/integrity.md")]
pub mod integrity {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/permissions.md")]
pub mod permissions {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/stores.md")]
pub mod stores {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/streaming.md")]
pub mod streaming {}
