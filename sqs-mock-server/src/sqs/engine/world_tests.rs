use std::time::Duration;

use sqs_client::wire::service_error::ErrorCode;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn world(relaxed_timing: bool) -> World<u64> {
    World::after(0, Settings { relaxed_timing, ..Settings::default() })
}

fn with(names: &[&str]) -> World<u64> {
    let mut world = world(false);
    for name in names {
        world.create(START, name, |number| number).unwrap();
    }
    world
}

fn names(page: &Page) -> Vec<&str> {
    page.names.iter().map(|name| &**name).collect()
}

#[test]
fn creating_a_queue_again_gives_the_same_one() {
    let mut world = world(false);
    assert!(matches!(world.create(START, "a", |_| 7), Ok(Created::New)));
    let Ok(Created::Existing(existing)) = world.create(START, "a", |_| 8) else { panic!("new") };
    assert!(world.get("a").is_some_and(|cell| Arc::ptr_eq(cell, &existing) && **cell == 7));
    assert!(world.get("b").is_none());
}

#[test]
fn deleted_name_is_blocked_for_sixty_seconds() {
    let mut world = with(&["a"]);
    assert!(world.delete(START, "a").is_some());
    assert!(world.delete(START, "a").is_none());
    let error = world.create(START + Duration::from_millis(59_999), "a", |_| 0).unwrap_err();
    assert_eq!(error.code, ErrorCode::QueueDeletedRecently);
    assert!(world.create(START, "b", |_| 0).is_ok());
    assert!(world.create(START + Duration::from_mins(1), "a", |_| 0).is_ok());
}

#[test]
fn later_deletion_blocks_a_name_anew() {
    let mut world = with(&["a"]);
    world.delete(START, "a");
    world.create(START + Duration::from_mins(1), "a", |_| 0).unwrap();
    world.delete(START + Duration::from_mins(1), "a");
    assert!(world.create(START + Duration::from_secs(119), "a", |_| 0).is_err());
    assert!(world.create(START + Duration::from_mins(2), "a", |_| 0).is_ok());
}

#[test]
fn relaxed_timing_blocks_no_name() {
    let mut world = world(true);
    world.create(START, "a", |_| 0).unwrap();
    world.delete(START, "a");
    assert!(matches!(world.create(START, "a", |_| 0), Ok(Created::New)));
}

#[test]
fn successor_of_a_deleted_queue_gets_another_number() {
    let mut world = world(true);
    let numbers = [0, 1].map(|_| {
        assert!(matches!(world.create(START, "a", |number| number), Ok(Created::New)));
        world.delete(START, "a").map(|cell| *cell)
    });
    assert_ne!(numbers[0], numbers[1]);
}

#[test]
fn names_are_listed_in_order_and_by_prefix() {
    let world = with(&["b-2", "a", "b-1", "c", "b-3"]);
    assert_eq!(names(&world.list("", None, 10)), ["a", "b-1", "b-2", "b-3", "c"]);
    assert_eq!(names(&world.list("b-", None, 10)), ["b-1", "b-2", "b-3"]);
    assert!(world.list("x", None, 10).names.is_empty());
}

#[test]
fn list_goes_on_behind_the_last_name() {
    let world = with(&["a", "b-1", "b-2", "b-3", "c"]);
    let page = world.list("b", None, 2);
    assert_eq!((names(&page), page.more), (vec!["b-1", "b-2"], true));
    let page = world.list("b", Some("b-2"), 2);
    assert_eq!((names(&page), page.more), (vec!["b-3"], false));
    assert_eq!(names(&world.list("b", Some("a"), 1)), ["b-1"]);
}

#[test]
fn dead_letter_queue_knows_its_sources() {
    let mut world = with(&["a", "b", "dead"]);
    world.set_dead_letter_queue("a", Some("dead"));
    world.set_dead_letter_queue("b", Some("dead"));
    assert!(world.is_dead_letter_queue("dead"));
    assert_eq!(names(&world.sources_of("dead", None, 10)), ["a", "b"]);
    world.set_dead_letter_queue("a", Some("other"));
    world.delete(START, "b");
    assert!(!world.is_dead_letter_queue("dead"));
    assert_eq!(names(&world.sources_of("other", None, 10)), ["a"]);
    world.set_dead_letter_queue("never", Some("dead"));
    assert!(world.sources_of("dead", None, 10).names.is_empty());
}
