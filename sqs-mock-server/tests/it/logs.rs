//! The log of the binary.

use std::io::Read as _;
use std::process::Command;

use serde_json::Value;

use crate::command_line::{Running, binary, run};
use crate::wire::ask;

const SECRET: &str = "top-secret-key";
const BODY: &str = "a-body-that-is-nobodys-business";

/// Runs the binary with these flags, calls it, stops it, and returns its log.
fn log_of(arguments: &[&str], paths: &[&str]) -> String {
    let mut server = Running::start(binary().args(["--port", "0"]).args(arguments));
    let endpoint = server.endpoint();
    for path in paths {
        ask(&endpoint, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
    }
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().unwrap().success());
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    log
}

fn json_lines(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[cfg(all(unix, feature = "s3"))]
#[test]
fn failure_of_s3_is_a_warning_with_its_code() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--log-format", "json", "--s3-port", "0", "--with-s3", directory.path().to_str().unwrap()];
    let target = "/payloads?acl&X-Amz-Credential=x/20260101/us-east-1/s3/aws4_request";
    let events = json_lines(&log_of(&flags, &[target]));
    let [failure] = &*events else { panic!("{events:?}") };
    assert_eq!((&failure["level"], &failure["code"]), (&"WARN".into(), &"NotImplemented".into()));
    assert_eq!(failure["operation"], "GetBucketAcl");
}

#[cfg(unix)]
#[test]
fn each_request_is_an_event_with_fields() {
    let paths = [
        "/?Action=CreateQueue&QueueName=q",
        &format!("/000000000000/q?Action=SendMessage&MessageBody={BODY}"),
        "/000000000000/none?Action=PurgeQueue",
    ];
    let events = json_lines(&log_of(&["--log", "debug", "--log-format", "json"], &paths));
    let requests: Vec<_> = events.iter().filter(|event| event["message"] == "request").collect();
    assert_eq!(requests.len(), 3, "{events:?}");
    let sent = requests[1];
    for (field, expected) in [
        ("level", Value::from("DEBUG")),
        ("action", "SendMessage".into()),
        ("account", "000000000000".into()),
        ("region", "us-east-1".into()),
        ("queue", "arn:aws:sqs:us-east-1:000000000000:q".into()),
        ("status", 200.into()),
        ("code", "OK".into()),
    ] {
        assert_eq!(sent[field], expected, "{field}");
    }
    assert!(
        sent["took_us"].is_u64() && sent["request_id"].as_str().is_some_and(|id| id.len() == 36),
        "{sent}"
    );
    let refused = requests[2];
    assert_eq!(refused["code"], "AWS.SimpleQueueService.NonExistentQueue");
    assert_eq!(refused["status"], 400);
    assert!(refused["error"].as_str().is_some_and(|text| text.contains("does not exist")), "{refused}");
    assert!(refused.get("queue").is_none(), "the request names no queue");
}

#[cfg(unix)]
#[test]
fn failed_requests_of_sns_and_sts_are_events_with_fields() {
    let topic = "arn:aws:sns:us-east-1:000000000000:none";
    let sns = |parameters: &str| format!("/?Version=2010-03-31&{parameters}");
    let paths = [
        &sns(&format!("Action=GetTopicAttributes&TopicArn={topic}")),
        &sns("Action=CreateTopic&Name=a"),
        "/?Version=2011-06-15&Action=GetSessionToken",
    ];
    let events = json_lines(&log_of(&["--log", "debug", "--log-format", "json"], &paths));
    let requests: Vec<_> = events.iter().filter(|event| event["message"] == "request").collect();
    let [unknown, created, unsupported] = *requests else { panic!("{events:?}") };
    for (field, expected) in [
        ("level", Value::from("DEBUG")),
        ("service", "sns".into()),
        ("action", "GetTopicAttributes".into()),
        ("account", "000000000000".into()),
        ("region", "us-east-1".into()),
        ("topic", topic.into()),
        ("status", 404.into()),
        ("code", "NotFound".into()),
        ("error", "Topic does not exist".into()),
    ] {
        assert_eq!(unknown[field], expected, "{field}");
    }
    assert!(
        unknown["took_us"].is_u64() && unknown["request_id"].as_str().is_some_and(|id| id.len() == 36),
        "{unknown}"
    );
    assert_eq!((&created["code"], created.get("error")), (&"OK".into(), None));
    assert_eq!((&unsupported["service"], &unsupported["code"]), (&"sts".into(), &"InvalidAction".into()));
}

