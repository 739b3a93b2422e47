//! Sections 1.2 to 1.5: forms, XML, errors, and the service of a request.

use super::*;

/// 1.3.
#[tokio::test]
async fn answers_have_the_xml_of_aws() {
    let mut sns = Sns::start().await;
    let answer = sns.call("CreateTopic", &[("Name", "a")]).await;
    let id = answer.value("RequestId");
    assert_eq!((answer.header("content-type"), answer.header("x-amzn-requestid")), ("text/xml", &*id));
    let expected = format!(
        "<CreateTopicResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><CreateTopicResult><TopicArn>{}\
         </TopicArn></CreateTopicResult><ResponseMetadata><RequestId>{id}</RequestId></ResponseMetadata>\
         </CreateTopicResponse>",
        topic_arn("a")
    );
    assert_eq!((answer.text(), id.len()), (&*expected, 36));
    let arn = topic_arn("a");
    let tagged = sns.call("TagResource", &[("ResourceArn", &*arn), ("Tags.member.1.Key", "k")]).await;
    assert!(tagged.text().contains("<TagResourceResult/>"), "{}", tagged.text());
    let deleted = sns.call("DeleteTopic", &[("TopicArn", &*arn)]).await;
    assert!(!deleted.text().contains("DeleteTopicResult"), "{}", deleted.text());
    let listed = sns.call("ListTopics", &[]).await;
    assert!(listed.text().contains("<ListTopicsResult><Topics/></ListTopicsResult>"), "{}", listed.text());
}

/// 1.4.
#[tokio::test]
async fn errors_have_the_xml_of_aws() {
    let mut sns = Sns::start().await;
    let answer = sns.call("GetTopicAttributes", &[("TopicArn", &topic_arn("none"))]).await;
    let id = answer.value("RequestId");
    let expected = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type>\
         <Code>NotFound</Code><Message>Topic does not exist</Message></Error><RequestId>{id}</RequestId>\
         </ErrorResponse>"
    );
    assert_eq!((answer.status, answer.text()), (404, &*expected));
    let (status, code, text) = sns.refusal("Publish", &[("TopicArn", "a")]).await;
    assert_eq!((status, &*code), (400, "InvalidParameter"), "{text}");
    let arn = sns.topic("a", &[]).await;
    let missing = sns.refusal("SetTopicAttributes", &[("TopicArn", &arn)]).await;
    let text = "1 validation error detected: Value null at 'attributeName' failed to satisfy constraint: Member must \
                not be null";
    assert_eq!(missing, (400, "ValidationError".to_owned(), text.to_owned()));
    let (status, code, _) = sns.refusal("MakeCoffee", &[]).await;
    assert_eq!((status, &*code), (400, "InvalidAction"));
}

/// 1.2: "The same parameters in the URL query of a POST work too".
#[tokio::test]
async fn parameters_may_be_in_the_url() {
    let mut sns = Sns::start().await;
    let headers = format!("{FORM}{}", scope("sns", "us-east-1"));
    let answer =
        sns.wire.exchange("POST /?Action=CreateTopic&Version=2010-03-31&Name=a", &headers, b"").await;
    assert_eq!(answer.value("TopicArn"), topic_arn("a"));
    let answer = sns.wire.exchange("PUT /?Action=CreateTopic&Name=b", &headers, b"").await;
    assert_eq!(answer.status, 405);
}

/// 1.5.
#[tokio::test]
async fn services_share_a_port() {
    let mut sns = Sns::start().await;
    let unsigned = sns.wire.form("/", "Action=CreateTopic&Version=2010-03-31&Name=a").await;
    assert_eq!(unsigned.value("TopicArn"), topic_arn("a"));
    let without_version = sns.wire.form("/", "Action=ListTopics").await;
    assert_eq!(without_version.value("TopicArn"), topic_arn("a"));
    let queue = sns.wire.form("/", "Action=CreateQueue&Version=2012-11-05&QueueName=q").await;
    assert_eq!(queue.status, 200, "{}", queue.text());
    let label = "Label=l&AWSAccountId.member.1=111122223333&ActionName.member.1=Publish";
    let of_topic =
        sns.wire.form("/", format!("Action=AddPermission&{label}&TopicArn={}", topic_arn("a"))).await;
    assert_eq!(of_topic.status, 200, "{}", of_topic.text());
    let label = "Label=l&AWSAccountId.1=111122223333&ActionName.1=SendMessage";
    let of_queue = sns.wire.form("/000000000000/q", format!("Action=AddPermission&{label}")).await;
    assert_eq!(of_queue.status, 200, "{}", of_queue.text());
}

