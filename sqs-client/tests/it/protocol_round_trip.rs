//! Encoding and decoding any value gives the same value.

use std::fmt::Display;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, TestCaseError, any, prop_assert_eq};
use proptest::test_runner::TestRunner;
use sqs_client::operation::{Action, Operation};
use sqs_client::types::HasMetadata;
use sqs_client::wire::protocol::{EncodedResponse, Protocol, ResponseError};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::shapes::{for_each_operation, through_form, through_xml};
use crate::shapes_arbitrary::arbitrary;
use crate::shapes_choices::Choices;

const REQUEST_ID: &str = "5cbf3a1e-66c6-4d0b-9a4b-8c1c8b1e8f0e";

/// Checks a property with arbitrary bytes.
fn check(property: impl Fn(&[u8]) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&vec(any::<u8>(), 0..=600), |bytes| property(&bytes));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn fail(cause: impl Display) -> TestCaseError {
    TestCaseError::fail(cause.to_string())
}

fn check_request<O: Operation>(
    protocol: Protocol,
    sent: &O::Input,
    expected: &O::Input,
) -> Result<(), TestCaseError> {
    let request = protocol.encode_request(sent).map_err(fail)?;
    let decoded: O::Input = protocol.decode_request(&request.body).map_err(fail)?;
    prop_assert_eq!(&decoded, expected, "{}", String::from_utf8_lossy(&request.body));
    if protocol == Protocol::AwsJson {
        check_same_as_serde_json(&request.body, sent)?;
    }
    Ok(())
}

/// Compares the bytes. The iteration order of a map does not change between the two.
fn check_same_as_serde_json(body: &[u8], shape: &impl serde::Serialize) -> Result<(), TestCaseError> {
    let expected = serde_json::to_string(shape).map_err(fail)?;
    prop_assert_eq!(String::from_utf8_lossy(body), expected);
    Ok(())
}

fn check_response<O: Operation>(
    protocol: Protocol,
    sent: &O::Output,
    expected: O::Output,
) -> Result<(), TestCaseError> {
    let EncodedResponse { status, headers, body, .. } =
        protocol.encode_response::<O>(sent, REQUEST_ID).map_err(fail)?;
    let decoded = protocol.decode_response::<O>(status, &headers, &body);
    let decoded = decoded.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
    let mut expected = expected;
    expected.metadata_mut().request_id = Some(REQUEST_ID.to_owned());
    prop_assert_eq!(decoded, expected, "{}", String::from_utf8_lossy(&body));
    if protocol == Protocol::AwsJson && !O::ACTION.is_void() {
        check_same_as_serde_json(&body, sent)?;
    }
    Ok(())
}

macro_rules! round_trip_tests {
    ($($module:ident $op:ident,)*) => { $(
        mod $module {
            use sqs_client::operation::$module::$op;

            use super::*;

            #[test]
            fn any_request_round_trips_in_both_protocols() {
                check(|bytes| {
                    let input = arbitrary(&mut Choices::new(bytes));
                    check_request::<$op>(Protocol::AwsJson, &input, &input)?;
                    check_request::<$op>(Protocol::Query, &input, &through_form::<$op>(&input))
                });
            }

            #[test]
            fn any_response_round_trips_in_both_protocols() {
                check(|bytes| {
                    let output = arbitrary(&mut Choices::new(bytes));
                    check_response::<$op>(Protocol::AwsJson, &output, output.clone())?;
                    check_response::<$op>(Protocol::Query, &output, through_xml::<$op>(&output))
                });
            }
        }
    )* };
}

for_each_operation!(round_trip_tests);

#[test]
fn any_service_error_round_trips_in_both_protocols() {
    check(|bytes| {
        let mut choices = Choices::new(bytes);
        let unknown = ErrorCode::from_name("AWS.SimpleQueueService.CodeOfTheFuture");
        for code in ErrorCode::ALL.iter().cloned().chain([unknown]) {
            let message = Some(choices.text()).filter(|text| text != "All");
            let service_error = ServiceError { code, message };
            for protocol in [Protocol::AwsJson, Protocol::Query] {
                let EncodedResponse { status, headers, body, .. } =
                    protocol.encode_error(&service_error, REQUEST_ID);
                prop_assert_eq!(status, service_error.code.status());
                match protocol.decode_response::<sqs_client::operation::send_message::SendMessage>(
                    status, &headers, &body,
                ) {
                    Err(ResponseError::Service { error, request_id }) => {
                        prop_assert_eq!(&error, &service_error);
                        prop_assert_eq!(request_id.as_deref(), Some(REQUEST_ID));
                    }
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                }
            }
        }
        Ok(())
    });
}

macro_rules! make_many {
    ($($module:ident $op:ident,)*) => {
        |choices: &mut Choices<'_>| { $(
            let _: <sqs_client::operation::$module::$op as Operation>::Input = arbitrary(choices);
            let _: <sqs_client::operation::$module::$op as Operation>::Output = arbitrary(choices);
        )* }
    };
}

#[test]
fn generator_produces_every_member_of_every_shape() {
    let make_all = for_each_operation!(make_many);
    // A Lehmer generator: deterministic pseudo-random bytes.
    let bytes: Vec<u8> = std::iter::successors(Some(1_u64), |last| Some(last * 48_271 % 0x7fff_ffff))
        .map(|number| number.to_le_bytes()[1])
        .take(200_000)
        .collect();
    let mut choices = Choices::new(&bytes);
    for _ in 0..20 {
        make_all(&mut choices);
    }
    assert_eq!(
        choices.possible.difference(&choices.generated).collect::<Vec<_>>(),
        Vec::<&(&str, &str)>::new()
    );
    let inputs = choices.possible.iter().filter(|(shape, _)| shape.ends_with("Input"));
    let inputs = inputs.map(|(shape, _)| shape).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(inputs.len(), Action::ALL.len());
}
