//! Contract 1.5: evidence for the service of a request, strongest first.
use super::*;

fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::post(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn signed_for(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=test/20261123/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )
}

fn find(headers: &[(&str, &str)], body: &str) -> Destination {
    of(&head("/", headers), body.as_bytes())
}

fn unknown(name: &str) -> Destination {
    Destination::Unknown(Foreign::Name(name.to_owned()))
}

const SQS: Destination = Destination::Service(ServiceName::Sqs);

#[test]
fn header_target_is_stronger_than_the_credential_scope() {
    for scope in ["sqs", "sns", "dynamodb"] {
        let headers = [("x-amz-target", "AmazonSQS.SendMessage"), ("authorization", &*signed_for(scope))];
        assert_eq!(find(&headers, "{}"), SQS);
    }
}

#[test]
fn scope_of_a_service_that_the_server_does_not_have_is_unknown() {
    for scope in ["dynamodb", "s3", "lambda"] {
        let destination = find(&[("authorization", &signed_for(scope))], "Action=Publish");
        assert_eq!(destination, unknown(scope));
    }
    let text = Foreign::Name("s3".to_owned()).refusal(false);
    assert!(text.contains("\"s3\"") && text.contains("it has sqs"), "{text}");
    assert!(Foreign::Name("dynamodb".to_owned()).refusal(true).ends_with(", s3."));
    assert!(
        Foreign::Name("s3".to_owned())
            .refusal(false)
            .contains(" S3 is off; the binary serves it without --no-s3")
    );
    let text = Foreign::Version("2010-05-08".to_owned()).refusal(false);
    assert!(
        text.starts_with("This server has no service with the API version \"2010-05-08\"; it has sqs"),
        "{text}"
    );
}

#[test]
fn unsigned_request_with_the_target_of_another_service_is_unknown() {
    for (target, service) in [
        ("DynamoDB_20120810.ListTables", "DynamoDB_20120810"),
        ("Logs.v1.Put", "Logs.v1"),
        ("AmazonSNS.Publish", "AmazonSNS"),
    ] {
        assert_eq!(find(&[("x-amz-target", target)], "{}"), unknown(service));
        for (name, of_sqs) in
            [("host", "sqs.eu-west-1.amazonaws.com"), ("authorization", &*signed_for("sqs"))]
        {
            assert_eq!(find(&[("x-amz-target", target), (name, of_sqs)], "{}"), SQS);
        }
    }
}

#[test]
fn unsigned_request_with_another_api_version_is_unknown_unless_a_service_here_has_its_action() {
    let version = |text: &str| Destination::Unknown(Foreign::Version(text.to_owned()));
    for (uri, body, expected) in [
        ("/", "Action=ListUsers&Version=2010-05-08", version("2010-05-08")),
        ("/", "Action=DescribeEventSubscriptions&Version=2014-10-31", version("2014-10-31")),
        ("/?Action=DescribeInstances&Version=2016-11-15", "", version("2016-11-15")),
        ("/2015-03-31/functions/", "", version("2015-03-31")),
        ("/2015-03-31/functions?Action=SendMessage", "", SQS),
        ("/", "Action=SendMessage&Version=2010-05-08", SQS),
        ("/", "Action=MakeCoffee&Version=2009-02-01", SQS),
        ("/", "Action=MakeCoffee&Version=2012-1105x", SQS),
        ("/", "Action=MakeCoffee", SQS),
        ("/", "Version=2010-05-08", SQS),
        ("/2015-03-31", "", SQS),
    ] {
        assert_eq!(of(&head(uri, &[]), body.as_bytes()), expected, "{uri} {body}");
    }
}

