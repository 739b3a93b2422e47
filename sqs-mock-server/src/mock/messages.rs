//! Messages as a table.

use std::fmt;

use crate::sqs::engine::PeekedMessage;
use crate::table::{Table, excerpt};

/// The maximum number of rows.
const ROWS: usize = 20;
/// The maximum number of characters of a body.
const BODY: usize = 48;

/// Shows messages, one per line.
pub(super) struct Messages<'m>(pub(super) &'m [PeekedMessage]);

impl fmt::Display for Messages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("  (no messages)\n");
        }
        let row = |message: &PeekedMessage| {
            [
                excerpt(message.body(), BODY),
                message.visibility.to_string(),
                message.receive_count.to_string(),
                message.group.as_deref().unwrap_or("-").to_owned(),
                message.id.to_string(),
            ]
        };
        let head = ["body", "state", "receives", "group", "id"];
        Table::new(head, self.0.iter().map(row), ROWS).fmt(f)
    }
}
