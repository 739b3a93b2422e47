//! Guides: one page for each topic.
// The pages and the README link to files of the repository. In rustdoc the first definition of a link wins, so links.md replaces
// those links.

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/testing-in-rust.md")]
pub mod testing_in_rust {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/other-languages.md")]
pub mod other_languages {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/clock.md")]
pub mod clock {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/faults.md")]
pub mod faults {}
#[cfg(feature = "explore")]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/explore.md")]
pub mod explore {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/inspecting.md")]
pub mod inspecting {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/console.md")]
pub mod console {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/config-file.md")]
pub mod config_file {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/fifo.md")]
pub mod fifo {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/dead-letters.md")]
pub mod dead_letters {}
#[cfg(feature = "s3")]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/s3.md")]
pub mod s3 {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/strict.md")]
pub mod strict {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/topics.md")]
pub mod topics {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/web-hooks.md")]
pub mod web_hooks {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/triggers.md")]
pub mod triggers {}
#[cfg(feature = "durable")]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/durable.md")]
pub mod durable {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/operating.md")]
pub mod operating {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/differences.md")]
pub mod differences {}
#[expect(clippy::doc_markdown, reason = "a generated table")]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/scoreboard.md")]
pub mod scoreboard {}
