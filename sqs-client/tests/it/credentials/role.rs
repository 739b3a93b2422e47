//! Roles in profiles: `role_arn` with `source_profile` or `credential_source`.

use std::time::Duration;

use sqs_client::config::credentials::ProfileCredentials;
use sqs_client::config::{Builder, Region};
use sqs_client::time::{SystemClock, TimeSource as _};
use wiremock::matchers::{body_string_contains, header, header_regex, method};
use wiremock::{Mock, MockServer};

use super::rig::*;

const ACTION: &str = "AssumeRole";
const ROLE: &str = "arn:aws:iam::123456789012:role/orders";

fn base_keys() -> String {
    format!("[base]\naws_access_key_id = AKBASE\naws_secret_access_key = {SECRET}\n")
}

fn world(sts: &str, config: &str) -> World {
    let world = World::new().with("AWS_ENDPOINT_URL_STS", sts).with("AWS_REGION", "eu-west-1");
    world.file(".aws/config", config).file(".aws/credentials", &base_keys())
}

fn provider(world: &World) -> ProfileCredentials {
    ProfileCredentials::new(world.environment())
}

async fn assumes(server: &MockServer, with: &str, role: &str, key: &str) {
    Mock::given(method("POST"))
        .and(header_regex(
            "authorization",
            &format!("Credential={with}/[0-9]{{8}}/eu-west-1/sts/aws4_request"),
        ))
        .and(body_string_contains(format!("role%2F{role}&")))
        .respond_with(assumed(ACTION, key, in_an_hour()))
        .expect(1)
        .mount(server)
        .await;
}

#[tokio::test]
async fn role_is_assumed_with_all_settings_of_the_profile() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(body_string_contains("Action=AssumeRole&"))
        .and(body_string_contains("RoleSessionName=billing&DurationSeconds=900&ExternalId=a%20b%2B1"))
        .and(header_regex("authorization", "Credential=AKBASE/"))
        .respond_with(assumed(ACTION, "AKROLE", in_an_hour()))
        .expect(1)
        .mount(&server)
        .await;
    let config = format!(
        "[default]\nrole_arn = {ROLE}\nsource_profile = base\nrole_session_name = billing\nduration_seconds = 900\n\
         external_id = a b+1\n"
    );
    let credentials = given(&provider(&world(&server.uri(), &config))).await;
    assert_eq!(credentials.access_key_id(), "AKROLE");
}

#[tokio::test]
async fn chained_roles_are_assumed_in_order() {
    let server = MockServer::start().await;
    assumes(&server, "AKBASE", "first", "AKFIRST").await;
    assumes(&server, "AKFIRST", "second", "AKSECOND").await;
    let config = "[profile middle]\nrole_arn = arn:aws:iam::1:role/first\nsource_profile = base\n\
                  [profile last]\nrole_arn = arn:aws:iam::1:role/second\nsource_profile = middle\n";
    let world = world(&server.uri(), config).with("AWS_PROFILE", "last");
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKSECOND");
}

#[tokio::test]
async fn profile_can_be_its_own_source() {
    let server = MockServer::start().await;
    assumes(&server, "AKBASE", "orders", "AKROLE").await;
    let config = format!("[profile base]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let world = world(&server.uri(), &config).with("AWS_PROFILE", "base");
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKROLE");
}

#[tokio::test]
async fn credential_source_selects_variables_container_or_instance() {
    let server = MockServer::start().await;
    assumes(&server, "AKVAR", "orders", "AKROLE").await;
    let config = |source: &str| format!("[default]\nrole_arn = {ROLE}\ncredential_source = {source}\n");
    let world = world(&server.uri(), &config("Environment"));
    assert_contains(&invalid(&provider(&world)).await, &["AWS_ACCESS_KEY_ID is not set"]);
    world.set("AWS_ACCESS_KEY_ID", "AKVAR");
    world.set("AWS_SECRET_ACCESS_KEY", SECRET);
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKROLE");

    let container = MockServer::start().await;
    Mock::given(method("GET")).respond_with(metadata("AKECS", in_an_hour())).mount(&container).await;
    assumes(&server, "AKECS", "orders", "AKROLE2").await;
    world.write(".aws/config", &config("EcsContainer"));
    world.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container.uri());
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKROLE2");

    world.write(".aws/config", &config("Ec2InstanceMetadata"));
    assert_contains(&invalid(&provider(&world)).await, &["AWS_EC2_METADATA_DISABLED"]);
    world.write(".aws/config", &config("Moon"));
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &["config:3: credential_source=\"Moon\"", "Environment, EcsContainer or Ec2"]);
}

#[tokio::test]
async fn only_throttling_and_server_failures_are_retryable() {
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let answered = |answer| async {
        let server = MockServer::start().await;
        Mock::given(method("POST")).respond_with(answer).mount(&server).await;
        server
    };
    let server = answered(denied(403, "AccessDenied", "no")).await;
    assert_contains(&invalid(&provider(&world(&server.uri(), &config))).await, &[ROLE, "AccessDenied: no"]);
    let server = answered(denied(400, "Throttling", "slow down")).await;
    assert_contains(&passing(&provider(&world(&server.uri(), &config))).await, &["Throttling"]);
    let server = answered(denied(503, "ServiceUnavailable", "")).await;
    assert_contains(&passing(&provider(&world(&server.uri(), &config))).await, &["status 503"]);
    assert_contains(&passing(&provider(&world(&nowhere().await, &config))).await, &["cannot connect"]);
}

