use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn clock() -> Clock {
    Clock::starting_at(Timestamp::from_millis(1_000_000))
}

/// Lets woken tasks run without advancing tokio's paused clock.
async fn let_others_run() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn clock_follows_tokio_time() {
    let clock = clock();
    assert_eq!(clock.now().as_millis(), 1_000_000);
    tokio::time::advance(SECOND).await;
    assert_eq!(clock.now().as_millis(), 1_001_000);
}

#[tokio::test(start_paused = true)]
async fn frozen_clock_changes_only_by_advance() {
    let clock = clock();
    clock.freeze();
    tokio::time::advance(SECOND).await;
    assert_eq!(clock.now().as_millis(), 1_000_000);
    clock.advance(Duration::from_millis(5));
    assert_eq!(clock.now().as_millis(), 1_000_005);
    assert!(clock.is_frozen());
    clock.resume();
    assert_eq!(clock.now().as_millis(), 1_000_005);
    tokio::time::advance(SECOND).await;
    assert_eq!(clock.now().as_millis(), 1_001_005);
}

#[tokio::test(start_paused = true)]
async fn clock_near_the_epoch_survives_a_long_freeze() {
    let clock = Clock::starting_at(Timestamp::from_millis(5));
    clock.freeze();
    tokio::time::advance(SECOND).await;
    clock.resume();
    assert_eq!(clock.now().as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn sleeper_wakes_when_time_passes() {
    let clock = clock();
    let before = Instant::now();
    clock.sleep_until(clock.now() + SECOND).await;
    assert_eq!(before.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn sleeper_wakes_when_the_clock_is_advanced() {
    let clock = clock();
    let before = Instant::now();
    let sleeper = tokio::spawn({
        let clock = clock.clone();
        async move { clock.sleep_until(clock.now() + 3600 * SECOND).await }
    });
    let_others_run().await;
    clock.advance(3599 * SECOND);
    let_others_run().await;
    assert!(!sleeper.is_finished());
    clock.advance(SECOND);
    sleeper.await.unwrap();
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn sleeper_does_not_wake_while_the_clock_is_frozen() {
    let clock = clock();
    clock.freeze();
    let sleep = clock.sleep_until(clock.now() + SECOND);
    assert!(tokio::time::timeout(3600 * SECOND, sleep).await.is_err());
    let sleeper = tokio::spawn({
        let clock = clock.clone();
        async move { clock.sleep_until(clock.now() + SECOND).await }
    });
    let_others_run().await;
    clock.resume();
    sleeper.await.unwrap();
    assert_eq!(clock.now().as_millis(), 1_001_000);
}

#[test]
fn advance_by_the_maximum_does_not_overflow() {
    let clock = clock();
    clock.advance(Duration::MAX);
    clock.advance(Duration::MAX);
    assert!(clock.now() + Duration::MAX > Timestamp::from_millis(1));
    clock.freeze();
    clock.advance(Duration::MAX);
    assert!(clock.now().as_millis() > 1_000_000);
}

#[cfg(feature = "durable")]
#[tokio::test(start_paused = true)]
async fn restored_clock_has_the_setting_of_the_earlier_one() {
    let (earlier, later) = (clock(), clock());
    tokio::time::advance(SECOND).await;
    earlier.advance(3600 * SECOND);
    later.restore(earlier.setting());
    assert_eq!((later.setting(), later.offset_millis()), (earlier.setting(), earlier.offset_millis()));
    let system = later.now().as_millis().cast_signed() - later.offset_millis();
    tokio::time::advance(SECOND).await;
    assert_eq!(later.now().as_millis().cast_signed(), system + 1_000 + earlier.offset_millis());
    earlier.freeze();
    later.restore(earlier.setting());
    assert_eq!((later.now(), later.is_frozen()), (earlier.now(), true));
    for extreme in [ClockSetting::Running(i64::MIN), ClockSetting::Frozen(Timestamp::from_millis(u64::MAX))] {
        later.restore(extreme);
        assert_eq!(later.is_frozen(), later.now() > Timestamp::from_millis(0), "{extreme:?}");
    }
}
