//! Guides: one page for each topic.
// The pages and the README link to files of the repository. In rustdoc the first definition of a link wins, so links.md replaces
// those links.

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/consuming.md")]
pub mod consuming {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/failures.md")]
pub mod failures {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/idempotency.md")]
pub mod idempotency {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/lambda.md")]
pub mod lambda {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/leases.md")]
pub mod leases {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/moving-from-celery.md")]
pub mod moving_from_celery {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/moving-from-spring-cloud-aws.md")]
pub mod moving_from_spring_cloud_aws {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/moving-from-sqs-consumer.md")]
pub mod moving_from_sqs_consumer {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/observability.md")]
pub mod observability {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/ordering-and-fifo.md")]
pub mod ordering_and_fifo {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/permissions.md")]
pub mod permissions {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/producing.md")]
pub mod producing {}
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/tuning.md")]
pub mod tuning {}
