//! Tags of objects.

use aws_sdk_s3::Client;
use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{Tag, Tagging};
use serde_json::json;

use super::events::{announcing, brief, events};
use super::files::Directory;
use super::multipart::{complete, upload};
use super::notifications::exchange;
use super::{BUCKET, client, put, refusal, server};
use crate::wire::Wire;
use sqs_mock_server::MockSqs;

fn tagging(tags: &[(&str, &str)]) -> Tagging {
    let tag = |(key, value): &(&str, &str)| Tag::builder().key(*key).value(*value).build().unwrap();
    Tagging::builder().set_tag_set(Some(tags.iter().map(tag).collect())).build().unwrap()
}

/// The tags of an object, as `key=value`.
pub(super) async fn tags_of(client: &Client, key: &str) -> Vec<String> {
    let found = client.get_object_tagging().bucket(BUCKET).key(key).send().await.unwrap();
    found.tag_set().iter().map(|tag| format!("{}={}", tag.key(), tag.value())).collect()
}

#[tokio::test]
async fn tags_are_set_replaced_counted_and_deleted_without_a_new_date() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"tea").await;
    let stored = server.s3().object(BUCKET, "a").unwrap();
    server.clock().advance(std::time::Duration::from_secs(60));
    for (tags, expected) in [
        (vec![("shop", "x y"), ("colour", "")], vec!["colour=", "shop=x y"]),
        (vec![("b", "2")], vec!["b=2"]),
    ] {
        client.put_object_tagging().bucket(BUCKET).key("a").tagging(tagging(&tags)).send().await.unwrap();
        assert_eq!(tags_of(&client, "a").await, expected);
        let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
        assert_eq!(got.tag_count(), i32::try_from(tags.len()).ok());
        assert_eq!(got.body.collect().await.unwrap().to_vec(), b"tea");
        let head = exchange(server.s3().endpoint_url(), "HEAD /payloads/a", "", "").await;
        assert!(head.contains(&format!("x-amz-tagging-count: {}\r\n", tags.len())), "{head}");
    }
    client.delete_object_tagging().bucket(BUCKET).key("a").send().await.unwrap();
    assert!(tags_of(&client, "a").await.is_empty());
    let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert_eq!((got.tag_count(), server.s3().object(BUCKET, "a").unwrap()), (None, stored));
}

#[tokio::test]
async fn puts_and_uploads_take_tags_of_their_header() {
    let server = server().await;
    let client = client(&server);
    let stored = client.put_object().bucket(BUCKET).key("a").tagging("shop=x%20y&n");
    stored.body(b"tea".to_vec().into()).send().await.unwrap();
    assert_eq!(tags_of(&client, "a").await, ["n=", "shop=x y"]);
    put(&client, "a", b"tea").await;
    assert!(tags_of(&client, "a").await.is_empty(), "a put replaces the object with its tags");
    let begun =
        client.create_multipart_upload().bucket(BUCKET).key("big").tagging("b=1").send().await.unwrap();
    let id = begun.upload_id().unwrap();
    let part = upload(&client, "big", id, 1, b"tea").await;
    complete(&client, "big", id, &[part]).await;
    assert_eq!(tags_of(&client, "big").await, ["b=1"]);
}

