//! Detection of the protocol and action of a request (contract, sections 3.3 and 4).

use crate::wire::{FORM, JSON, Wire};

#[tokio::test]
async fn each_request_is_answered_in_its_own_protocol() {
    let (_server, mut wire) = Wire::with_queue().await;
    let json = wire.json("ListQueues", "{}").await;
    assert_eq!((json.status, json.header("content-type")), (200, "application/x-amz-json-1.0"));
    assert!(json.text().starts_with(r#"{"QueueUrls":["#), "{}", json.text());
    let xml = wire.form("/", "Action=ListQueues&Version=2012-11-05").await;
    assert_eq!((xml.status, xml.header("content-type")), (200, "text/xml"));
    assert!(xml.text().contains("<ListQueuesResult><QueueUrl>http://127.0.0.1:"), "{}", xml.text());
    assert!(xml.text().contains(&format!("<RequestId>{}</RequestId>", xml.header("x-amzn-requestid"))));
    assert_ne!(json.header("x-amzn-requestid"), xml.header("x-amzn-requestid"));
}

#[tokio::test]
async fn void_action_returns_zero_bytes_in_json_and_no_result_in_xml() {
    let (server, mut wire) = Wire::with_queue().await;
    let url = server.queue_url("q");
    let json = wire.json("TagQueue", format!(r#"{{"QueueUrl":"{url}","Tags":{{"a":"b"}}}}"#)).await;
    assert_eq!((json.status, json.body.len()), (200, 0));
    assert_eq!(json.header("content-type"), "application/x-amz-json-1.0");
    let xml = wire.form("/", format!("Action=TagQueue&QueueUrl={url}&Tag.1.Key=c&Tag.1.Value=d")).await;
    assert_eq!(xml.status, 200);
    assert!(xml.text().contains("/\"><ResponseMetadata>"), "{}", xml.text());
}

#[tokio::test]
async fn json_is_accepted_on_any_path() {
    let (server, mut wire) = Wire::with_queue().await;
    let headers = format!("{JSON}x-amz-target: AmazonSQS.GetQueueUrl\r\n");
    for path in ["/", "/000000000000/q", "/some/where?x=1"] {
        let answer = wire.exchange(&format!("POST {path}"), &headers, br#"{"QueueName":"q"}"#).await;
        assert_eq!(answer.text(), format!(r#"{{"QueueUrl":"{}"}}"#, server.queue_url("q")));
    }
}

#[tokio::test]
async fn unknown_target_is_an_unknown_operation() {
    let (_server, mut wire) = Wire::with_queue().await;
    for target in ["AmazonSQS.MakeCoffee", "SendMessage", "AmazonSQS.", "%"] {
        let headers = format!("{JSON}x-amz-target: {target}\r\n");
        let answer = wire.exchange("POST /", &headers, b"{}").await;
        answer.refused_in_json(400, "UnknownOperationException", "InvalidAction");
        assert_eq!(answer.text(), r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#);
    }
    let without_target = wire.exchange("POST /", JSON, b"{}").await;
    without_target.refused_in_json(400, "UnknownOperationException", "InvalidAction");
}

#[tokio::test]
async fn error_names_an_unknown_action_of_a_form() {
    let (_server, mut wire) = Wire::with_queue().await;
    let answer = wire.form("/", "Action=Make%3CCoffee&Version=2012-11-05").await;
    answer.refused_in_xml(400, "InvalidAction");
    let expected = "<Message>The action Make&lt;Coffee is not valid for this endpoint.</Message>";
    assert!(answer.text().contains(expected), "{}", answer.text());
}

#[tokio::test]
async fn get_of_a_queue_url_without_an_action_is_an_unknown_operation() {
    let (_server, mut wire) = Wire::with_queue().await;
    for target in ["/000000000000/q", "/000000000000/unknown", "/", "/favicon.ico"] {
        let answer = wire.get(target).await;
        assert_eq!((answer.status, answer.text().trim_end()), (404, "<UnknownOperationException/>"));
    }
}

#[tokio::test]
async fn form_can_be_in_the_url_the_body_or_both() {
    let (_server, mut wire) = Wire::with_queue().await;
    let sent = wire.get("/000000000000/q?Action=SendMessage&MessageBody=from+the%20url").await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let sent = wire.form("/000000000000/q?Action=SendMessage", "MessageBody=from+both").await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let received = wire.form("/000000000000/q", "Action=ReceiveMessage&MaxNumberOfMessages=10").await;
    assert!(received.text().contains("<Body>from the url</Body>"), "{}", received.text());
    assert!(received.text().contains("<Body>from both</Body>"), "{}", received.text());
}

#[tokio::test]
async fn queue_url_parameter_overrides_the_path() {
    let (server, mut wire) = Wire::with_queue().await;
    let url = server.queue_url("q");
    let form = format!("Action=SendMessage&QueueUrl={url}&MessageBody=x");
    assert_eq!(wire.form("/000000000000/unknown", form).await.status, 200);
    let unknown = wire.form("/000000000000/unknown", "Action=SendMessage&MessageBody=x").await;
    unknown.refused_in_xml(400, "AWS.SimpleQueueService.NonExistentQueue");
    assert!(unknown.text().contains("for this wsdl version."), "{}", unknown.text());
}

#[tokio::test]
async fn actions_without_a_queue_are_invalid_on_a_queue_url() {
    let (server, mut wire) = Wire::with_queue().await;
    for action in ["ListQueues", "CreateQueue"] {
        let answer = wire.get(&format!("/000000000000/q?Action={action}&QueueName=n")).await;
        answer.refused_in_xml(400, "InvalidAction");
    }
    let answer = wire.get("/000000000000/other?Action=GetQueueUrl&QueueName=q").await;
    assert!(answer.text().contains(&server.queue_url("q")), "{}", answer.text());
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let (_server, mut wire) = Wire::with_queue().await;
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "BREW"] {
        let answer = wire.exchange(&format!("{method} /"), FORM, b"Action=ListQueues").await;
        assert_eq!((answer.status, answer.header("allow")), (405, "GET, POST"), "{method}");
        answer.refused_in_xml(405, "MethodNotAllowed");
        wire.exchange(&format!("{method} /"), JSON, b"{}").await.refused_by_http(405, "MethodNotAllowed");
    }
}

#[tokio::test]
async fn path_of_a_queue_selects_it_only_in_the_query_protocol() {
    let (server, mut wire) = Wire::with_queue().await;
    let headers = format!("{JSON}x-amz-target: AmazonSQS.PurgeQueue\r\n");
    let absent = wire.exchange("POST /000000000000/q", &headers, b"{}").await;
    absent.refused_in_json(400, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue");
    let body = format!(r#"{{"QueueUrl":"{}"}}"#, server.queue_url("q"));
    assert_eq!(wire.exchange("POST /000000000000/q", &headers, body.as_bytes()).await.status, 200);
}
