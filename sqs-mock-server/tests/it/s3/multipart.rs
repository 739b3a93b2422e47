//! Multipart uploads.

use aws_sdk_s3::Client;
use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{
    ChecksumAlgorithm, ChecksumMode, ChecksumType, CompletedMultipartUpload, CompletedPart,
};

use super::{BUCKET, bytes, client, get, put, refusal, server};

pub(super) const PART: usize = 5 << 20;

/// Uploads one part, with the default checksum of the SDK.
pub(super) async fn upload(client: &Client, key: &str, id: &str, number: i32, body: &[u8]) -> CompletedPart {
    upload_with(client, ChecksumAlgorithm::Crc32, (key, id, number), body).await
}

async fn upload_with(
    client: &Client,
    algorithm: ChecksumAlgorithm,
    (key, id, number): (&str, &str, i32),
    body: &[u8],
) -> CompletedPart {
    let part = client.upload_part().bucket(BUCKET).key(key).upload_id(id).part_number(number);
    let part = part.checksum_algorithm(algorithm).body(body.to_vec().into()).send().await.unwrap();
    CompletedPart::builder()
        .part_number(number)
        .set_e_tag(part.e_tag)
        .set_checksum_crc32(part.checksum_crc32)
        .set_checksum_crc64_nvme(part.checksum_crc64_nvme)
        .build()
}

/// Completes an upload of these parts.
pub(super) async fn complete(client: &Client, key: &str, id: &str, completed: &[CompletedPart]) {
    let complete = client.complete_multipart_upload().bucket(BUCKET).key(key).upload_id(id);
    complete.multipart_upload(parts(completed)).send().await.unwrap();
}

pub(super) async fn begin(client: &Client, key: &str) -> String {
    let begun =
        client.create_multipart_upload().bucket(BUCKET).key(key).metadata("m", "1").send().await.unwrap();
    begun.upload_id.unwrap()
}

fn parts(parts: &[CompletedPart]) -> CompletedMultipartUpload {
    CompletedMultipartUpload::builder().set_parts(Some(parts.to_vec())).build()
}

#[tokio::test]
async fn parts_uploaded_in_any_order_become_one_object() {
    let server = server().await;
    let client = client(&server);
    let id = begin(&client, "big").await;
    let body = bytes(2 * PART + 3);
    let third = upload(&client, "big", &id, 9, &body[2 * PART..]).await;
    let first = upload(&client, "big", &id, 2, &body[..PART]).await;
    let second = upload(&client, "big", &id, 5, &body[PART..2 * PART]).await;
    assert_eq!(server.s3().uploads(BUCKET)[0].parts, 3);
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("big").upload_id(&id);
    let done = complete.multipart_upload(parts(&[first, second, third])).send().await.unwrap();
    assert!(done.e_tag().unwrap().ends_with("-3\""), "{done:?}");
    assert!(get(&client, "big").await == body);
    let object = server.s3().object(BUCKET, "big").unwrap();
    assert_eq!((object.size, object.metadata["m"].as_str()), (body.len() as u64, "1"));
    assert!(server.s3().uploads(BUCKET).is_empty());
    // A range across two parts, then one part by its number.
    let range = format!("bytes={}-{}", PART - 2, PART + 1);
    let got = client.get_object().bucket(BUCKET).key("big").range(range).send().await.unwrap();
    assert_eq!(got.body.collect().await.unwrap().to_vec(), body[PART - 2..PART + 2]);
    let got = client.get_object().bucket(BUCKET).key("big").part_number(3).send().await.unwrap();
    assert_eq!(got.parts_count(), Some(3));
    assert_eq!(got.body.collect().await.unwrap().to_vec(), body[2 * PART..]);
}

#[tokio::test]
async fn last_modified_is_the_start_of_the_upload() {
    let server = server().await;
    let client = client(&server);
    let id = begin(&client, "slow").await;
    let initiated = server.s3().uploads(BUCKET)[0].initiated;
    server.clock().advance(std::time::Duration::from_secs(3_600));
    let part = upload(&client, "slow", &id, 1, b"tea").await;
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("slow").upload_id(&id);
    complete.multipart_upload(parts(&[part])).send().await.unwrap();
    assert_eq!(server.s3().object(BUCKET, "slow").unwrap().last_modified, initiated);
}

