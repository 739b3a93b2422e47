//! No public type shows a secret in its debug output.
//!
//! The test reads the names of all public types from the sources: each must be shown here with a secret in it, or stand in the
//! list of those that hold none.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sqs_client::Client;
use sqs_client::client::{CallOptions, Execute as _};
use sqs_client::config::credentials::{
    ContainerCredentials, CredentialsChain, Environment, EnvironmentCredentials, InstanceCredentials,
    ProcessCredentials, ProfileCredentials, WebIdentityCredentials,
};
use sqs_client::config::{Builder, Config, Credentials, Region};
use sqs_client::error::{ErrorCode, ServiceError};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::transport::{PoolConfig, ReqwestTransport, TlsConfig, TransportError, TransportErrorKind};
use sqs_client::wire::sign::{Signable, Signer, Verifiable, verify};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::service::{HELLO, QUEUE};

const SECRET: &str = "hunter2-secret";

/// Types that hold choices, limits, or what the caller sends and receives in messages, queues and tags.
const WITHOUT_SECRETS: &[&str] = &[
    "Action",
    "AppName",
    "BatchItemFailure",
    "CallReport",
    "ChecksumMismatch",
    "ChecksumPolicy",
    "Classified",
    "DamagedMessage",
    "UnopenedMessage",
    "DecodeError",
    "DeduplicationIds",
    "Detected",
    "Draft",
    "EncodeError",
    "EncodedRequest",
    "EncodedResponse",
    "ErrorCode",
    "ErrorKind",
    "Fault",
    "Form",
    "Hooks",
    "InvalidAppName",
    "Md5Hex",
    "PoolConfig",
    "Protocol",
    "QueueRules",
    "Region",
    "ResponseError",
    "ResponseMetadata",
    "Retries",
    "RetryClass",
    "SignError",
    "SqsBatchResponse",
    "SqsEvent",
    "SqsRecord",
    "SqsRecordAttribute",
    "SystemClock",
    "TransportErrorKind",
    "UnknownVariantError",
    "UnknownVariantValue",
    "Unopened",
    "VerifyError",
];

