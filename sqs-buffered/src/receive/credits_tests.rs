use proptest::prelude::*;

use super::*;

const DELAY: Duration = Duration::from_millis(500);

/// Messages that take so long leave the delay at its maximum.
const SLOW: Duration = Duration::from_secs(10);

/// The request of a receive that begins now.
fn ask(credits: &mut Credits, now: Instant) -> Option<Request> {
    if let Ask::Now(request) = credits.ask(now) { Some(request) } else { None }
}

fn messages(count: usize) -> impl Iterator<Item = Option<&'static Group>> {
    std::iter::repeat_n(None, count)
}

#[test]
fn receive_requests_ten_at_once_and_fewer_after_the_delay() {
    let start = Instant::now();
    let mut credits = Credits::new(13, DELAY);
    let first = ask(&mut credits, start).expect("ten are free");
    let second = ask(&mut credits, start).expect("there is no delay at the start");
    assert_eq!((first.messages, second.messages, credits.ask(start)), (10, 3, Ask::Not));
    credits.answered(first, messages(10));
    credits.answered(second, messages(3));
    for _ in 0..13 {
        credits.settled(None, false, SLOW, start);
    }
    assert_eq!(ask(&mut credits, start).map(|first| first.messages), Some(10));
    assert_eq!(credits.ask(start), Ask::At(start + DELAY), "three are free");
    assert_eq!(ask(&mut credits, start + DELAY).map(|second| second.messages), Some(3));
}

#[test]
fn free_place_waits_for_others_at_most_for_the_delay() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut credits = Credits::new(10, DELAY);
    let full = ask(&mut credits, start).expect("all are free");
    credits.answered(full, messages(10));
    assert_eq!(credits.ask(at(900)), Ask::Not);
    credits.settled(None, false, SLOW, at(1_000));
    credits.settled(None, false, SLOW, at(1_200));
    assert_eq!(credits.ask(at(1_499)), Ask::At(at(1_500)));
    let two = ask(&mut credits, at(1_500)).expect("the first has waited long enough");
    assert_eq!(two.messages, 2);
    credits.settled(None, false, SLOW, at(1_510));
    credits.answered(two, messages(2));
    assert_eq!(credits.ask(at(1_520)), Ask::At(at(2_010)), "each place has its own time");
    for _ in 0..9 {
        credits.settled(None, false, SLOW, at(1_600));
    }
    assert_eq!(
        ask(&mut credits, at(1_600)).map(|all| all.messages),
        Some(10),
        "a full receive waits for nothing"
    );
}

#[test]
fn unfilled_places_of_a_receive_are_requested_again_at_once() {
    let start = Instant::now();
    let mut credits = Credits::new(10, DELAY);
    let all = ask(&mut credits, start).expect("all are free");
    let later = start + Duration::from_secs(5);
    credits.answered(all, messages(1));
    assert_eq!(ask(&mut credits, later).map(|rest| rest.messages), Some(9));
}

#[test]
fn up_to_ten_messages_of_a_group_share_a_place() {
    let start = Instant::now();
    let group: Group = "hot".into();
    let mut credits = Credits::new(10, Duration::ZERO);
    let all = ask(&mut credits, start).expect("all are free");
    credits.answered(all, std::iter::repeat_n(Some(&group), 10));
    let rest = ask(&mut credits, start).expect("nine places are free");
    assert_eq!((rest.messages, credits.held()), (9, 10));
    credits.answered(rest, std::iter::repeat_n(Some(&group), 9));
    assert_eq!(ask(&mut credits, start).map(|rest| rest.messages), Some(8), "19 messages take two places");
    for left in (0..19_usize).rev() {
        credits.settled(Some(&group), false, SLOW, start);
        assert_eq!((credits.held(), credits.taken), (left, left.div_ceil(10)));
    }
    assert!(credits.groups.is_empty());
}

#[test]
fn messages_that_are_being_deleted_free_places_up_to_the_total() {
    let now = Instant::now();
    let mut credits = Credits::new(2, DELAY);
    for rooms in [[true, true], [false, false]] {
        let both = ask(&mut credits, now).expect("both are free");
        credits.answered(both, messages(2));
        assert_eq!([credits.make_room(None, SLOW, now), credits.make_room(None, SLOW, now)], rooms);
    }
    assert_eq!((credits.held(), credits.ask(now)), (4, Ask::Not));
    credits.settled(None, true, SLOW, now);
    assert!(credits.make_room(None, SLOW, now));
    assert_eq!(credits.ask(now), Ask::At(now + DELAY));
}

