//! Orphans are found, and nothing else is deleted.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{
    ErrorKind, ExtendedClient, MemoryStore, Object, ObjectPage, PayloadStore, Pointer, SWEEP_MARGIN,
    StoreCall, StoreError, StoreErrorKind, StoreFault, Unfinished, UnfinishedPage, Upload,
};
use sqs_mock_server::faults::Fault;

use super::rig::{Rig, ServerClock, large};

const DAY: Duration = Duration::from_secs(86_400);
/// As long as a queue can keep a message, and the margin.
const OLD: Duration = Duration::from_secs(15 * 86_400);

fn uuid(number: usize) -> String {
    format!("orders/{number:08x}-0000-4000-8000-000000000000")
}

/// Old objects, young ones, and some of others.
async fn rig() -> Rig {
    let rig = Rig::new().await;
    for number in 0..25 {
        rig.store.overwrite(&Pointer::new("own", uuid(number)), "orphan");
    }
    rig.store.overwrite(&Pointer::new("own", "orders/readme.txt"), "not ours");
    rig.store.overwrite(&Pointer::new("own", uuid(1).replace("orders", "other")), "other prefix");
    rig.store.overwrite(&Pointer::new("foreign", uuid(1)), "other bucket");
    rig.server.clock().advance(OLD + Duration::from_secs(60));
    for number in 25..30 {
        rig.store.overwrite(&Pointer::new("own", uuid(number)), "young");
    }
    rig.store.set_page_size(7);
    rig
}

#[tokio::test(start_paused = true)]
async fn a_sweep_lists_orphans_and_deletes_nothing_unless_told_to() {
    let rig = rig().await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let (orphans, pages) = (Arc::clone(&told), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&pages);
    let sweep = rig.client.sweep("orders/", OLD);
    let sweep = sweep.on_orphan(move |orphan| orphans.lock().unwrap().push(orphan.key.clone()));
    let report = sweep.on_progress(move |progress| seen.lock().unwrap().push(progress.examined)).run().await;
    let report = report.unwrap();
    let expected: Vec<_> = (0..25).map(uuid).collect();
    assert_eq!(*told.lock().unwrap(), expected);
    assert_eq!(report.orphans.iter().map(|orphan| orphan.key.clone()).collect::<Vec<_>>(), expected);
    let progress = report.progress;
    assert_eq!((progress.examined, progress.orphans, progress.foreign, progress.deleted), (31, 25, 1, 0));
    assert_eq!(progress.orphaned_bytes, 25 * 6);
    assert_eq!(*pages.lock().unwrap(), [7, 14, 21, 28, 31]);
    assert_eq!(rig.store.objects().len(), 33);

    let report = rig.client.sweep("orders/", OLD).delete().run().await.unwrap();
    assert_eq!((report.progress.orphans, report.progress.deleted), (25, 25));
    assert_eq!(rig.store.objects().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_goes_on_when_a_delete_fails() {
    let rig = rig().await;
    rig.store.pass_next(StoreCall::Delete);
    rig.store.fail_next(StoreCall::Delete, StoreFault::Refuse(StoreErrorKind::Forbidden));
    let report = rig.client.sweep("orders/", OLD).delete().run().await.unwrap();
    assert_eq!((report.progress.deleted, report.progress.delete_failed), (24, 1));
    assert_eq!(report.first_error.unwrap().kind(), StoreErrorKind::Forbidden);
    rig.store.fail_next(StoreCall::List, StoreFault::Refuse(StoreErrorKind::Forbidden));
    let error = rig.client.sweep("orders/", OLD).run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn ages_that_could_cost_live_messages_their_payload_are_refused() {
    let rig = rig().await;
    for days in [0, 14] {
        let error = rig.client.sweep("", days * DAY).run().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("1296000 s is the least"), "{error}");
    }
    let margin = SWEEP_MARGIN.as_secs();
    // The queue keeps messages for four days, unless told otherwise.
    let sweep =
        |seconds| rig.client.sweep("", Duration::from_secs(seconds)).queues([&rig.url]).delete().run();
    assert!(sweep(4 * 86_400 + margin).await.is_ok());
    let error = sweep(4 * 86_400 + margin - 1).await.unwrap_err();
    assert!(error.to_string().contains("432000 s is the least"), "{error}");
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::MessageRetentionPeriod, "518400").send().await.unwrap();
    assert!(sweep(4 * 86_400 + margin).await.is_err());
    let deleted = rig.store.calls().deletes;
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied));
    assert_eq!(sweep(15 * 86_400).await.unwrap_err().kind(), ErrorKind::Client);
    let sweep = rig.client.sweep("", OLD).delete().unfinished_older_than(6 * DAY);
    assert!(sweep.run().await.unwrap_err().to_string().contains("604800 s is the least"));
    assert_eq!(rig.store.calls().deletes, deleted);
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_message_may_not_have_been_sent_is_found() {
    let rig = Rig::new().await;
    rig.server.faults().inject(Fault::reset_before().times(1));
    assert!(rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await.is_err());
    rig.server.clock().advance(OLD + Duration::from_secs(1));
    let report = rig.client.sweep("", OLD).delete().run().await.unwrap();
    assert_eq!(report.progress.deleted, 1);
    assert!(rig.store.objects().is_empty());
}

