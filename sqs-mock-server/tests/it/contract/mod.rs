//! The contract with Amazon SQS, row by row, over real HTTP and in both protocols.
//!
//! The tests do not use the crates under test for requests and expected responses: names in forms (`form`), elements of
//! responses (`xml`) and codes (`code`) are repeated here. `ask` sends the same JSON in either protocol, and `answers`
//! checks the rules for all responses.
//!
//! | Section | Where |
//! |---|---|
//! | 1 endpoints, queue URLs | `queue_urls`, `callers` in the parent folder |
//! | 2 actions, required members | [`actions`]; lists in [`lists`], lower-case members in [`json_wire`] |
//! | 2.1 `ReceiveMessage` | [`receive`], [`received`] |
//! | 2.2 `SendMessage` | [`send`] |
//! | 2.3 `ListMessageMoveTasks` | [`move_tasks`] |
//! | 2.4 attributes of queues | [`attributes`], [`attribute_changes`] |
//! | 3.1, 3.2 AWS JSON: requests, responses | [`json_wire`] |
//! | 3.3 AWS JSON: errors | [`json_errors`]; both tables of codes in `code` |
//! | 4.1 Query: requests | [`query_wire`] |
//! | 4.2 Query: responses | [`query_answers`] |
//! | 4.3 GET, content negotiation | [`content_negotiation`]; every action in `accept` in the parent folder |
//! | 5.1 names, attributes by kind | [`names`] |
//! | 5.1 tags, permissions | [`tags`], [`permissions`] |
//! | 5.1 quotas of policies | [`policies`] |
//! | 5.1 redrive policies | [`redrive_policies`] |
//! | 5.2 create, delete, purge | [`timing`] |
//! | 5.3 messages | [`messages`], [`message_attributes`]; sizes of batches in [`batches`] |
//! | 5.4 batches | [`batches`] |
//! | 5.5 receiving, visibility | [`visibility`] |
//! | 5.6 receipt handles | [`receipt_handles`] |
//! | 6 MD5, content ids | [`checksums`] |
//! | 7.1 standard queues | [`standard`] |
//! | 7.2 FIFO delivery | [`fifo`] |
//! | 7.1, 7.2 the caps in flight | [`in_flight`] |
//! | 7.3 deduplication | [`deduplication`] |
//! | 7.4 dead letters | [`dead_letters`] |
//! | 7.5 move tasks | [`move_tasks`], [`move_task_refusals`] |
//! | 7.6 throughput quotas | [`quotas`] |
//!
//! A doc line `Not recorded:` names the parts of a test that no recorded response of AWS confirms: AWS documents
//! them, an emulator has them, or they are decisions of this server.
//!
//! Not tested here, because this server never returns them: `InvalidAddress`, `InvalidSecurity`, `InvalidIdFormat`,
//! `MessageNotInflight`, the `KMS.` codes, and the service-wide codes of 3.3.

mod actions;
mod answers;
mod ask;
mod attribute_changes;
mod attributes;
mod batches;
mod checksums;
mod code;
mod content_negotiation;
mod dead_letters;
mod deduplication;
mod fifo;
mod form;
mod in_flight;
mod json_errors;
mod json_wire;
mod lists;
mod message_attributes;
mod messages;
mod move_task_refusals;
mod move_tasks;
mod names;
mod permissions;
mod policies;
mod query_answers;
mod query_wire;
mod quotas;
mod receipt_handles;
mod receive;
mod received;
mod redrive_policies;
mod send;
mod standard;
mod tags;
mod timing;
mod visibility;
mod xml;
