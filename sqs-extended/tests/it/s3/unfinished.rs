//! Uploads in parts that never ended, as a store lists them.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use sqs_client::config::retry::RetryConfig;
use sqs_extended::{PayloadStore as _, Pointer};

use super::beside::Beside;
use super::rig::{BUCKET, client};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn uploads_that_never_ended_come_in_pages() {
    let beside = Beside::start().await;
    let (client, s3) = (beside.client(RetryConfig::disabled()), client(beside.s3().endpoint_url()));
    // A page has a thousand. Some are of the same key, and keys may have any characters.
    let keys = (0..1_003).map(|number| format!("odd \"key\"/{:04}", number / 2));
    let begin = |key| s3.create_multipart_upload().bucket(BUCKET).key(key).send();
    let begun: Vec<_> = stream::iter(keys).map(begin).buffer_unordered(16).collect().await;
    assert!(begun.iter().all(Result::is_ok));
    let store = client.store();
    let (mut seen, mut pages, mut page) = (BTreeSet::new(), 0, None);
    loop {
        let listed = store.list_unfinished(BUCKET, "odd", page.as_deref()).await.unwrap();
        pages += 1;
        seen.extend(listed.uploads.into_iter().map(|upload| upload.id));
        page = listed.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!((pages, seen.len()), (2, 1_003));
    assert_eq!(seen, beside.uploads());
    assert!(store.list_unfinished(BUCKET, "even", None).await.unwrap().uploads.is_empty());
    assert!(store.list_unfinished(BUCKET, "odd", Some("no page")).await.is_err());
    // One that is not there any more is ended already.
    let at = Pointer::new(BUCKET, "odd \"key\"/0000");
    assert_eq!(store.abort_unfinished(&at, "none").await.map_err(|error| error.to_string()), Ok(()));
    let report = Beside::sweep(&client).delete().run().await.unwrap();
    assert_eq!(
        (report.progress.unfinished, beside.uploads().len()),
        (0, 1_003),
        "others' names are left alone"
    );
}
