//! Reads in concurrent ranges.

use futures_util::StreamExt as _;

use crate::error::ErrorKind;
use crate::payload::body::Body;
use crate::payload::body::Options;
use crate::payload::tests::scripted::Get;
use crate::payload::tests::scripted::Scripted;
use crate::payload::tests::text;

/// Reads in ranges of 1,000 bytes, three at once.
async fn in_ranges(store: &Scripted, length: usize) -> Body {
    let mut options = Options::default();
    (options.plan.range, options.plan.at_once) = (1_000, 3);
    store.open_with(length as u64, None, options).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn concurrent_ranges_are_returned_in_order() {
    for length in [0, 1, 1_000, 1_001, 10_500] {
        let store =
            Scripted::holding(text(length)).then(Get::End(600)).then(Get::Break(300)).then(Get::Break(9));
        assert_eq!(in_ranges(&store, length).await.collect(length).await.unwrap(), text(length), "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn ranges_that_are_read_ahead_are_limited() {
    let store = Scripted::holding(text(10_500));
    let mut body = in_ranges(&store, 10_500).await;
    body.next().await.unwrap().unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(9)).await;
    assert_eq!(store.froms(), [0, 1_000, 2_000]);
    drop(body);
    tokio::time::sleep(std::time::Duration::from_secs(9)).await;
    assert_eq!(store.froms().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn ranges_of_two_versions_are_damaged() {
    let store = Scripted::holding(text(5_000)).then(Get::End(1_000)).then(Get::End(1_000));
    let store = store.then(Get::Overwrite(text(5_000)));
    let error = in_ranges(&store, 5_000).await.collect(5_000).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[tokio::test(start_paused = true)]
async fn object_without_tags_is_read_in_one_request() {
    let store = Scripted::holding(text(5_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(in_ranges(&store, 5_000).await.collect(5_000).await.unwrap(), text(5_000));
    assert_eq!(store.froms(), [0, 0]);
}