#[cfg(unix)]
#[test]
fn denied_deliveries_are_logged_once_for_a_topic_and_a_queue() {
    let topic = "arn:aws:sns:us-east-1:000000000000:a";
    let queue = "arn:aws:sqs:us-east-1:000000000000:q";
    let sns = |parameters: &str| format!("/?Version=2010-03-31&{parameters}");
    let publish = sns(&format!("Action=Publish&TopicArn={topic}&Message={BODY}"));
    let paths = [
        "/?Action=CreateQueue&QueueName=q",
        &sns("Action=CreateTopic&Name=a"),
        &sns(&format!("Action=Subscribe&TopicArn={topic}&Protocol=sqs&Endpoint={queue}")),
        &publish,
        &publish,
    ];
    let events = json_lines(&log_of(&["--log", "info", "--log-format", "json"], &paths));
    let warnings: Vec<_> = events.iter().filter(|event| event["level"] == "WARN").collect();
    let [warning] = *warnings else { panic!("{warnings:?}") };
    let text = format!(
        "sns.amazonaws.com for {topic} may not call sqs:SendMessage: there is no policy that allows it; AWS denies the delivery, \
         this server does not"
    );
    for (field, expected) in [("kind", "access_denied"), ("queue", queue), ("message", &text)] {
        assert_eq!(warning[field], expected, "{field}");
    }
}

#[cfg(unix)]
#[test]
fn start_and_stop_are_events() {
    let events = json_lines(&log_of(&["--log", "info", "--log-format", "json", "--seed", "1"], &[]));
    let messages: Vec<_> = events.iter().map(|event| event["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["starting", "listening", "stopping", "stopped"]);
    assert!(events[1]["endpoint"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")));
    assert_eq!(events[2]["signal"], "SIGTERM");
}

#[cfg(unix)]
#[test]
fn text_log_is_quiet_by_default_and_has_no_colours_in_files() {
    let path = ["/?Action=ListQueues"];
    assert_eq!(log_of(&[], &path), "");
    let log = log_of(&["--log", "sqs_mock_server=debug"], &path);
    let line = log.lines().find(|line| line.contains("request")).expect("an event");
    assert!(line.contains("action=\"ListQueues\"") && line.contains("code=\"OK\""), "{line}");
    assert!(!line.contains('\u{1b}'), "colours are for terminals");
}

#[cfg(unix)]
#[test]
fn findings_of_strict_mode_are_warnings() {
    let paths = ["/queue/orders?Action=PurgeQueue"];
    let events = json_lines(&log_of(&["--strict", "--log-format", "json"], &paths));
    assert_eq!(events.len(), 1, "{events:?}");
    for (field, expected) in [
        ("level", "WARN"),
        ("kind", "foreign_queue_url"),
        ("queue", "arn:aws:sqs:us-east-1:000000000000:orders"),
        (
            "message",
            "queue URL \"http://x/queue/orders\" has no account; it must end with 12 digits and the queue name",
        ),
    ] {
        assert_eq!(events[0][field], expected, "{field}");
    }
    assert_eq!(log_of(&[], &paths), "");
}

#[cfg(unix)]
#[test]
fn secrets_and_bodies_are_never_logged() {
    let keys = format!("AKID:{SECRET}");
    let send = format!("/000000000000/q?Action=SendMessage&MessageBody={BODY}&DelaySeconds=1000");
    for arguments in [&["--auth", "sigv4"][..], &[]] {
        let flags = [&["--log", "trace", "--log-format", "json", "--key", &keys], arguments].concat();
        let log = log_of(&flags, &["/?Action=CreateQueue&QueueName=q", &send, &send.replace("1000", "1")]);
        assert!(log.contains("SendMessage") || log.contains("AccessDenied"), "{log}");
        assert!(!log.contains(SECRET) && !log.contains(BODY), "{log}");
    }
}

#[test]
fn malformed_key_is_not_shown() {
    for wrong in [format!(":{SECRET}"), SECRET.to_owned()] {
        let output = run(&["--key", &wrong]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr.contains("ID:SECRET") && !stderr.contains(SECRET), "{stderr}");
    }
}
