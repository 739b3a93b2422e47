//! Listings.

use aws_sdk_s3::types::EncodingType;

use super::{BUCKET, client, server};

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
async fn listing_encodes_keys_on_request() {
    let server = server().await;
    let client = client(&server);
    server.s3().put(BUCKET, "a b/\u{1}+%", "x").await.unwrap();
    let list = client.list_objects_v2().bucket(BUCKET).encoding_type(EncodingType::Url).send().await.unwrap();
    assert_eq!(list.contents()[0].key(), Some("a%20b/%01%2B%25"));
    assert_eq!((list.contents()[0].size(), list.contents()[0].e_tag().is_some()), (Some(1), true));
}
