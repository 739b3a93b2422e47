//! No public type shows a secret in its debug output. The test reads the names of all public types from the sources.

use std::collections::BTreeSet;
use std::path::Path;

use aws_credential_types::Credentials;
use sqs_sdk::config::endpoint::{DefaultResolver, Params};
use sqs_sdk::config::{IdentityCache, Region};
use sqs_sdk::error::{DisplayErrorContext, ProvideErrorMetadata as _};
use sqs_sdk::{Client, Config, Error};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

use crate::service::json;

const SECRET: &str = "hunter2-secret";

/// Types without content of their own. The macros name the error of each operation, which the test shows for one.
const WITHOUT_SECRETS: &[&str] = &["InvalidParams"];

#[tokio::test]
async fn no_public_type_shows_a_secret() {
    let server = MockServer::start().await;
    let quoted = format!("the canonical request was 'POST\n/\nx-amz-security-token:{SECRET}\n'");
    let body = serde_json::json!({ "__type": "SignatureDoesNotMatch", "message": quoted }).to_string();
    Mock::given(any()).respond_with(json(403, &body)).mount(&server).await;

    let builder = Config::builder()
        .region(Region::new("eu-west-1"))
        .endpoint_url(server.uri())
        .credentials_provider(Credentials::new("AK", SECRET, Some(SECRET.to_owned()), None, "test"))
        .identity_cache(IdentityCache::lazy().build());
    let with_password = Config::builder().endpoint_url(format!("http://user:{SECRET}@localhost:1"));
    let with_query = Config::builder().endpoint_url(format!("http://localhost:1/?token={SECRET}"));
    let client = Client::from_conf(builder.clone().build());
    let call = client.list_queues().customize().mutate_request(|_| {});
    let shown_call = format!("{call:?}");
    let refused = call.send().await.expect_err("refused");
    let context = DisplayErrorContext(&refused).to_string();
    let unsent = Client::from_conf(with_password.clone().build()).list_queues().send().await;
    let unsent = unsent.expect_err("a password is not allowed");
    let unsent_too = Client::from_conf(with_query.clone().build()).list_queues().send().await;
    let unsent_too = unsent_too.expect_err("a query is not allowed");
    assert_eq!(refused.code(), Some("SignatureDoesNotMatch"));
    let of_all = format!("{refused:?} {unsent:?} {unsent_too:?}");
    let unhandled = match Error::from(refused) {
        #[expect(deprecated, reason = "the type is public")]
        Error::Unhandled(unhandled) => format!("{unhandled:?}"),
        other => panic!("{other:?}"),
    };
    let params = Params::builder().endpoint(format!("http://user:{SECRET}@localhost:1/?token={SECRET}"));
    let shown = [
        ("Builder", format!("{builder:?} {with_password:?} {with_query:?}")),
        ("Config", format!("{:?} {:?} {:?}", client.config(), with_password.build(), with_query.build())),
        ("Client", format!("{client:?}")),
        ("CustomizableOperation", shown_call),
        ("SdkError", format!("{of_all} {context}")),
        ("Unhandled", unhandled),
        ("DefaultResolver", format!("{:?}", DefaultResolver::new())),
        ("ParamsBuilder", format!("{params:?}")),
        ("Params", format!("{:?}", params.build().expect("complete"))),
    ];
    for (name, text) in &shown {
        assert!(!text.contains(SECRET), "{name}: {text}");
    }
    let known: BTreeSet<String> = shown
        .iter()
        .map(|(name, _)| *name)
        .chain(WITHOUT_SECRETS.iter().copied())
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
