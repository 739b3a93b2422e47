//! Uploads in parts that are dropped: `finish_cleanup` awaits their ends, which come in time.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use sqs_extended::{
    Error, ErrorKind, ExtendedClient, MultipartStore, Object, Part, Parts, Payload, PayloadStore, Pointer,
    StoreFuture, Upload,
};
use sqs_mock_server::MockSqs;
use tokio::time::{Instant, sleep, timeout};

const STORE_TIMEOUT: Duration = Duration::from_secs(8);

/// A store whose calls take as long as this says, and that keeps nothing.
#[derive(Clone, Default)]
struct Slow {
    begin: Duration,
    part: Duration,
    abort: Duration,
    ended: Arc<Mutex<Vec<&'static str>>>,
}

impl Slow {
    fn call<T: Default + Send + 'static>(
        &self,
        name: &'static str,
        time: Duration,
    ) -> StoreFuture<'static, T> {
        let ended = Arc::clone(&self.ended);
        Box::pin(async move {
            sleep(time).await;
            ended.lock().unwrap().push(name);
            Ok(T::default())
        })
    }

    fn ended(&self) -> Vec<&'static str> {
        self.ended.lock().unwrap().clone()
    }

    /// Drops a send after a second, then runs the cleanup. Returns how long it took.
    async fn cleanup_of_a_dropped_send(&self) -> Duration {
        let server = MockSqs::in_process();
        let url = server.client().create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let builder = ExtendedClient::builder(server.client(), self.clone()).store_timeout(STORE_TIMEOUT);
        let client = builder.build().unwrap();
        let pieces = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 100])));
        let send = client.send_stream(&url, Payload::from_stream(pieces)).send();
        assert!(timeout(Duration::from_secs(1), send).await.is_err());
        let dropped = Instant::now();
        client.finish_cleanup().await;
        dropped.elapsed()
    }
}

impl PayloadStore for Slow {
    fn bucket(&self) -> &'static str {
        "b"
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(Parts::new(upload, 1_000).upload(self, at, 2))
    }

    fn get<'a>(
        &'a self,
        _: &'a Pointer,
        _: Option<Range<u64>>,
        _: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async { Err(Error::new(ErrorKind::NotFound, "it keeps nothing")) })
    }

    fn delete<'a>(&'a self, _: &'a Pointer) -> StoreFuture<'a, ()> {
        self.call("delete", Duration::ZERO)
    }
}

impl MultipartStore for Slow {
    type Upload = ();
    type Part = ();

    fn begin<'a>(&'a self, _: &'a Pointer, _: Option<String>) -> StoreFuture<'a, ()> {
        self.call("begin", self.begin)
    }

    fn part(&self, _: &Arc<()>, _: u32, _: Part) -> StoreFuture<'static, ()> {
        self.call("part", self.part)
    }

    fn complete<'a>(&'a self, _: &'a Arc<()>, _: Vec<()>, _: u64) -> StoreFuture<'a, ()> {
        self.call("complete", Duration::ZERO)
    }

    fn abort<'a>(&'a self, _: &'a Arc<()>) -> StoreFuture<'a, ()> {
        self.call("abort", self.abort)
    }
}

#[tokio::test(start_paused = true)]
async fn cleanup_awaits_the_abort_of_a_dropped_upload() {
    let abort = Duration::from_secs(5);
    let store = Slow { part: Duration::from_secs(3), abort, ..Slow::default() };
    assert_eq!(store.cleanup_of_a_dropped_send().await, abort);
    assert_eq!(store.ended(), ["begin", "delete", "delete", "abort"]);
}

#[tokio::test(start_paused = true)]
async fn upload_that_begins_after_its_send_was_dropped_is_aborted() {
    let (begin, abort) = (Duration::from_secs(4), Duration::from_secs(5));
    let store = Slow { begin, abort, ..Slow::default() };
    assert_eq!(store.cleanup_of_a_dropped_send().await, Duration::from_secs(3) + abort);
    assert_eq!(store.ended(), ["delete", "delete", "begin", "abort"]);
}

#[tokio::test(start_paused = true)]
async fn upload_that_never_begins_and_abort_that_never_ends_are_given_up() {
    let forever = Duration::from_secs(1 << 30);
    let store = Slow { begin: forever, ..Slow::default() };
    assert_eq!(store.cleanup_of_a_dropped_send().await + Duration::from_secs(1), STORE_TIMEOUT);
    let store = Slow { part: forever, abort: forever, ..Slow::default() };
    assert_eq!(store.cleanup_of_a_dropped_send().await, STORE_TIMEOUT);
}