#[test]
fn at_most_ten_receives_run_at_a_time() {
    let now = Instant::now();
    let mut credits = Credits::new(1_000, DELAY);
    let asked: Vec<_> =
        std::iter::from_fn(|| ask(&mut credits, now)).map(|request| request.messages).collect();
    assert_eq!(asked, [10; 10]);
}

#[test]
fn quick_messages_shorten_the_delay_to_a_fifth_of_their_time() {
    let now = Instant::now();
    let mut credits = Credits::new(10, DELAY);
    let all = ask(&mut credits, now).expect("all are free");
    credits.answered(all, messages(10));
    credits.settled(None, false, Duration::from_millis(100), now);
    assert_eq!(credits.ask(now), Ask::At(now + Duration::from_millis(20)));
}

#[test]
fn changed_total_applies_at_once_and_held_messages_stay() {
    let now = Instant::now();
    let mut credits = Credits::new(20, DELAY);
    let first = ask(&mut credits, now).expect("ten are free");
    credits.answered(first, messages(10));
    credits.set_total(0, now);
    assert_eq!((credits.ask(now), credits.held()), (Ask::Not, 10), "paused");
    credits.set_total(30, now);
    assert_eq!(ask(&mut credits, now).map(|request| request.messages), Some(10));
    credits.set_total(5, now);
    for _ in 0..10 {
        assert_eq!(credits.ask(now), Ask::Not, "more messages are held than allowed");
        credits.settled(None, false, SLOW, now);
    }
}

/// Simulates a queue that always has messages, receives of 10 ms, and handlers of uneven (exponential) durations with
/// this mean. Returns the busy fraction of the places, and the messages per receive.
fn simulate(places: usize, mean: Duration) -> (f64, f64) {
    let start = Instant::now();
    let mut credits = Credits::new(places, DELAY);
    let mut seed = 42_u64;
    let mut handler_time = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chance = f64::from(u32::try_from(seed >> 33).expect("31 bits") + 1) / f64::from(1_u32 << 31);
        mean.mul_f64(-chance.ln())
    };
    let mut answers: BTreeMap<(Instant, usize), Request> = BTreeMap::new();
    let mut handlers: BTreeMap<(Instant, usize), Duration> = BTreeMap::new();
    let (mut now, mut number, mut receives, mut done, mut busy) = (start, 0, 0_u32, 0_u32, Duration::ZERO);
    while done < 20_000 {
        let timer = loop {
            match credits.ask(now) {
                Ask::Now(request) => {
                    number += 1;
                    receives += 1;
                    answers.insert((now + Duration::from_millis(10), number), request);
                }
                Ask::At(at) => break Some(at),
                Ask::Not => break None,
            }
        };
        let next = [
            timer,
            answers.first_key_value().map(|((at, _), _)| *at),
            handlers.first_key_value().map(|((at, _), _)| *at),
        ];
        now = next.into_iter().flatten().min().expect("something happens");
        while let Some(answer) = answers.first_entry().filter(|answer| answer.key().0 <= now) {
            let request = answer.remove();
            credits.answered(request, messages(request.messages));
            for _ in 0..request.messages {
                number += 1;
                let time = handler_time();
                handlers.insert((now + time, number), time);
            }
        }
        while let Some(handler) = handlers.first_entry().filter(|handler| handler.key().0 <= now) {
            let time = handler.remove();
            busy += time;
            done += 1;
            credits.settled(None, false, time, now);
        }
    }
    let places = f64::from(u32::try_from(places).expect("few places"));
    (busy.as_secs_f64() / (now - start).as_secs_f64() / places, f64::from(done) / f64::from(receives))
}

#[test]
fn uneven_handlers_leave_few_places_idle_and_share_receives() {
    let table = [
        (2, 500, 0.8, 1.1),
        (10, 50, 0.7, 2.2),
        (10, 1_000, 0.85, 2.4),
        (30, 50, 0.72, 5.0),
        (30, 1_000, 0.85, 5.5),
    ];
    for (places, millis, least_busy, least_messages) in table {
        let (busy, messages) = simulate(places, Duration::from_millis(millis));
        let result =
            format!("{places} places, {millis} ms: busy {busy:.2}, {messages:.1} messages a receive");
        assert!(busy >= least_busy && messages >= least_messages, "{result}");
    }
}

