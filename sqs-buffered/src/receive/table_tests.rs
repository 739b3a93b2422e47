use proptest::prelude::*;

use super::*;

const VISIBILITY: u32 = 30;

fn table() -> LeaseTable<&'static str> {
    LeaseTable::new(Schedule::new(VISIBILITY, Duration::from_secs(3_600)))
}

/// Opens a lease whose holder is this text.
fn open(table: &mut LeaseTable<&'static str>, now: Instant, holder: &'static str, chance: f64) -> Number {
    let mut given = None;
    table.open(
        now,
        |number| {
            given = Some(number);
            holder
        },
        chance,
    );
    given.expect("a number")
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn open_lease_is_renewed_at_half_of_its_time() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    assert_eq!(table.next_look(), Some(start + secs(15)));
    assert!(table.due(start + secs(14)).is_empty());
    assert_eq!(table.due(start + secs(15)), [Due::Renew(30, "m")]);
    assert_eq!(table.renewed(number, (start + secs(15), 30), Renewed::Done, start + secs(16), 0.5), None);
    assert_eq!(table.term(number).map(|term| term.deadline), Some(start + secs(43)));
    assert_eq!(table.next_look(), Some(start + secs(30)));
    assert!(table.end(number, start + secs(20)).is_some());
    assert_eq!((table.next_look(), table.due(start + secs(99))), (None, Vec::new()));
}

#[test]
fn lease_is_lost_when_refused_or_when_its_deadline_comes() {
    let (mut table, start) = (table(), Instant::now());
    let (refused, silent) = (open(&mut table, start, "refused", 0.5), open(&mut table, start, "silent", 0.5));
    assert_eq!(table.due(start + secs(15)).len(), 2);
    let asked = (start + secs(15), 30);
    assert_eq!(table.renewed(refused, asked, Renewed::Refused, start + secs(16), 0.5), Some("refused"));
    assert_eq!(table.due(start + secs(28)), [Due::Lost("silent")]);
    assert_eq!(
        table.renewed(silent, asked, Renewed::Done, start + secs(29), 0.5),
        None,
        "it was lost before"
    );
    assert_eq!((table.end(refused, start), table.end(silent, start)), (None, None));
}

#[test]
fn lease_is_lost_if_its_renewal_is_confirmed_after_the_deadline() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    table.due(start + secs(15));
    assert_eq!(
        table.renewed(number, (start + secs(15), 30), Renewed::Done, start + secs(28), 0.5),
        Some("m")
    );
}

#[test]
fn failed_renewal_is_tried_again_before_the_deadline() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    table.due(start + secs(15));
    table.renewed(number, (start + secs(15), 30), Renewed::Failed, start + secs(16), 0.5);
    assert_eq!(table.next_look(), Some(start + secs(19)), "a quarter of the twelve seconds left");
    assert_eq!(table.refresh(number, start + secs(17)), Some(false));
    assert_eq!(table.next_look(), Some(start + secs(19)), "nobody shortens the pause");
    assert_eq!(table.due(start + secs(19)), [Due::Renew(30, "m")]);
}

#[test]
fn lease_with_little_time_left_is_renewed_before_its_handler_starts() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 1.0);
    assert_eq!(table.refresh(number, start + secs(13)), Some(true));
    assert_eq!(table.refresh(number, start + secs(14)), Some(false));
    assert_eq!(table.due(start + secs(14)), [Due::Renew(30, "m")]);
    table.renewed(number, (start + secs(14), 30), Renewed::Done, start + secs(14), 0.5);
    assert_eq!(table.refresh(number, start + secs(14)), Some(true));
    table.end(number, start + secs(14));
    assert_eq!(table.refresh(number, start + secs(14)), None);
}