/// A store in memory with what none of its kind has: pages in a circle, and uploads that never ended.
#[derive(Clone)]
struct Odd {
    inside: MemoryStore,
    /// The pages that listings of objects name, over and over again.
    pages: Vec<&'static str>,
    uploads: Vec<Unfinished>,
    /// The ids of uploads that were ended.
    ended: Arc<Mutex<BTreeSet<String>>>,
}

impl PayloadStore for Odd {
    fn bucket(&self) -> &str {
        self.inside.bucket()
    }

    async fn put(&self, at: &Pointer, upload: Upload) -> Result<(), StoreError> {
        self.inside.put(at, upload).await
    }

    async fn get(&self, at: &Pointer, from: u64, tag: Option<&str>) -> Result<Object, StoreError> {
        self.inside.get(at, from, tag).await
    }

    async fn delete(&self, at: &Pointer) -> Result<(), StoreError> {
        self.inside.delete(at).await
    }

    async fn list(&self, bucket: &str, prefix: &str, page: Option<&str>) -> Result<ObjectPage, StoreError> {
        let place = self.pages.iter().position(|name| Some(*name) == page).map_or(0, |place| place + 1);
        let mut listed = self.inside.list(bucket, prefix, None).await?;
        listed.next = self.pages.get(place % self.pages.len().max(1)).map(ToString::to_string);
        Ok(listed)
    }

    async fn list_unfinished(
        &self,
        _: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<UnfinishedPage, StoreError> {
        let start = page.map_or(0, |page| page.parse().unwrap());
        let matching: Vec<_> = self.uploads.iter().filter(|upload| upload.key.starts_with(prefix)).collect();
        let page = matching.iter().skip(start).take(2).map(|upload| (*upload).clone()).collect();
        let next = (start + 2 < matching.len()).then(|| (start + 2).to_string());
        Ok(UnfinishedPage::new(page, next))
    }

    async fn abort_unfinished(&self, at: &Pointer, id: &str) -> Result<(), StoreError> {
        if id == "stuck" {
            return Err(StoreError::new(StoreErrorKind::Forbidden, "it is stuck"));
        }
        assert!(
            self.uploads.iter().any(|upload| (upload.key.as_str(), upload.id.as_str()) == (at.key(), id))
        );
        self.ended.lock().unwrap().insert(id.to_owned());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_goes_in_a_circle_is_an_error_and_no_report() {
    let rig = rig().await;
    for pages in [vec!["a"], vec!["a", "b"], vec!["a", "b", "c", "d", "e"]] {
        let store = Odd { inside: rig.store.clone(), pages, uploads: Vec::new(), ended: Arc::default() };
        let client = ExtendedClient::new(rig.base.clone(), store);
        let error = client.sweep("orders/", OLD).run().await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Download, false));
        let says = error.store_error().unwrap().to_string();
        assert!(says.contains("a second time"), "{says}");
    }
    assert_eq!(rig.store.calls().deletes, 0);
}

#[tokio::test(start_paused = true)]
async fn uploads_that_never_ended_are_found_by_their_age_and_ended_when_told_to() {
    let server_time = |rig: &Rig| {
        std::time::SystemTime::UNIX_EPOCH + Duration::from_millis(rig.server.clock().now().as_millis())
    };
    let rig = Rig::new().await;
    let upload = |number, id| Unfinished::new(uuid(number), id, server_time(&rig));
    let mut uploads = vec![upload(0, "a"), upload(1, "b"), upload(1, "stuck"), upload(2, "c")];
    uploads.push(Unfinished::new("orders/readme.txt", "not ours", server_time(&rig)));
    rig.server.clock().advance(OLD + Duration::from_secs(60));
    uploads.push(Unfinished::new(uuid(3), "young", server_time(&rig)));
    let store = Odd { inside: rig.store.clone(), pages: vec![], uploads, ended: Arc::default() };
    let builder = ExtendedClient::builder(rig.base.clone(), store.clone());
    let client = builder.time_source(ServerClock(rig.server.clock().clone())).build().unwrap();

    let (told, pages) = <(Arc<Mutex<Vec<_>>>, Arc<Mutex<Vec<_>>>)>::default();
    let (names, seen) = (Arc::clone(&told), Arc::clone(&pages));
    let sweep = client.sweep("orders/", OLD);
    let sweep = sweep.on_unfinished(move |upload| names.lock().unwrap().push(upload.id.clone()));
    let sweep = sweep.on_progress(move |progress| seen.lock().unwrap().push(progress.unfinished));
    let report = sweep.run().await.unwrap();
    assert_eq!(*told.lock().unwrap(), ["a", "b", "stuck", "c"]);
    assert_eq!(*pages.lock().unwrap(), [0, 2, 4, 4], "the first page is one of objects");
    assert_eq!(
        report.unfinished.iter().map(|upload| upload.id.as_str()).collect::<Vec<_>>(),
        *told.lock().unwrap()
    );
    assert_eq!((report.progress.unfinished, report.progress.aborted, report.progress.orphans), (4, 0, 0));
    assert!(store.ended.lock().unwrap().is_empty());

    let report = client.sweep("orders/", OLD).delete().objects_only().run().await.unwrap();
    assert_eq!((report.progress.unfinished, store.ended.lock().unwrap().len()), (0, 0));

    let report = client.sweep("orders/", OLD).delete().run().await.unwrap();
    let first_error = report.first_error.unwrap();
    assert_eq!(first_error.kind(), StoreErrorKind::Forbidden);
    assert_eq!(report.progress.abort_failed, 1);
    assert_eq!(store.ended.lock().unwrap().iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}