#[derive(Clone, Debug)]
enum Event {
    Pass(u64),
    Ask,
    /// Which receive, and which percentage of its request it gets.
    Answer(prop::sample::Index, usize),
    Settle(prop::sample::Index),
    MakeRoom(prop::sample::Index),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let index = any::<prop::sample::Index>;
    let event = prop_oneof![
        (0_u64..400).prop_map(Event::Pass),
        Just(Event::Ask),
        (index(), 0_usize..=100).prop_map(|(which, percent)| Event::Answer(which, percent)),
        index().prop_map(Event::Settle),
        index().prop_map(Event::MakeRoom),
    ];
    prop::collection::vec(event, 0..400)
}

/// The groups of the held messages, as a plain list.
fn places(here: &[Option<Group>]) -> usize {
    let mut groups: HashMap<&Group, usize> = HashMap::new();
    here.iter().flatten().for_each(|group| *groups.entry(group).or_default() += 1);
    here.iter().filter(|group| group.is_none()).count()
        + groups.values().map(|count| count.div_ceil(10)).sum::<usize>()
}

proptest! {
    /// Compares the credits with plain lists of all receives and messages.
    #[test]
    fn places_never_exceed_the_total_and_free_ones_are_requested_in_time(
        total in 0_usize..200,
        group_count in 0_usize..20,
        events in events(),
    ) {
        let groups: Vec<Group> = (0..group_count).map(|number| number.to_string().into()).collect();
        let mut now = Instant::now();
        let mut credits = Credits::new(total, DELAY);
        let (mut under_way, mut here, mut deleting): (Vec<Request>, Vec<Option<Group>>, Vec<_>) = Default::default();
        for event in events {
            match event {
                Event::Pass(millis) => now += Duration::from_millis(millis),
                Event::Ask => {
                    let unheld = total - places(&here);
                    let free = unheld - under_way.iter().map(|request| request.messages).sum::<usize>();
                    let may_receive = under_way.len() < unheld.div_ceil(10).min(10);
                    match credits.ask(now) {
                        Ask::Now(request) => {
                            prop_assert!(may_receive && request.messages > 0);
                            prop_assert_eq!(request.messages, free.min(10));
                            prop_assert!(free >= total.min(10) || request.since.is_none_or(|since| since + DELAY <= now));
                            under_way.push(request);
                        }
                        Ask::At(at) => prop_assert!(may_receive && (1..10).contains(&free) && at > now && at <= now + DELAY),
                        Ask::Not => prop_assert!(!may_receive || free == 0),
                    }
                }
                Event::Answer(which, percent) if !under_way.is_empty() => {
                    let request = under_way.swap_remove(which.index(under_way.len()));
                    let got = request.messages * percent / 100;
                    let brought: Vec<_> = (0..got).map(|number| groups.get(which.index(20 + number)).cloned()).collect();
                    credits.answered(request, brought.iter().map(Option::as_ref));
                    here.extend(brought);
                }
                Event::Settle(which) if !deleting.is_empty() => {
                    let group: Option<Group> = deleting.swap_remove(which.index(deleting.len()));
                    credits.settled(group.as_ref(), true, SLOW, now);
                }
                Event::Settle(which) if !here.is_empty() => {
                    let group = here.swap_remove(which.index(here.len()));
                    credits.settled(group.as_ref(), false, SLOW, now);
                }
                Event::MakeRoom(which) if !here.is_empty() => {
                    let which = which.index(here.len());
                    let may = credits.make_room(here[which].as_ref(), SLOW, now);
                    prop_assert_eq!(may, deleting.len() < total);
                    if may {
                        deleting.push(here.swap_remove(which));
                    }
                }
                Event::Answer(..) | Event::Settle(_) | Event::MakeRoom(_) => {}
            }
            let requested: usize = under_way.iter().map(|request| request.messages).sum();
            prop_assert!(deleting.len() <= total && places(&here) + requested <= total);
            prop_assert_eq!((credits.held(), credits.receives()), (here.len() + deleting.len(), under_way.len()));
        }
        // No deadlock: free places can be requested once the receives have ended and the delay has passed.
        for request in under_way {
            credits.answered(request, messages(0));
        }
        prop_assert_eq!(ask(&mut credits, now + DELAY).is_some(), places(&here) < total);
    }
}