#[tokio::test]
async fn invalid_tags_are_refused_and_change_nothing() {
    let server = server().await;
    let client = client(&server);
    let stored = client.put_object().bucket(BUCKET).key("a").tagging("kept=1");
    stored.body(b"tea".to_vec().into()).send().await.unwrap();
    let names: Vec<_> = (0..11).map(|at| format!("k{at}")).collect();
    let eleven: Vec<_> = names.iter().map(|name| (name.as_str(), "v")).collect();
    for (tags, code, message) in [
        (vec![("a", "1"), ("a", "2")], "InvalidTag", "Cannot provide multiple Tags with the same key"),
        (vec![("a,b", "1")], "InvalidTag", "The TagKey you have provided is invalid"),
        (vec![("a", "1;2")], "InvalidTag", "The TagValue you have provided is invalid"),
        (vec![("aws:a", "1")], "InvalidTag", "Your TagKey cannot be prefixed with aws:"),
        (eleven, "BadRequest", "Object tags cannot be greater than 10"),
    ] {
        let refused =
            client.put_object_tagging().bucket(BUCKET).key("a").tagging(tagging(&tags)).send().await;
        assert_eq!(refused.as_ref().unwrap_err().message(), Some(message));
        assert_eq!(refusal(refused), (400, code.to_owned()));
    }
    let refused = client.put_object().bucket(BUCKET).key("a").tagging("a=1&a=2").body(b"new".to_vec().into());
    assert_eq!(refusal(refused.send().await), (400, "InvalidArgument".to_owned()));
    assert_eq!(tags_of(&client, "a").await, ["kept=1"]);
    let document = "<Tagging><TagSet><Tag><Key>a,b</Key><Value>1</Value></Tag></TagSet></Tagging>";
    let answer = exchange(server.s3().endpoint_url(), "PUT /payloads/a?tagging", "", document).await;
    assert!(answer.contains("<TagKey>a,b</TagKey>"), "{answer}");
    for missing in [
        refusal(client.get_object_tagging().bucket(BUCKET).key("b").send().await),
        refusal(client.delete_object_tagging().bucket(BUCKET).key("b").send().await),
        refusal(client.put_object_tagging().bucket(BUCKET).key("b").tagging(tagging(&[])).send().await),
    ] {
        assert_eq!(missing, (404, "NoSuchKey".to_owned()));
    }
}

#[tokio::test]
async fn tags_survive_a_restart_and_objects_of_earlier_versions_have_none() {
    let directory = Directory::new("tags");
    let start = || MockSqs::builder().with_s3(&directory.0).start();
    let server = start().await.unwrap();
    let stored = client(&server).put_object().bucket(BUCKET).key("a").tagging("b=1");
    stored.body(b"tea".to_vec().into()).send().await.unwrap();
    server.shutdown().await;
    let server = start().await.unwrap();
    assert_eq!(tags_of(&client(&server), "a").await, ["b=1"]);
    let again = client(&server).put_object_tagging().bucket(BUCKET).key("a").tagging(tagging(&[("c", "2")]));
    again.send().await.unwrap();
    server.shutdown().await;
    let records = std::fs::read_dir(directory.0.join("buckets/payloads/objects")).unwrap();
    let record = records.map(|entry| entry.unwrap().path()).next().unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    assert_eq!(json.as_object_mut().unwrap().remove("tags"), Some(json!({ "c": "2" })));
    std::fs::write(&record, json.to_string()).unwrap();
    let server = start().await.unwrap();
    assert!(tags_of(&client(&server), "a").await.is_empty());
    assert_eq!(server.s3().bytes(BUCKET, "a").await.unwrap(), b"tea");
}

#[tokio::test]
async fn changes_of_tags_make_events_without_size() {
    let (server, client) = announcing().await;
    put(&client, "a", b"tea").await;
    client.put_object_tagging().bucket(BUCKET).key("a").tagging(tagging(&[("b", "1")])).send().await.unwrap();
    client.delete_object_tagging().bucket(BUCKET).key("a").send().await.unwrap();
    let events = events(&server, 3).await;
    let tea = "7239ea2b5dc943f61f3c0a0276c20974";
    let expected = [
        ("ObjectCreated:Put", json!({ "key": "a", "size": 3, "eTag": tea })),
        ("ObjectTagging:Put", json!({ "key": "a", "eTag": tea })),
        ("ObjectTagging:Delete", json!({ "key": "a", "eTag": tea })),
    ];
    assert_eq!(events.iter().map(brief).collect::<Vec<_>>(), expected);
    assert_eq!(events[1]["Records"][0]["eventVersion"], "2.3");
    assert_eq!(Wire::connect(&server).await.get("/_mock/requests?action=PutObjectTagging").await.status, 200);
}