#[tokio::test]
async fn checksum_of_an_upload_is_composite_or_full_object() {
    let server = server().await;
    let client = client(&server);
    for (algorithm, kind) in [
        (ChecksumAlgorithm::Crc32, ChecksumType::Composite),
        (ChecksumAlgorithm::Crc32, ChecksumType::FullObject),
        (ChecksumAlgorithm::Crc64Nvme, ChecksumType::FullObject),
    ] {
        let begun = client.create_multipart_upload().bucket(BUCKET).key("sum");
        let begun =
            begun.checksum_algorithm(algorithm.clone()).checksum_type(kind.clone()).send().await.unwrap();
        let id = begun.upload_id().unwrap();
        let body = bytes(PART + 1);
        let first = upload_with(&client, algorithm.clone(), ("sum", id, 1), &body[..PART]).await;
        let second = upload_with(&client, algorithm, ("sum", id, 2), &body[PART..]).await;
        let complete = client.complete_multipart_upload().bucket(BUCKET).key("sum").upload_id(id);
        complete.multipart_upload(parts(&[first, second])).send().await.unwrap();
        let got =
            client.get_object().bucket(BUCKET).key("sum").checksum_mode(ChecksumMode::Enabled).send().await;
        let got = got.unwrap();
        assert_eq!(got.checksum_type(), Some(&kind));
        let sum = got.checksum_crc32().or(got.checksum_crc64_nvme()).unwrap();
        assert_eq!(sum.ends_with("-2"), kind == ChecksumType::Composite, "{sum}");
        // The SDK verifies full-object checksums.
        assert!(got.body.collect().await.unwrap().to_vec() == body);
    }
}

#[tokio::test]
async fn aborted_upload_leaves_no_parts() {
    let server = server().await;
    let client = client(&server);
    let id = begin(&client, "a").await;
    let part = upload(&client, "a", &id, 1, b"x").await;
    client.abort_multipart_upload().bucket(BUCKET).key("a").upload_id(&id).send().await.unwrap();
    assert_eq!((server.s3().uploads(BUCKET).len(), server.s3().count(BUCKET)), (0, 0));
    let data = server.s3().directory().join("buckets/payloads/data");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
    let gone = (404, "NoSuchUpload".to_owned());
    let again = client.abort_multipart_upload().bucket(BUCKET).key("a").upload_id(&id).send().await;
    assert_eq!(refusal(again), gone);
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(&id);
    assert_eq!(refusal(complete.multipart_upload(parts(&[part])).send().await), gone);
}

#[tokio::test]
async fn complete_with_invalid_parts_fails_and_keeps_the_upload() {
    let server = server().await;
    let client = client(&server);
    let id = begin(&client, "a").await;
    let one = upload(&client, "a", &id, 1, b"small").await;
    let two = upload(&client, "a", &id, 2, b"last").await;
    let stranger = CompletedPart::builder().part_number(3).e_tag("x").build();
    let wrong = CompletedPart::builder().part_number(1).e_tag("x").build();
    for (list, code) in [
        (vec![one.clone(), two.clone()], "EntityTooSmall"),
        (vec![two.clone(), one.clone()], "InvalidPartOrder"),
        (vec![stranger], "InvalidPart"),
        (vec![wrong], "InvalidPart"),
    ] {
        let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(&id);
        assert_eq!(refusal(complete.multipart_upload(parts(&list)).send().await), (400, code.to_owned()));
    }
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(&id);
    complete.multipart_upload(parts(&[two])).send().await.unwrap();
    assert_eq!(get(&client, "a").await, b"last");
}

#[tokio::test]
async fn composite_checksum_needs_the_checksums_of_all_parts() {
    let server = server().await;
    let client = client(&server);
    let begun = client.create_multipart_upload().bucket(BUCKET).key("a");
    let begun = begun.checksum_algorithm(ChecksumAlgorithm::Crc32).send().await.unwrap();
    let id = begun.upload_id().unwrap();
    let body = bytes(PART + 1);
    let first = upload(&client, "a", id, 1, &body[..PART]).await;
    let second = upload(&client, "a", id, 2, &body[PART..]).await;
    let checksum = |checksum: Option<&str>| {
        let part = CompletedPart::builder().part_number(2).set_e_tag(second.e_tag.clone());
        part.set_checksum_crc32(checksum.map(str::to_owned)).build()
    };
    for (second, code) in [(checksum(None), "InvalidRequest"), (checksum(Some("AAAAAA==")), "InvalidPart")] {
        let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(id);
        let refused = complete.multipart_upload(parts(&[first.clone(), second])).send().await;
        let text = refused.as_ref().unwrap_err().message().unwrap_or_default().to_owned();
        assert_eq!(refusal(refused), (400, code.to_owned()));
        let missing = "The upload was created using a crc32 checksum. The complete request must include the checksum for \
                       each part. It was missing for part 2 in the request.";
        assert_eq!(text == missing, code == "InvalidRequest", "{text}");
    }
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(id);
    complete.multipart_upload(parts(&[first, second])).send().await.unwrap();
}