#[test]
fn extension_replaces_the_next_renewal_and_is_retried_if_it_fails() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    let request = table.extend(number, secs(7_200), start + secs(1)).expect("it is open");
    assert_eq!(table.granted(number, request), Ok(None));
    assert_eq!(table.due(start + secs(1)), [Due::Renew(7_200, "m")], "the usual limit is an hour");
    table.renewed(number, (start + secs(1), 7_200), Renewed::Failed, start + secs(2), 0.0);
    assert_eq!(table.due(start + secs(3)), [Due::Renew(7_200 - 2, "m")]);
    table.renewed(number, (start + secs(3), 7_198), Renewed::Done, start + secs(3), 0.5);
    assert_eq!(table.granted(number, request), Ok(Some(start + secs(7_199))));
    let less = table.extend(number, secs(5), start + secs(4)).expect("it is open");
    assert_eq!(table.granted(number, less), Ok(Some(start + secs(7_199))), "it has more than that");
    assert_eq!(
        table.next_look(),
        Some(start + secs(3 + 7_198 - 15)),
        "a renewal before would not make it longer"
    );
    table.end(number, start + secs(5));
    assert_eq!(
        (table.extend(number, secs(5), start), table.granted(number, request)),
        (None, Err(LeaseOver))
    );
}

#[test]
fn extension_is_granted_in_full_although_the_table_is_polled_later() {
    let (mut table, start) = (LeaseTable::new(Schedule::new(VISIBILITY, secs(100))), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    let request = table.extend(number, secs(500), start).expect("it is open");
    let late = start + Duration::from_micros(3);
    assert_eq!(table.due(late), [Due::Renew(500, "m")]);
    table.renewed(number, (late, 500), Renewed::Done, late, 0.5);
    assert_eq!(table.granted(number, request), Ok(Some(late + secs(498))));
}

#[test]
fn extended_lease_is_renewed_until_the_longest_lease() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    table.extend(number, secs(120), start).expect("it is open");
    let lost_after = loop {
        let now = table.next_look().expect("the lease is open").max(start);
        match table.due(now).as_slice() {
            [Due::Renew(seconds, _)] => {
                assert_eq!(table.renewed(number, (now, *seconds), Renewed::Done, now, 0.5), None);
            }
            [Due::Lost(_)] => break now - start,
            other => assert!(other.is_empty(), "{other:?}"),
        }
    };
    assert_eq!(lost_after, secs(3_598));
}

#[test]
fn unlimited_extension_is_granted_up_to_the_limit_of_sqs() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    table.extend(number, Duration::MAX, start).expect("it is open");
    assert_eq!(table.due(start), [Due::Renew(43_198, "m")]);
}

#[test]
fn extension_served_by_a_running_renewal_keeps_the_schedule() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "m", 0.5);
    assert_eq!(table.due(start + secs(15)), [Due::Renew(30, "m")]);
    let request = table.extend(number, secs(29), start + secs(15)).expect("it is open");
    table.renewed(number, (start + secs(15), 30), Renewed::Done, start + secs(16), 0.5);
    assert_eq!(table.due(start + secs(16)), [Due::Served("m")]);
    assert!(matches!(table.granted(number, request), Ok(Some(_))));
    assert_eq!(table.next_look(), Some(start + secs(30)));
    assert_eq!(table.due(start + secs(30)), [Due::Renew(30, "m")]);
}

#[test]
fn one_sweep_renews_all_leases_that_are_due_soon() {
    let (mut table, start) = (table(), Instant::now());
    for place in 0..25_u32 {
        open(&mut table, start, "m", f64::from(place) / 24.0);
    }
    open(&mut table, start + secs(1), "later", 0.0);
    let first = table.next_look().expect("a renewal");
    assert_eq!(first, start + Duration::from_millis(13_500));
    assert!(table.due(first - Duration::from_millis(1)).is_empty(), "nothing starts early by itself");
    let due = table.due(first);
    assert!(
        due.len() == 25 && due.iter().all(|due| *due == Due::Renew(30, "m")),
        "whatever their jitter: {due:?}"
    );
    assert_eq!(table.due(first), []);
    assert_eq!(table.next_look(), Some(start + Duration::from_millis(14_500)), "the one that came later");
}

#[test]
fn sweep_does_not_shorten_the_pause_after_a_failed_renewal() {
    let (mut table, start) = (table(), Instant::now());
    let number = open(&mut table, start, "failed", 0.5);
    table.due(start + secs(15));
    table.renewed(number, (start + secs(15), 30), Renewed::Failed, start + secs(16), 0.5);
    assert_eq!(table.next_look(), Some(start + secs(19)));
    open(&mut table, start + secs(3), "other", 0.5);
    assert_eq!(table.due(start + secs(18)), [Due::Renew(30, "other")]);
    assert_eq!(table.due(start + secs(19)), [Due::Renew(30, "failed")]);
}

