//! Uploads in parts that never ended, as a store lists them.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqs_client::config::retry::RetryConfig;
use sqs_extended::{PayloadStore as _, Pointer};
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::S3Action;

use super::beside::{Beside, OLD};
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
    // All are old now. Others' names are left alone, and one of ours is not.
    let ours = "odd/01234567-89ab-4cde-8f01-23456789abcd";
    s3.create_multipart_upload().bucket(BUCKET).key(ours).send().await.unwrap();
    beside.server.clock().advance(OLD + Duration::from_secs(1));
    let report = Beside::sweep(&client).delete().run().await.unwrap();
    assert_eq!(report.unfinished.iter().map(|upload| upload.key.as_str()).collect::<Vec<_>>(), [ours]);
    assert_eq!((report.progress.aborted, beside.uploads()), (1, seen));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_listing_that_is_cut_off_and_does_not_say_where_it_goes_on_is_an_error_and_no_report() {
    let beside = Beside::start().await;
    let client = beside.client(RetryConfig::disabled());
    for (action, name) in [
        (S3Action::ListObjectsV2, "ListBucketResult"),
        (S3Action::ListMultipartUploads, "ListMultipartUploadsResult"),
    ] {
        let listing = |rest: &str| format!("<{name}><Name>{BUCKET}</Name>{rest}</{name}>");
        for (rest, is_whole) in [("<IsTruncated>true</IsTruncated>", false), ("", true)] {
            beside.server.faults().clear();
            beside.server.faults().inject(Fault::status(200, listing(rest)).on_s3(action));
            let report = Beside::sweep(&client).run().await;
            assert_eq!(report.is_ok(), is_whole, "{name}: {report:?}");
            let Err(error) = report else { continue };
            let says = error.store_error().unwrap();
            assert!(
                !error.is_retryable() && says.to_string().contains("does not say where it goes on"),
                "{says}"
            );
        }
    }
}
