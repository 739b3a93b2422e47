//! Temporary credentials of assumed roles.

use std::collections::HashMap;

use aws_sdk_sts::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sts::error::ProvideErrorMetadata as _;
use sqs_client::Client;
use sqs_client::config::credentials::{CredentialsChain, Environment};
use sqs_mock_server::{MockSqs, MockSqsBuilder};

const ROLE: &str = "arn:aws:iam::123456789012:role/kitchen/cook";

/// A JSON Web Token with subject, issuer and audience.
const TOKEN: &str = "e30.eyJzdWIiOiJ1c2VyIiwiaXNzIjoiaHR0cHM6Ly9pZHAudGVzdCIsImF1ZCI6WyJzdHMiXX0.c2ln";

fn secured() -> MockSqsBuilder {
    MockSqs::builder().require_signatures([("AKID", "secret")])
}

fn sts(server: &MockSqs, credentials: Credentials) -> aws_sdk_sts::Client {
    let config = aws_sdk_sts::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(credentials)
        .endpoint_url(server.endpoint_url())
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    aws_sdk_sts::Client::from_conf(config.build())
}

fn given(credentials: &aws_sdk_sts::types::Credentials) -> Credentials {
    let token = Some(credentials.session_token().to_owned());
    Credentials::new(credentials.access_key_id(), credentials.secret_access_key(), token, None, "test")
}

/// A client whose requests these credentials sign.
fn sqs(server: &MockSqs, credentials: Credentials) -> Client {
    Client::from_conf(server.client_config().credentials_provider(credentials).build())
}

/// The chain of our own client, with these variables.
fn chain(variables: &[(&str, &str)]) -> CredentialsChain {
    let variables: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    CredentialsChain::new(&Environment::default().variables(move |name| variables.get(name).cloned()))
}

#[tokio::test]
async fn credentials_of_a_role_are_of_its_account() {
    for server in [secured().start().await.unwrap(), MockSqs::start().await] {
        let long_term = Credentials::new("AKID", "secret", None, None, "test");
        let assume = sts(&server, long_term).assume_role().role_arn(ROLE).role_session_name("lunch");
        let assumed = assume.duration_seconds(900).send().await.unwrap();
        let user = assumed.assumed_role_user().unwrap();
        assert_eq!(user.arn(), "arn:aws:sts::123456789012:assumed-role/cook/lunch");
        assert!(user.assumed_role_id().starts_with("AROA") && user.assumed_role_id().ends_with(":lunch"));
        let credentials = given(assumed.credentials().unwrap());
        let seconds = assumed.credentials().unwrap().expiration().secs() - system_seconds();
        assert!((890..=900).contains(&seconds), "{seconds}");

        let identity = sts(&server, credentials.clone()).get_caller_identity().send().await.unwrap();
        assert_eq!(identity.account(), Some("123456789012"));
        assert_eq!((identity.arn(), identity.user_id()), (Some(user.arn()), Some(user.assumed_role_id())));

        let created = sqs(&server, credentials).create_queue().queue_name("soups").send().await.unwrap();
        assert!(created.queue_url().unwrap().ends_with("/123456789012/soups"));
        assert!(server.queue("soups").of_account("123456789012").exists());
    }
}

#[expect(clippy::disallowed_methods, reason = "credentials expire by the system time")]
fn system_seconds() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_secs().try_into().unwrap()
}

#[tokio::test]
async fn temporary_key_is_refused_without_its_token() {
    let server = secured().start().await.unwrap();
    let long_term = || Credentials::new("AKID", "secret", None, None, "test");
    let assume = || sts(&server, long_term()).assume_role().role_arn(ROLE).role_session_name("lunch").send();
    let (first, second) = (assume().await.unwrap(), assume().await.unwrap());
    let (first, second) = (first.credentials().unwrap(), second.credentials().unwrap());
    assert_ne!(first.access_key_id(), second.access_key_id());
    let (key, secret) = (first.access_key_id(), first.secret_access_key());
    for token in [None, Some(second.session_token().to_owned()), Some("made up".to_owned())] {
        let credentials = Credentials::new(key, secret, token, None, "test");
        let refused = sqs(&server, credentials.clone()).list_queues().send().await.unwrap_err();
        assert_eq!(refused.code(), Some("InvalidClientTokenId"));
        let refused = sts(&server, credentials).get_caller_identity().send().await.unwrap_err();
        assert_eq!(refused.code(), Some("InvalidClientTokenId"));
    }
    let other = Credentials::new(key, "other", Some(first.session_token().to_owned()), None, "test");
    let refused = sqs(&server, other).list_queues().send().await.unwrap_err();
    assert_eq!(refused.code(), Some("SignatureDoesNotMatch"));
}