#[tokio::test]
async fn wrong_clock_is_corrected_with_the_date_of_the_response() {
    let server = MockServer::start().await;
    let clock = Clock::new();
    let right = httpdate::fmt_http_date(in_an_hour());
    let refusal = denied(403, "SignatureDoesNotMatch", "expired").insert_header("date", right.as_str());
    let later = stamp(in_an_hour()).replace(['-', ':'], "");
    // The second signature has the date of the service.
    Mock::given(header_regex("x-amz-date", &format!("^{}", &later[..11])))
        .respond_with(assumed(ACTION, "AKROLE", in_an_hour() + Duration::from_secs(3_600)))
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(method("POST")).respond_with(refusal).mount(&server).await;
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let environment = world(&server.uri(), &config).environment().time_source(clock);
    assert_eq!(given(&ProfileCredentials::new(environment)).await.access_key_id(), "AKROLE");
}

#[tokio::test]
async fn session_token_of_the_source_profile_is_sent() {
    let server = MockServer::start().await;
    Mock::given(header("x-amz-security-token", "base-token"))
        .respond_with(assumed(ACTION, "AKROLE", in_an_hour()))
        .mount(&server)
        .await;
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let world = world(&server.uri(), &config);
    world.write(".aws/credentials", &format!("{}aws_session_token = base-token\n", base_keys()));
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKROLE");
}

#[tokio::test]
async fn region_and_clock_of_the_environment_win_over_those_of_the_builder() {
    let server = MockServer::start().await;
    let clock = Clock::new();
    clock.advance(86_400 * 400);
    let year = stamp(clock.now())[..4].to_owned();
    Mock::given(header_regex("authorization", &format!("/{year}[0-9]{{4}}/eu-west-2/sts/")))
        .respond_with(assumed(ACTION, "AKROLE", in_an_hour()))
        .expect(1)
        .mount(&server)
        .await;
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let environment = world(&server.uri(), &config).environment().region("eu-west-2").time_source(clock);
    let builder = Builder::from_environment(environment).expect("valid").time_source(SystemClock);
    let provider = builder.region(Region::new("us-east-1")).build().credentials_provider().expect("set");
    assert_eq!(given(&provider).await.access_key_id(), "AKROLE");
}

#[tokio::test]
async fn transient_errors_of_sts_are_retried_within_three_attempts() {
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    for code in ["Throttling", "IDPCommunicationError"] {
        let server = MockServer::start().await;
        let refusal = Mock::given(method("POST")).respond_with(denied(400, code, "later"));
        refusal.up_to_n_times(2).expect(2).with_priority(1).mount(&server).await;
        assumes(&server, "AKBASE", "orders", "AKROLE").await;
        assert_eq!(given(&provider(&world(&server.uri(), &config))).await.access_key_id(), "AKROLE");
    }
    let server = MockServer::start().await;
    let refusal = Mock::given(method("POST")).respond_with(denied(400, "Throttling", "later"));
    refusal.expect(3).mount(&server).await;
    assert_contains(&passing(&provider(&world(&server.uri(), &config))).await, &["Throttling: later"]);
}

#[tokio::test]
async fn endpoint_variants_that_are_set_in_code_apply_to_sts() {
    let world = || {
        let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
        World::new()
            .with("AWS_REGION", "us-west-2")
            .with("AWS_USE_FIPS_ENDPOINT", "true")
            .file(".aws/config", &config)
            .file(".aws/credentials", &base_keys())
    };
    for (fips, dual_stack, host) in [
        (true, false, "sts-fips.us-west-2.amazonaws.com"),
        (false, true, "sts.us-west-2.api.aws"),
        (false, false, "sts.us-west-2.amazonaws.com"),
    ] {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .respond_with(assumed(ACTION, "AKROLE", in_an_hour()))
            .mount(&server)
            .await;
        let rerouted = Rerouted::to(&server.uri());
        let hosts = std::sync::Arc::clone(&rerouted.hosts);
        let builder = Builder::from_environment(world().environment().transport(rerouted)).expect("valid");
        let sqs = sqs_mock_server::MockSqs::in_process();
        let config = builder.use_fips(fips).use_dual_stack(dual_stack).transport(sqs.transport()).build();
        sqs_client::Client::from_conf(config).list_queues().send().await.expect("signed");
        assert_eq!(*hosts.lock().expect("not poisoned"), [host]);
    }
    // A provider that is used alone has those of its environment, else of the variables.
    let of_variables = world().environment();
    let of_code = world().environment().use_fips(false).use_dual_stack(true);
    for (environment, host) in
        [(of_variables, "sts-fips.us-west-2.amazonaws.com"), (of_code, "sts.us-west-2.api.aws")]
    {
        let server = MockServer::start().await;
        let answer = assumed(ACTION, "AKROLE", in_an_hour());
        Mock::given(method("POST")).respond_with(answer).mount(&server).await;
        let rerouted = Rerouted::to(&server.uri());
        let hosts = std::sync::Arc::clone(&rerouted.hosts);
        given(&ProfileCredentials::new(environment.transport(rerouted))).await;
        assert_eq!(*hosts.lock().expect("not poisoned"), [host]);
    }
}

#[tokio::test]
async fn endpoint_variant_and_url_of_sts_cannot_be_combined() {
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let world = world("http://localhost:1", &config).with("AWS_USE_FIPS_ENDPOINT", "true");
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &["STS endpoint", "FIPS", "http://localhost:1"]);
}

#[tokio::test]
async fn ca_bundle_applies_to_a_provider_that_is_used_alone() {
    let config = format!("[default]\nrole_arn = {ROLE}\nsource_profile = base\n");
    let world = World::new()
        .with("AWS_REGION", "us-west-2")
        .with("AWS_CA_BUNDLE", "~/no/such/bundle.pem")
        .file(".aws/config", &config)
        .file(".aws/credentials", &base_keys());
    let text = invalid(&ProfileCredentials::new(world.environment())).await;
    assert_contains(&text, &[&world.path("no/such/bundle.pem").display().to_string()]);
}
