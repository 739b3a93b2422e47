use std::time::Duration;

use sqs_client::wire::service_error::ErrorCode;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn directory(relaxed_timing: bool) -> QueueDirectory<u64> {
    QueueDirectory::after(0, Settings { relaxed_timing, ..Settings::default() })
}

fn with(names: &[&str]) -> QueueDirectory<u64> {
    let mut directory = directory(false);
    for name in names {
        directory.create(START, name, |number| number).unwrap();
    }
    directory
}

fn names(page: &Page) -> Vec<&str> {
    page.names.iter().map(|name| &**name).collect()
}

#[test]
fn repeated_create_returns_the_existing_queue() {
    let mut directory = directory(false);
    assert!(matches!(directory.create(START, "a", |_| 7), Ok(None)));
    let Ok(Some(existing)) = directory.create(START, "a", |_| 8) else { panic!("new") };
    assert!(directory.get("a").is_some_and(|cell| Arc::ptr_eq(cell, &existing) && **cell == 7));
    assert!(directory.get("b").is_none());
}

#[test]
fn deleted_name_is_blocked_for_sixty_seconds() {
    let mut directory = with(&["a"]);
    assert!(directory.delete(START, "a").is_some());
    assert!(directory.delete(START, "a").is_none());
    let error = directory.create(START + Duration::from_millis(59_999), "a", |_| 0).unwrap_err();
    assert_eq!(error.code, ErrorCode::QueueDeletedRecently);
    assert!(directory.create(START, "b", |_| 0).is_ok());
    assert!(directory.create(START + Duration::from_mins(1), "a", |_| 0).is_ok());
}

#[test]
fn second_deletion_blocks_the_name_for_sixty_seconds_again() {
    let mut directory = with(&["a"]);
    directory.delete(START, "a");
    directory.create(START + Duration::from_mins(1), "a", |_| 0).unwrap();
    directory.delete(START + Duration::from_mins(1), "a");
    assert!(directory.create(START + Duration::from_secs(119), "a", |_| 0).is_err());
    assert!(directory.create(START + Duration::from_mins(2), "a", |_| 0).is_ok());
}

#[test]
fn relaxed_timing_does_not_block_names() {
    let mut directory = directory(true);
    directory.create(START, "a", |_| 0).unwrap();
    directory.delete(START, "a");
    assert!(matches!(directory.create(START, "a", |_| 0), Ok(None)));
}

#[test]
fn queue_created_after_a_delete_gets_another_number() {
    let mut directory = directory(true);
    let numbers = [0, 1].map(|_| {
        assert!(matches!(directory.create(START, "a", |number| number), Ok(None)));
        directory.delete(START, "a").map(|cell| *cell)
    });
    assert_ne!(numbers[0], numbers[1]);
}

#[test]
fn names_are_listed_in_order_and_by_prefix() {
    let directory = with(&["b-2", "a", "b-1", "c", "b-3"]);
    assert_eq!(names(&directory.list("", None, 10)), ["a", "b-1", "b-2", "b-3", "c"]);
    assert_eq!(names(&directory.list("b-", None, 10)), ["b-1", "b-2", "b-3"]);
    assert!(directory.list("x", None, 10).names.is_empty());
}

#[test]
fn list_continues_after_the_last_name() {
    let directory = with(&["a", "b-1", "b-2", "b-3", "c"]);
    let page = directory.list("b", None, 2);
    assert_eq!((names(&page), page.more), (vec!["b-1", "b-2"], true));
    let page = directory.list("b", Some("b-2"), 2);
    assert_eq!((names(&page), page.more), (vec!["b-3"], false));
    assert_eq!(names(&directory.list("b", Some("a"), 1)), ["b-1"]);
}

#[test]
fn dead_letter_queue_lists_its_sources() {
    let mut directory = with(&["a", "b", "dead"]);
    directory.set_dead_letter_queue("a", Some("dead"));
    directory.set_dead_letter_queue("b", Some("dead"));
    assert!(directory.is_dead_letter_queue("dead"));
    assert_eq!(names(&directory.sources_of("dead", None, 10)), ["a", "b"]);
    directory.set_dead_letter_queue("a", Some("other"));
    directory.delete(START, "b");
    assert!(!directory.is_dead_letter_queue("dead"));
    assert_eq!(names(&directory.sources_of("other", None, 10)), ["a"]);
    directory.set_dead_letter_queue("never", Some("dead"));
    assert!(directory.sources_of("dead", None, 10).names.is_empty());
}
