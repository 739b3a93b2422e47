//! The keys of objects. Pure.

/// Whether a key ends in a UUID, like those of this crate and of the Java and Python libraries. Other objects are never deleted,
/// whatever a pointer says.
pub(crate) fn ends_with_uuid(key: &str) -> bool {
    let Some(start) = key.len().checked_sub(36) else { return false };
    let Some(name) = key.get(start..) else { return false };
    name.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_in_a_uuid_whatever_stands_before_it() {
        const UUID: &str = "01234567-89ab-4cde-8f01-23456789ABCD";
        for ours in
            [UUID.to_owned(), format!("orders/{UUID}"), format!("Grüße {UUID}"), format!("{UUID}{UUID}")]
        {
            assert!(ends_with_uuid(&ours), "{ours}");
        }
        let undivided = UUID.replace('-', "0");
        for other in ["", "backups/db.dump", &UUID[1..], &format!("{UUID}x"), &"ü".repeat(36), &undivided] {
            assert!(!ends_with_uuid(other), "{other}");
        }
    }
}
