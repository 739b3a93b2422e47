//! What breaks off.

use super::scripted::{Get, Scripted};
use super::text;
use crate::payload::PayloadErrorKind;
use crate::store::StoreErrorKind;

#[tokio::test(start_paused = true)]
async fn what_breaks_off_goes_on_where_it_broke_off() {
    let store = Scripted::holding(text(10_500)).then(Get::Break(3_000)).then(Get::End(2_500));
    let store = store.then(Get::Fail(StoreErrorKind::Unavailable));
    assert_eq!(store.read().await.unwrap(), text(10_500));
    assert_eq!(store.froms(), [0, 3_000, 5_500, 5_500]);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_again_and_again_is_given_up() {
    let store = (0..9).fold(Scripted::holding(text(5_000)), |store, _| store.then(Get::End(100)));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Store);
    assert_eq!(error.to_string(), "reading s3://b/k: it ended after 600 of 5000 bytes");
    assert_eq!(store.froms().len(), 6, "once, and five times more");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_overwritten_while_it_is_read_is_an_error() {
    for other in [text(5_000), text(4_000)] {
        let store = Scripted::holding(text(5_000)).then(Get::Break(1_000)).then(Get::Overwrite(other));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
        assert_eq!(error.store_error().unwrap().kind(), StoreErrorKind::Changed);
    }
}

#[tokio::test(start_paused = true)]
async fn without_tags_nothing_is_resumed() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(1_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(store.read().await.unwrap_err().kind(), PayloadErrorKind::Store);
    assert_eq!(store.froms(), [0]);
}

#[tokio::test(start_paused = true)]
async fn an_error_after_the_last_byte_is_one() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(5_000));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.to_string(), "broken as told", "the SDK says so of a wrong checksum");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_is_not_asked_for_again() {
    for kind in [StoreErrorKind::NotFound, StoreErrorKind::Forbidden, StoreErrorKind::Refused] {
        let store = Scripted::holding(text(10)).then(Get::Break(5)).then(Get::Fail(kind));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.store_error().unwrap().kind(), kind);
        assert_eq!(store.froms(), [0, 5]);
    }
}