#[tokio::test]
async fn service_that_the_server_does_not_have_is_named_in_the_error() {
    let mut sns = Sns::start().await;
    let text = "This server has no service \"dynamodb\"; it has sqs, sns, sts.";
    let headers = format!("{FORM}{}", scope("dynamodb", "us-east-1"));
    let answer = sns.wire.exchange("POST /", &headers, b"Action=ListTables").await;
    assert_eq!(
        (answer.status, answer.value("Code"), answer.value("Message")),
        (400, "InvalidAction".to_owned(), text.to_owned())
    );
    let headers = format!(
        "content-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.ListTables\r\n{}",
        scope("dynamodb", "us-east-1")
    );
    let answer = sns.wire.exchange("POST /", &headers, b"{}").await;
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status, &body["message"]), (400, &text.into()));
}

#[tokio::test]
async fn unsigned_request_to_another_service_gets_the_same_error() {
    let mut sns = Sns::start().await;
    let headers =
        "content-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.ListTables\r\n";
    let answer = sns.wire.exchange("POST /", headers, b"{}").await;
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let text = "This server has no service \"DynamoDB_20120810\"; it has sqs, sns, sts.";
    assert_eq!((answer.status, &body["message"]), (400, &text.into()));
    let answer = sns.wire.form("/", "Action=ListUsers&Version=2010-05-08").await;
    let text = "This server has no service with the API version \"2010-05-08\"; it has sqs, sns, sts.";
    assert_eq!((answer.status, answer.value("Message")), (400, text.to_owned()));
}

#[tokio::test]
async fn error_for_a_missing_service_has_the_form_of_its_protocol() {
    let mut sns = Sns::start().await;
    let is_json = [("lambda", true), ("eks", true), ("s3", false), ("route53", false), ("cloudfront", false)];
    for (service, is_json) in is_json {
        let answer = sns.wire.exchange("GET /2015-03-31/a/", &scope(service, "us-east-1"), b"").await;
        let body: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
        assert_eq!((answer.status, body.is_some()), (400, is_json), "{service}");
        match body {
            Some(body) => {
                let text = format!("This server has no service \"{service}\"; it has sqs, sns, sts.");
                assert_eq!(body["message"], text);
                assert!(body["__type"].as_str().unwrap().ends_with("#UnknownOperationException"), "{body}");
                assert_eq!(answer.header("x-amzn-errortype"), "UnknownOperationException");
            }
            None => assert_eq!(answer.value("Code"), "InvalidAction"),
        }
    }
    let unsigned = sns.wire.get("/2015-03-31/functions/").await;
    assert_eq!(unsigned.header("x-amzn-errortype"), "UnknownOperationException");
    let headers = format!("content-type: application/json\r\n{}", scope("lambda", "us-east-1"));
    let invoked = sns.wire.exchange("POST /2015-03-31/functions/f/invocations", &headers, b"{\"a\":1}").await;
    assert_eq!(invoked.header("x-amzn-errortype"), "UnknownOperationException");
}

#[tokio::test]
async fn signatures_are_verified_when_they_are_required() {
    use sqs_client::config::Credentials;
    use sqs_client::wire::sign::{Signable, Signer};
    let mut sns = Sns::with(MockSqs::builder().require_signatures([("AKID", "secret")])).await;
    let host = sns.server.endpoint_url().trim_start_matches("http://").to_owned();
    let body = b"Action=ListTopics&Version=2010-03-31";
    let mut headers = http::HeaderMap::new();
    headers.insert("host", host.parse().unwrap());
    let credentials = Credentials::new("AKID", "secret", None, None, "test");
    let request = Signable { host: &host, path: "/", body };
    #[expect(clippy::disallowed_methods, reason = "the server compares signatures with the system time")]
    let now = std::time::SystemTime::now();
    Signer::default().sign(request, &mut headers, &credentials, "us-east-1", now).unwrap();
    let header = |name: &str| format!("{name}: {}\r\n", headers[name].to_str().unwrap());
    let signed = header("x-amz-date") + &header("authorization");
    // A signature for SQS is not one for SNS.
    let answer = sns.wire.exchange("POST /", &signed.replace("/sqs/", "/sns/"), body).await;
    assert_eq!((answer.status, &*answer.value("Code")), (403, "SignatureDoesNotMatch"));
    let unsigned = sns.wire.form("/", body).await;
    assert_eq!((unsigned.status, &*unsigned.value("Code")), (403, "MissingAuthenticationToken"));
    let link = format!("/?Action=Unsubscribe&SubscriptionArn={}:x", topic_arn("a"));
    assert_eq!(sns.wire.get(&link).await.status, 200, "links of notifications need no signature");
}
