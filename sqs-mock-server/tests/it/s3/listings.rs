//! Listings.

use aws_sdk_s3::types::EncodingType;

use super::{BUCKET, client, refusal, server};

#[tokio::test]
async fn pages_of_a_listing_are_complete_and_ordered() {
    let server = server().await;
    let client = client(&server);
    let keys: Vec<_> = (0..7).map(|at| format!("k/{at}")).collect();
    for key in keys.iter().map(String::as_str).chain(["z"]) {
        server.s3().put(BUCKET, key, "x").await.unwrap();
    }
    let mut pages = client.list_objects_v2().bucket(BUCKET).prefix("k/").max_keys(3).into_paginator().send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        let page = page.unwrap();
        assert!(page.key_count().unwrap() <= 3);
        found.extend(page.contents().iter().map(|object| object.key().unwrap().to_owned()));
    }
    assert_eq!(found, keys);
    let rolled = client.list_objects_v2().bucket(BUCKET).delimiter("/").send().await.unwrap();
    assert_eq!(rolled.common_prefixes()[0].prefix(), Some("k/"));
    assert_eq!(rolled.contents()[0].key(), Some("z"));
}

#[tokio::test]
async fn version_1_has_a_next_marker_only_with_a_delimiter() {
    let server = server().await;
    let client = client(&server);
    for key in ["a b", "b/1", "b/2", "c"] {
        server.s3().put(BUCKET, key, "x").await.unwrap();
    }
    let list = || client.list_objects().bucket(BUCKET);
    let plain = list().max_keys(2).send().await.unwrap();
    let keys: Vec<_> = plain.contents().iter().map(|object| object.key().unwrap()).collect();
    assert_eq!((keys, plain.is_truncated(), plain.next_marker()), (vec!["a b", "b/1"], Some(true), None));
    assert_eq!((plain.marker(), plain.max_keys()), (Some(""), Some(2)));
    assert!(plain.contents()[0].owner().is_some());
    let rolled = list().max_keys(2).delimiter("/").send().await.unwrap();
    assert_eq!((rolled.contents().len(), rolled.common_prefixes()[0].prefix()), (1, Some("b/")));
    assert_eq!(rolled.next_marker(), Some("b/"));
    let rest = list().delimiter("/").marker("b/").send().await.unwrap();
    assert_eq!((rest.contents()[0].key(), rest.common_prefixes().len()), (Some("c"), 0));
    assert_eq!((rest.is_truncated(), rest.next_marker(), rest.marker()), (Some(false), None, Some("b/")));
    let encoded = list().prefix("a b").encoding_type(EncodingType::Url).send().await.unwrap();
    assert_eq!((encoded.prefix(), encoded.contents()[0].key()), (Some("a%20b"), Some("a%20b")));
    assert_eq!(refusal(list().max_keys(-1).send().await), (400, "InvalidArgument".to_owned()));
    assert_eq!(list().max_keys(0).send().await.unwrap().is_truncated(), Some(false));
}

#[tokio::test]
async fn owner_is_listed_in_version_2_only_if_it_is_asked_for() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "x").await.unwrap();
    for asked in [false, true] {
        let list = client(&server).list_objects_v2().bucket(BUCKET).fetch_owner(asked).send().await.unwrap();
        assert_eq!(list.contents()[0].owner().is_some(), asked);
    }
}

#[tokio::test]
async fn listing_encodes_keys_on_request() {
    let server = server().await;
    let client = client(&server);
    server.s3().put(BUCKET, "a b/\u{1}+%", "x").await.unwrap();
    let list = client.list_objects_v2().bucket(BUCKET).encoding_type(EncodingType::Url).send().await.unwrap();
    assert_eq!(list.contents()[0].key(), Some("a%20b/%01%2B%25"));
    assert_eq!((list.contents()[0].size(), list.contents()[0].e_tag().is_some()), (Some(1), true));
}
