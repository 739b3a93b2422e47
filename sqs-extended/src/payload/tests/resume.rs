//! Interrupted reads.

use crate::error::ErrorKind;
use crate::payload::tests::scripted::Get;
use crate::payload::tests::scripted::Scripted;
use crate::payload::tests::text;

#[tokio::test(start_paused = true)]
async fn interrupted_read_is_resumed_where_it_broke() {
    let store = Scripted::holding(text(10_500)).then(Get::Break(3_000)).then(Get::End(2_500));
    let store = store.then(Get::Fail(ErrorKind::Unavailable));
    assert_eq!(store.read().await.unwrap(), text(10_500));
    assert_eq!(store.froms(), [0, 3_000, 5_500, 5_500]);
}

#[tokio::test(start_paused = true)]
async fn read_is_given_up_after_six_interruptions() {
    let store = (0..9).fold(Scripted::holding(text(5_000)), |store, _| store.then(Get::End(100)));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.to_string(), "reading s3://b/k: the body ended after 600 of 5000 bytes");
    assert_eq!(store.froms().len(), 6, "one attempt and five retries");
}

#[tokio::test(start_paused = true)]
async fn object_that_is_overwritten_while_it_is_read_is_damaged() {
    for other in [text(5_000), text(4_000)] {
        let store = Scripted::holding(text(5_000)).then(Get::Break(1_000)).then(Get::Overwrite(other));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn read_without_tags_is_not_resumed() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(1_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(store.read().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.froms(), [0]);
}

#[tokio::test(start_paused = true)]
async fn error_after_the_last_byte_is_reported() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(5_000));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.to_string(), "injected break");
}

#[tokio::test(start_paused = true)]
async fn permanent_error_is_not_retried() {
    for kind in [ErrorKind::NotFound, ErrorKind::Forbidden, ErrorKind::Rejected] {
        let store = Scripted::holding(text(10)).then(Get::Break(5)).then(Get::Fail(kind));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(store.froms(), [0, 5]);
    }
}
