//! The input of a request without its signature.

use sqs_client::wire::protocol::Protocol;

use super::ring::MAX_BYTES;

/// Parameters of signature versions 4 and 2.
const SECRETS: [&[u8]; 3] = [b"Signature", b"SecurityToken", b"AWSAccessKeyId"];
const SECRET_PREFIX: &[u8] = b"X-Amz-";

/// A copy of the AWS JSON body or the Query form; `None` if it is too long.
pub(super) fn kept(protocol: Protocol, input: &[u8]) -> Option<Box<[u8]>> {
    let kept = || match protocol {
        Protocol::AwsJson => input.into(),
        Protocol::Query => without_secrets(input),
    };
    (input.len() <= MAX_BYTES).then(kept)
}

fn without_secrets(form: &[u8]) -> Box<[u8]> {
    let kept: Vec<_> = form.split(|byte| *byte == b'&').filter(|pair| !is_secret(pair)).collect();
    kept.join(&b'&').into()
}

/// Names with escapes count as secret, since no parameter of SQS needs escapes.
fn is_secret(pair: &[u8]) -> bool {
    let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
    let starts_as =
        |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    name.contains(&b'%') || starts_as(SECRET_PREFIX) || SECRETS.iter().any(|secret| starts_as(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(protocol: Protocol, input: &[u8]) -> Box<[u8]> {
        kept(protocol, input).unwrap()
    }

    #[test]
    fn signature_in_a_form_is_not_recorded() {
        let form = b"Action=SendMessage&X-Amz-Security-Token=s1&MessageBody=X-Amz-%26&x-amz-signature=s2&\
            Signature=s3&SignatureMethod=m&SecurityToken=s4&AWSAccessKeyId=k&X%2DAmz-Signature=s5&QueueUrl=q";
        let kept = of(Protocol::Query, form);
        assert_eq!(&*kept, b"Action=SendMessage&MessageBody=X-Amz-%26&QueueUrl=q");
    }

    #[test]
    fn json_is_recorded_unchanged() {
        assert_eq!(&*of(Protocol::AwsJson, b"{\"a\":\"Signature=1&b\"}"), b"{\"a\":\"Signature=1&b\"}");
    }
}
