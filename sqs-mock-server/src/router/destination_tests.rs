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
        assert_eq!(destination, Destination::Unknown(scope.to_owned()));
    }
    assert!(refusal("s3").contains("\"s3\"") && refusal("s3").contains("it has sqs"));
}

#[test]
fn request_without_evidence_is_for_sqs() {
    for (headers, body) in [
        (vec![], ""),
        (vec![], "Action=ListQueues"),
        (vec![], "Action=AddPermission&QueueUrl=q"),
        (vec![("authorization", "Basic dGVzdDp0ZXN0")], "{}"),
        (vec![("authorization", "AWS4-HMAC-SHA256 Credential=test")], "{}"),
        (vec![("host", "localhost:9324")], "Action=SendMessage&Version=2012-11-05"),
        (vec![("host", "sqs.eu-west-1.amazonaws.com")], "Action=Publish"),
    ] {
        assert_eq!(find(&headers, body), SQS, "{headers:?} {body}");
    }
}

#[cfg(feature = "sns")]
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