/// Contract 1.5, the column of S3, except for the path.
#[cfg(feature = "s3")]
#[test]
fn scope_or_host_names_s3() {
    let (s3, sqs) = (signed_for("s3"), signed_for("sqs"));
    for (uri, headers, expected) in [
        ("/", vec![("authorization", &*s3)], true),
        ("/b/k?x-id=GetObject", vec![("authorization", &*s3), ("host", "sqs.localhost")], true),
        ("/", vec![("authorization", &*sqs), ("host", "s3.localhost")], false),
        ("/", vec![("authorization", &*s3), ("x-amz-target", "AmazonSQS.SendMessage")], false),
        ("/b/k?X-Amz-Credential=k%2Fd%2Fr%2Fs3%2Faws4_request", vec![], true),
        ("/?X-Amz-Credential=k%2Fd%2Fr%2Fsqs%2Faws4_request", vec![("host", "s3.localhost")], false),
        ("/b/k", vec![("host", "s3.localhost:9324")], true),
        ("/b/k", vec![("authorization", "AWS test:c2lnbmF0dXJl")], true),
        ("/b/k?AWSAccessKeyId=k&Signature=s&Expires=9", vec![], true),
        ("/?Action=ListQueues&AWSAccessKeyId=k&Signature=s&Expires=9", vec![], false),
        ("/k", vec![("host", "b.s3.eu-west-1.amazonaws.com")], true),
        ("/b/k", vec![("host", "localhost:9324")], false),
        ("/b/k", vec![], false),
    ] {
        assert_eq!(is_s3(&head(uri, &headers)), expected, "{uri} {headers:?}");
    }
}

#[test]
fn request_without_evidence_is_for_sqs() {
    for (headers, body) in [
        (vec![], ""),
        (vec![], "Action=ListQueues"),
        (vec![], "Action=AddPermission&QueueUrl=q"),
        (vec![("authorization", "Basic dGVzdDp0ZXN0")], "{}"),
        (vec![("authorization", "AWS4-HMAC-SHA256 Credential=test")], "{}"),
        (vec![("x-amz-target", "SendMessage")], "{}"),
        (vec![("host", "localhost:9324")], "Action=SendMessage&Version=2012-11-05"),
        (vec![("host", "sqs.eu-west-1.amazonaws.com")], "Action=Publish"),
    ] {
        assert_eq!(find(&headers, body), SQS, "{headers:?} {body}");
    }
}

#[test]
fn scope_host_version_and_action_name_the_service_in_this_order() {
    let table = [
        (
            vec![("authorization", "x Credential=k/d/r/sns/aws4_request,")],
            "Version=2012-11-05",
            ServiceName::Sns,
        ),
        (
            vec![("authorization", "x Credential=k/d/r/sqs/aws4_request,")],
            "Version=2010-03-31",
            ServiceName::Sqs,
        ),
        (vec![("authorization", "x Credential=k/d/r/sts/aws4_request,")], "", ServiceName::Sts),
        (vec![("host", "sns.eu-west-1.amazonaws.com")], "Version=2012-11-05", ServiceName::Sns),
        (vec![("host", "sts.amazonaws.com")], "", ServiceName::Sts),
        (vec![], "Action=AddPermission&Version=2010-03-31", ServiceName::Sns),
        (vec![], "Action=Unsubscribe&SubscriptionArn=a", ServiceName::Sns),
        (vec![], "Action=AddPermission&TopicArn=a", ServiceName::Sns),
        (vec![], "Action=ListTagsForResource", ServiceName::Sns),
        (vec![], "Action=GetCallerIdentity", ServiceName::Sts),
    ];
    for (headers, body, service) in table {
        assert_eq!(find(&headers, body), Destination::Service(service), "{headers:?} {body}");
    }
    for query in [
        "Action=ConfirmSubscription&TopicArn=a&Token=b",
        "Version=2012-11-05&X-Amz-Credential=k%2Fd%2Fr%2Fsns%2Faws4_request",
    ] {
        let in_url = head(&format!("/?{query}"), &[]);
        assert_eq!(of(&in_url, b""), Destination::Service(ServiceName::Sns), "{query}");
    }
}