#[derive(Clone, Debug)]
enum Event {
    Open,
    Pass(u64),
    Answer(prop::sample::Index, u8),
    End(prop::sample::Index),
    Freshen(prop::sample::Index),
    Want(prop::sample::Index, u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let which = any::<prop::sample::Index>;
    let event = prop_oneof![
        Just(Event::Open),
        (0_u64..20_000).prop_map(Event::Pass),
        (which(), 0_u8..4).prop_map(|(which, result)| Event::Answer(which, result)),
        which().prop_map(Event::End),
        which().prop_map(Event::Freshen),
        (which(), 0_u64..200_000).prop_map(|(which, millis)| Event::Want(which, millis)),
    ];
    prop::collection::vec(event, 0..300)
}

proptest! {
    /// No lease is renewed after its end or twice at a time. Every lease is renewed, ended or lost in time.
    #[test]
    fn no_renewal_follows_an_end_or_a_loss(events in events(), chance in 0.0_f64..=1.0) {
        let mut table: LeaseTable<Number> = LeaseTable::new(Schedule::new(VISIBILITY, secs(90)));
        let (start, mut now) = (Instant::now(), Instant::now());
        let (mut open, mut over): (Vec<Number>, Vec<Number>) = (Vec::new(), Vec::new());
        let mut renewing: Vec<(Number, Instant, u32)> = Vec::new();
        let mut requests: Vec<(Number, u64, Instant)> = Vec::new();
        for event in events {
            match event {
                Event::Open => open.push(table.open(now, |number| number, chance)),
                Event::Pass(millis) => now += Duration::from_millis(millis),
                Event::Answer(which, result) if !renewing.is_empty() => {
                    let (number, asked, seconds) = renewing.swap_remove(which.index(renewing.len()));
                    let result = [Renewed::Done, Renewed::Done, Renewed::Failed, Renewed::Refused][usize::from(result)];
                    let was_open = open.contains(&number);
                    if let Some(lost) = table.renewed(number, (asked, seconds), result, now, chance) {
                        prop_assert!(was_open && lost == number);
                        open.retain(|other| *other != number);
                        over.push(number);
                    } else if was_open && result == Renewed::Done {
                        prop_assert!(table.term(number).is_some_and(|term| term.deadline <= term.limit.max(term.received + secs(90))));
                    }
                }
                Event::End(which) if !open.is_empty() => {
                    let number = open.swap_remove(which.index(open.len()));
                    table.end(number, now);
                    over.push(number);
                }
                Event::Freshen(which) if !open.is_empty() => {
                    let number = open[which.index(open.len())];
                    if table.refresh(number, now) == Some(true) {
                        let deadline = table.term(number).map(|term| term.deadline);
                        prop_assert!(deadline.is_some_and(|deadline| deadline - now >= secs(15)));
                    }
                }
                Event::Want(which, millis) if !open.is_empty() => {
                    let number = open[which.index(open.len())];
                    if let Some(request) = table.extend(number, Duration::from_millis(millis), now) {
                        requests.push((number, request, now + Duration::from_millis(millis)));
                    }
                }
                _ => {}
            }
            for (number, request, until) in &requests {
                if let Ok(Some(deadline)) = table.granted(*number, *request) {
                    prop_assert!(deadline + secs(2) >= *until, "served in full");
                }
            }
            for due in table.due(now) {
                match due {
                    Due::Served(_) => {}
                    Due::Renew(seconds, number) => {
                        prop_assert!(!over.contains(&number), "{number} is over");
                        let still_renewing = |(other, ..): &(Number, _, _)| *other == number;
                        prop_assert!(!renewing.iter().any(still_renewing), "two renewals of {number}");
                        renewing.push((number, now, seconds));
                    }
                    Due::Lost(number) => {
                        prop_assert!(open.contains(&number));
                        open.retain(|other| *other != number);
                        over.push(number);
                    }
                }
            }
            prop_assert!(table.next_look().is_none_or(|at| at > now));
            prop_assert_eq!(table.next_look().is_some(), !open.is_empty());
            for number in &open {
                prop_assert!(table.term(*number).is_some_and(|term| term.deadline > now && term.received >= start));
            }
        }
    }
}