#[tokio::test]
async fn our_own_chain_assumes_roles_of_profiles_and_of_tokens() {
    let server = secured().start().await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let profiles = format!(
        "[default]\nrole_arn = {ROLE}\nsource_profile = base\n[profile base]\naws_access_key_id = AKID\n\
         aws_secret_access_key = secret\n"
    );
    let (profiles, token) = (file("config", &profiles), file("token", TOKEN));
    let (none, endpoint) = (file("none", ""), server.endpoint_url());
    let common = [("AWS_ENDPOINT_URL_STS", endpoint), ("AWS_SHARED_CREDENTIALS_FILE", &*none)];
    let of_profile = [("AWS_CONFIG_FILE", &*profiles)];
    let of_token =
        [("AWS_CONFIG_FILE", &*none), ("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", ROLE)];
    for (variables, action) in [(&of_profile[..], "AssumeRole"), (&of_token[..], "AssumeRoleWithWebIdentity")]
    {
        let chain = chain(&[&common[..], variables].concat());
        let client = Client::from_conf(server.client_config().credentials_provider(chain).build());
        let created = client.create_queue().queue_name(action).send().await.unwrap();
        assert!(created.queue_url().unwrap().contains("/123456789012/"), "{created:?}");
        assert_eq!(server.sts_requests().last().unwrap().action, action);
    }
}

#[tokio::test]
async fn token_of_an_identity_provider_is_read_but_not_verified() {
    let server = secured().start().await.unwrap();
    let client = sts(&server, Credentials::new("AKID", "secret", None, None, "test"));
    let assume = |token: &str| {
        let assume = client.assume_role_with_web_identity().role_arn(ROLE).role_session_name("lunch");
        assume.web_identity_token(token).send()
    };
    let assumed = assume(TOKEN).await.unwrap();
    assert_eq!(assumed.subject_from_web_identity_token(), Some("user"));
    assert_eq!((assumed.audience(), assumed.provider()), (Some("sts"), Some("https://idp.test")));
    assert!(server.sts_requests().last().unwrap().notes.is_empty());
    assert!(assume("made up").await.unwrap().credentials().is_some());
    let notes = server.sts_requests().last().unwrap().notes.clone();
    assert_eq!(notes, ["AWS would reject the WebIdentityToken: it is not a JSON Web Token"]);
}

#[tokio::test]
async fn wrong_parameters_are_named_with_what_is_allowed() {
    let server = MockSqs::start().await;
    let client = sts(&server, Credentials::new("AKID", "secret", None, None, "test"));
    let user = "arn:aws:iam::123456789012:user/cook";
    let detected = "1 validation error detected: Value";
    let must = "failed to satisfy constraint: Member must";
    for (role, name, seconds, text) in [
        (
            "role/cook",
            "lunch",
            900,
            format!("{detected} 'role/cook' at 'roleArn' {must} have length greater than or equal to 20"),
        ),
        (user, "lunch", 900, format!("{user} is invalid")),
        (
            ROLE,
            "x",
            900,
            format!("{detected} 'x' at 'roleSessionName' {must} have length greater than or equal to 2"),
        ),
        (
            ROLE,
            "a b",
            900,
            format!(
                "{detected} 'a b' at 'roleSessionName' {must} satisfy regular expression pattern: [\\w+=,.@-]*"
            ),
        ),
        (
            ROLE,
            "lunch",
            899,
            format!("{detected} '899' at 'durationSeconds' {must} have value greater than or equal to 900"),
        ),
        (
            ROLE,
            "lunch",
            43_201,
            format!("{detected} '43201' at 'durationSeconds' {must} have value less than or equal to 43200"),
        ),
    ] {
        let assume = client.assume_role().role_arn(role).role_session_name(name).duration_seconds(seconds);
        let refused = assume.send().await.unwrap_err();
        assert_eq!((refused.code(), refused.message()), (Some("ValidationError"), Some(&*text)));
    }
}

#[cfg(feature = "s3")]
#[tokio::test]
async fn credentials_of_a_role_also_sign_requests_to_s3() {
    use sqs_mock_server::s3::S3;

    let server = secured().s3(S3::temporary()).start().await.unwrap();
    let long_term = Credentials::new("AKID", "secret", None, None, "test");
    let assume = sts(&server, long_term).assume_role().role_arn(ROLE).role_session_name("lunch");
    let role = given(assume.send().await.unwrap().credentials().unwrap());
    let (key, secret) = (role.access_key_id().to_owned(), role.secret_access_key().to_owned());
    let put = |credentials: Credentials| {
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(aws_sdk_s3::config::BehaviorVersion::latest())
            .region(aws_sdk_s3::config::Region::new("us-east-1"))
            .credentials_provider(aws_sdk_s3::config::SharedCredentialsProvider::new(credentials))
            .endpoint_url(server.s3().endpoint_url())
            .force_path_style(true)
            .http_client(aws_smithy_http_client::Builder::new().build_http());
        let client = aws_sdk_s3::Client::from_conf(config.build());
        client
            .put_object()
            .bucket("payloads")
            .key("a")
            .body(aws_sdk_s3::primitives::ByteStream::from_static(b"tea"))
            .send()
    };
    put(role).await.unwrap();
    for (token, code) in [(None, "InvalidAccessKeyId"), (Some("made up".to_owned()), "InvalidToken")] {
        let refused = put(Credentials::new(&key, &secret, token, None, "test")).await.unwrap_err();
        assert_eq!(aws_sdk_s3::error::ProvideErrorMetadata::code(&refused), Some(code));
    }
}