#[tokio::test]
async fn part_with_another_checksum_algorithm_than_its_upload_is_refused() {
    let server = server().await;
    let client = client(&server);
    let begun = client.create_multipart_upload().bucket(BUCKET).key("a");
    let begun = begun.checksum_algorithm(ChecksumAlgorithm::Crc32).send().await.unwrap();
    let part = || {
        let part = client.upload_part().bucket(BUCKET).key("a").upload_id(begun.upload_id().unwrap());
        part.part_number(1).body(b"tea".to_vec().into())
    };
    let refused = part().checksum_algorithm(ChecksumAlgorithm::Sha256).send().await;
    let expected =
        "Checksum Type mismatch occurred, expected checksum Type: crc32, actual checksum Type: sha256";
    assert_eq!(refused.as_ref().unwrap_err().message(), Some(expected));
    assert_eq!(refusal(refused), (400, "InvalidRequest".to_owned()));
    assert_eq!(server.s3().uploads(BUCKET)[0].parts, 0);
    part().checksum_algorithm(ChecksumAlgorithm::Crc32).send().await.unwrap();
}

#[tokio::test]
async fn wrong_checksum_of_a_part_is_refused_for_full_object_checksums() {
    let server = server().await;
    let client = client(&server);
    let begun = client.create_multipart_upload().bucket(BUCKET).key("a");
    let begun = begun.checksum_algorithm(ChecksumAlgorithm::Crc32).checksum_type(ChecksumType::FullObject);
    let begun = begun.send().await.unwrap();
    let id = begun.upload_id().unwrap();
    let part = upload(&client, "a", id, 1, b"tea").await;
    for (checksum, succeeds) in [(Some("AAAAAA=="), false), (None, true)] {
        let part = CompletedPart::builder().part_number(1).set_e_tag(part.e_tag.clone());
        let part = part.set_checksum_crc32(checksum.map(str::to_owned)).build();
        let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(id);
        let completed = complete.multipart_upload(parts(&[part])).send().await;
        assert_eq!(completed.is_ok(), succeeds, "{completed:?}");
    }
}

#[tokio::test]
async fn second_upload_of_a_part_replaces_the_first() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"before").await;
    let id = begin(&client, "a").await;
    upload(&client, "a", &id, 1, b"first").await;
    let again = upload(&client, "a", &id, 1, b"second").await;
    assert_eq!(get(&client, "a").await, b"before");
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(&id);
    complete.multipart_upload(parts(&[again])).send().await.unwrap();
    assert_eq!(get(&client, "a").await, b"second");
    let data = server.s3().directory().join("buckets/payloads/data");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 1);
}

#[tokio::test]
async fn parts_are_listed_in_pages() {
    let server = server().await;
    let client = client(&server);
    let id = begin(&client, "a").await;
    for number in [7, 2, 5] {
        upload(&client, "a", &id, number, &bytes(usize::try_from(number).unwrap())).await;
    }
    let list = || client.list_parts().bucket(BUCKET).key("a").upload_id(&id);
    let all = list().send().await.unwrap();
    let rows: Vec<_> =
        all.parts().iter().map(|part| (part.part_number().unwrap(), part.size().unwrap())).collect();
    assert_eq!((rows, all.is_truncated()), (vec![(2, 2), (5, 5), (7, 7)], Some(false)));
    let first = &all.parts()[0];
    assert!(first.e_tag().is_some() && first.last_modified().is_some() && first.checksum_crc32().is_some());
    let page = list().max_parts(2).send().await.unwrap();
    assert_eq!(
        (page.parts().len(), page.is_truncated(), page.next_part_number_marker()),
        (2, Some(true), Some("5"))
    );
    let rest = list().part_number_marker("5").send().await.unwrap();
    assert_eq!((rest.parts()[0].part_number(), rest.is_truncated()), (Some(7), Some(false)));
    assert_eq!((rest.part_number_marker(), rest.upload_id()), (Some("5"), Some(id.as_str())));
    assert_eq!(refusal(list().max_parts(-1).send().await), (400, "InvalidArgument".to_owned()));
    let unknown = client.list_parts().bucket(BUCKET).key("b").upload_id(&id).send().await;
    assert_eq!(refusal(unknown), (404, "NoSuchUpload".to_owned()));
}
