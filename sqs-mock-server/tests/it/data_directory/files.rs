//! Which files a start accepts, and what a stop leaves.

use std::fs;

use rusqlite::Connection;
use sqs_mock_server::{Data, Durability, MockSqs};

use super::{file, filled, refused, start};

#[tokio::test]
async fn second_server_on_a_directory_is_refused() {
    let directory = filled().await;
    let _server = start(directory.path()).await;
    let error = refused(directory.path()).await;
    assert!(error.contains("sqs.db is in use by another server"), "{error}");
}

#[tokio::test]
async fn graceful_stop_leaves_one_file() {
    for durability in [Durability::Process, Durability::Power] {
        let directory = tempfile::tempdir().unwrap();
        let data = Data::new(directory.path()).durability(durability);
        let server = MockSqs::builder().data_dir(data).start().await.unwrap();
        server.client().create_queue().queue_name("orders").send().await.unwrap();
        server.shutdown().await;
        let files: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["sqs.db"]);
    }
}

#[tokio::test]
async fn truncated_file_is_refused() {
    let directory = filled().await;
    let size = fs::metadata(file(&directory)).unwrap().len();
    for part in [3, 2, 0] {
        fs::File::options()
            .write(true)
            .open(file(&directory))
            .unwrap()
            .set_len(size / 4096 * part / 4 * 4096)
            .unwrap();
        let error = refused(directory.path()).await;
        assert!(error.contains("is damaged") && error.contains(".recover"), "{error}");
    }
}

#[tokio::test]
async fn file_with_a_changed_body_is_refused() {
    let directory = filled().await;
    let mut bytes = fs::read(file(&directory)).unwrap();
    let bodies: Vec<_> =
        (0..bytes.len() - 20).filter(|at| bytes[*at..].starts_with(b" xxxxxxxxxxxxxxxxxxx")).collect();
    for at in bodies {
        bytes[at + 1] = b'y';
    }
    fs::write(file(&directory), bytes).unwrap();
    let error = refused(directory.path()).await;
    assert!(error.contains("does not have its checksum"), "{error}");
}

#[tokio::test]
async fn file_of_another_program_or_a_later_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(file(&directory), "not a database, but long enough to have a header".repeat(100)).unwrap();
    let error = refused(directory.path()).await;
    assert!(error.contains("is not a file of sqs-mock-server"), "{error}");

    fs::remove_file(file(&directory)).unwrap();
    Connection::open(file(&directory)).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let theirs = fs::read(file(&directory)).unwrap();
    let error = refused(directory.path()).await;
    assert!(fs::read(file(&directory)).unwrap() == theirs, "the file of another program is unchanged");
    assert!(error.contains("is the database of another program"), "{error}");

    let directory = filled().await;
    Connection::open(file(&directory)).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = refused(directory.path()).await;
    assert!(error.contains("has version 99") && error.contains("use a later server"), "{error}");
}

/// The handle that the server of `version_1.sql` gave for the message in flight.
const HANDLE: &str = "AQEBIgJNr+GnRsxiRp2XY9gUWTKFz7dx0T/DHhyS5uKXBjJVqFH4eE8IHUW3wlc9TUoCllCRQKyPbCFOckyEfETP6Nq32qeIAHa7P8VyMITjG3OzKbRrkjSmIvDnP2huq/ooRpGQ2IDcE0C3cJYW8OBPdvreqRkue2laFgwtewEj4QqK7eEaZXzJQ820CqcGj3sfixOx/Dein3dVQpQbLZNZuuE/IOP7Kao1Thmxy69tnreftVb7ET9nih9h0KkIVsk+okqpA1gitrVloU6ualvW/UqOVBeuyUQY5c3zOM7FJZcI0FWKIv9XQKHbIm5p/pJmfBwP1w+Xn3w5wzZWSkTMCOen+ylb+NJ4ldZ+CnWK2xf+ICoUt0r3trtbvvNJiRO2H/UtKi7lXTm/CKiBjGkG4dsctovBqV0j6Mv2IVJW0wP5gXRK4cQg2QQfv4H36mG+dSFfsw==";

#[tokio::test]
async fn file_of_the_first_version_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    Connection::open(file(&directory)).unwrap().execute_batch(include_str!("version_1.sql")).unwrap();
    let server = MockSqs::builder().data_dir(directory.path()).one_minute_rules(true).start().await.unwrap();
    let client = server.client();

    let counts = server.queue("orders").counts().unwrap();
    assert_eq!((counts.available, counts.in_flight, counts.delayed), (1, 1, 1));
    let url = server.queue_url("orders");
    client.delete_message().queue_url(&url).receipt_handle(HANDLE).send().await.unwrap();
    assert_eq!(server.queue("orders").bodies(), ["cake", "bread"]);
    assert_eq!(server.queue("burnt").bodies(), ["burnt soup", "direct"]);

    let send = client.send_message().queue_url(server.queue_url("jobs.fifo")).message_body("again");
    send.message_group_id("a").message_deduplication_id("1").send().await.unwrap();
    assert_eq!(server.queue("jobs.fifo").bodies(), ["job 1", "job 2"]);
    let error = client.create_queue().queue_name("gone").send().await.unwrap_err();
    assert!(error.is_queue_deleted_recently(), "{error}");
}

#[tokio::test]
async fn directory_that_cannot_be_created_or_written_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "text").unwrap();
    let error = refused(&file.join("data")).await;
    assert!(error.contains("cannot create the data directory"), "{error}");
    let error = refused(&file).await;
    assert!(error.ends_with("/file: it is not a directory"), "{error}");

    let taken = directory.path().join("taken");
    fs::create_dir_all(taken.join("sqs.db/inside")).unwrap();
    let error = refused(&taken).await;
    assert!(error.contains("must be writable") || error.contains("cannot open"), "{error}");
}

/// A refusal must not lose what a repair needs.
#[tokio::test]
async fn file_with_a_damaged_row_is_refused_and_not_changed() {
    let directory = filled().await;
    let connection = Connection::open(file(&directory)).unwrap();
    connection.execute("UPDATE message SET state = 'lost' WHERE id % 2 = 0", []).unwrap();
    connection.close().unwrap();
    let before = fs::read(file(&directory)).unwrap();
    let error = refused(directory.path()).await;
    assert!(error.contains("a message has the state \"lost\""), "{error}");
    assert!(fs::read(file(&directory)).unwrap() == before, "it is unchanged");
}

#[cfg(feature = "s3")]
#[tokio::test]
async fn queues_and_objects_share_a_directory() {
    use sqs_mock_server::s3::S3;

    let directory = tempfile::tempdir().unwrap();
    let start = || {
        let objects = S3::in_dir(directory.path().join("s3")).bucket("payloads");
        MockSqs::builder().data_dir(directory.path()).s3(objects).start()
    };
    let server = start().await.unwrap();
    server.client().create_queue().queue_name("orders").send().await.unwrap();
    server.shutdown().await;
    let server = start().await.unwrap();
    assert!(server.queue("orders").exists());
    assert_eq!(server.s3().buckets(), ["payloads"]);
}