#[tokio::test]
async fn no_public_type_shows_a_secret() {
    let server = MockServer::start().await;
    let quoted = format!("the canonical request was 'POST\n/\nx-amz-security-token:{SECRET}\n'");
    let body = serde_json::json!({ "__type": "SignatureDoesNotMatch", "message": quoted });
    let refusal = ResponseTemplate::new(403).set_body_raw(body.to_string(), "application/x-amz-json-1.0");
    Mock::given(method("POST")).respond_with(refusal).mount(&server).await;

    let variables = |name: &str| (!name.ends_with("FILE") && name.contains("AWS")).then(|| SECRET.to_owned());
    let environment = Environment::default().variables(variables);
    let credentials = Credentials::new("AK", SECRET, Some(SECRET.to_owned()), None, "test");
    let builder = Builder::new()
        .region(Region::new("eu-west-1"))
        .credentials_provider(credentials.clone())
        .endpoint_url(server.uri());
    let client = Client::from_conf(builder.clone().build());
    let request = client.send_message().queue_url(QUEUE).message_body(HELLO);
    let input = SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build().expect("complete");
    let error = client.execute::<SendMessage>(&input, CallOptions::default()).await.expect_err("refused");
    let (lists, urls) =
        (client.list_queues().into_paginator(), client.list_queues().into_paginator().items());
    let with_password = format!("http://user:{SECRET}@localhost:1");
    let misconfigured = Environment::default()
        .variables(move |name| (name == "AWS_ENDPOINT_URL").then(|| with_password.clone()));
    let invalid = Builder::from_environment(misconfigured).expect_err("a password is not allowed");
    let passwords = Config::builder().endpoint_url(format!("http://user:{SECRET}@localhost:1")).build();
    let unsent = Client::from_conf(passwords.clone()).list_queues().send().await.expect_err("invalid");
    let queries = Config::builder().endpoint_url(format!("http://localhost:1/?token={SECRET}")).build();
    let unsent_too = Client::from_conf(queries.clone()).list_queues().send().await.expect_err("invalid");

    let signer = Signer::default();
    let mut headers = http::HeaderMap::new();
    headers.insert("host", "localhost".parse().expect("a value"));
    headers.insert("content-type", "application/x-amz-json-1.0".parse().expect("a value"));
    let signable = Signable { host: "localhost", path: "/", body: b"{}" };
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
    signer.sign(signable, &mut headers, &credentials, "eu-west-1", now).expect("signed");
    // As a server receives it: only the signer knows that the header is a secret.
    headers.insert("x-amz-security-token", SECRET.parse().expect("a value"));
    let verifiable = Verifiable { method: "POST", path: "/", query: "", headers: &headers, body: b"{}" };
    let keys = std::collections::HashMap::from([("AK".to_owned(), SECRET.to_owned())]);
    let claim = verify(verifiable, &keys, now).expect("signed with this key");

    let transport = ReqwestTransport::new(PoolConfig::default()).expect("made");
    let failed = TransportError::new(TransportErrorKind::Connect, "refused");
    let shown = [
        ("Environment", format!("{environment:?}")),
        ("CredentialsChain", format!("{:?}", CredentialsChain::new(&environment))),
        ("EnvironmentCredentials", format!("{:?}", EnvironmentCredentials::new(environment.clone()))),
        ("ProfileCredentials", format!("{:?}", ProfileCredentials::new(environment.clone()))),
        ("ProcessCredentials", format!("{:?}", ProcessCredentials::new(environment.clone(), SECRET))),
        ("WebIdentityCredentials", format!("{:?}", WebIdentityCredentials::new(environment.clone()))),
        ("ContainerCredentials", format!("{:?}", ContainerCredentials::new(environment.clone()))),
        ("InstanceCredentials", format!("{:?}", InstanceCredentials::new(environment))),
        ("Builder", format!("{builder:?} {:?} {:?}", passwords.to_builder(), queries.to_builder())),
        ("Config", format!("{:?} {passwords:?} {queries:?}", client.config())),
        ("ConfigError", format!("{invalid:?} {invalid}")),
        ("Client", format!("{client:?}")),
        ("Queue", format!("{:?}", client.queue(QUEUE))),
        ("FluentBuilder", format!("{request:?}")),
        ("Paginator", format!("{lists:?}")),
        ("PaginatorItems", format!("{urls:?}")),
        ("CallOptions", format!("{:?}", CallOptions::default().after(Some(error.clone())))),
        ("Error", format!("{error:?} {error} {unsent:?} {unsent} {unsent_too:?} {unsent_too}")),
        ("ServiceError", format!("{:?}", error.service_error().expect("of the service"))),
        ("TransportError", format!("{failed:?} {failed}")),
        ("TlsConfig", format!("{:?}", TlsConfig::no_roots().add_root_pem(SECRET))),
        ("ReqwestTransport", format!("{transport:?}")),
        ("Signer", format!("{signer:?}")),
        ("Signable", format!("{signable:?}")),
        ("Verifiable", format!("{verifiable:?}")),
        ("Claim", format!("{claim:?}")),
    ];
    for (name, text) in &shown {
        assert!(!text.contains(SECRET), "{name}: {text}");
    }
    assert_eq!(error.error_code(), Some(&ErrorCode::SignatureDoesNotMatch));
    assert!(ServiceError::bare(ErrorCode::AccessDenied).message.is_none());

    // They show no content.
    let of_features = ["HyperTransport", "SmithyTransport"];
    let known: BTreeSet<String> = (shown.iter().map(|(name, _)| *name))
        .chain(WITHOUT_SECRETS.iter().copied())
        .chain(of_features)
        .map(str::to_owned)
        .collect();
    let public = public_types(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert_eq!(public.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "add them above");
}

/// The names of all types that are declared as public below `folder`.
fn public_types(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            names.extend(public_types(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for line in text.lines().map(str::trim_start) {
            let declared = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            let name = declared.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
            names.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    names
}
