//! Rules for batches. A fault of one entry fails the whole request.

use std::collections::HashSet;

use crate::service::query_error::QueryError;

const MAX_ENTRIES: usize = 10;
const MAX_ID: usize = 80;

/// Validates the ids of a batch.
///
/// # Errors
/// `EmptyBatchRequest`, `TooManyEntriesInBatchRequest`, `BatchEntryIdsNotDistinct` or `InvalidBatchEntryId`.
pub(crate) fn check_ids(ids: &[&str]) -> Result<(), QueryError> {
    if ids.is_empty() {
        return Err(refusal("EmptyBatchRequest", "The batch request doesn't contain any entries."));
    }
    if ids.len() > MAX_ENTRIES {
        let text = "The batch request contains more entries than permissible.";
        return Err(refusal("TooManyEntriesInBatchRequest", text));
    }
    let distinct: HashSet<_> = ids.iter().collect();
    if distinct.len() < ids.len() {
        let text = "Two or more batch entries in the request have the same Id.";
        return Err(refusal("BatchEntryIdsNotDistinct", text));
    }
    ids.iter().try_for_each(|id| check_id(id))
}

/// Validates the total size of a batch.
///
/// # Errors
/// `BatchRequestTooLong`.
pub(super) fn check_size(size: usize, maximum: usize) -> Result<(), QueryError> {
    let text = "The length of all the messages put together is more than the limit.";
    if size > maximum { Err(refusal("BatchRequestTooLong", text)) } else { Ok(()) }
}

fn check_id(id: &str) -> Result<(), QueryError> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let code = "InvalidBatchEntryId";
    if id.is_empty() || !id.bytes().all(is_legal) {
        let text = "The Id of a batch entry in the batch request contains an impermissible character:";
        return Err(refusal(code, format!("{text} {id}")));
    }
    if id.len() > MAX_ID {
        return Err(refusal(code, format!("The Id of a batch entry in the batch request is too long: {id}")));
    }
    Ok(())
}

fn refusal(code: &'static str, text: impl Into<String>) -> QueryError {
    QueryError::new(400, code, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 2.9.
    #[test]
    fn faults_of_ids_get_the_errors_of_aws() {
        let many: Vec<_> = (0..11).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let long = "a".repeat(81);
        let table: [(&[&str], &str, &str); 5] = [
            (&[], "EmptyBatchRequest", "The batch request doesn't contain any entries."),
            (
                &many,
                "TooManyEntriesInBatchRequest",
                "The batch request contains more entries than permissible.",
            ),
            (
                &["a", "b", "a"],
                "BatchEntryIdsNotDistinct",
                "Two or more batch entries in the request have the same Id.",
            ),
            (
                &["message.id"],
                "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request contains an impermissible character: message.id",
            ),
            (
                &[&long],
                "InvalidBatchEntryId",
                &format!("The Id of a batch entry in the batch request is too long: {long}"),
            ),
        ];
        for (ids, code, text) in table {
            let error = check_ids(ids).unwrap_err();
            assert_eq!((error.status, &*error.code, &*error.message), (400, code, text));
        }
        assert_eq!(check_ids(&["a-b_C1"]), Ok(()));
    }
}
