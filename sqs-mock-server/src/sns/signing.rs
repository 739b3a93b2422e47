//! The key that signs notifications, and its certificate.
//!
//! Both are constants, and the key is no secret: this program serves tests. A constant key costs no time at start, and
//! messages in a data directory stay verifiable after a restart. Trusting the certificate is harmless: it names no
//! host, and cannot issue certificates.

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response};
use rsa::sha2::Sha256;
use rsa::{BoxedUint, PrivateKey};
use sha1::Sha1;

/// The path of the certificate. Its name is the first half of the SHA-256 fingerprint, since consumers cache
/// certificates by URL.
pub(crate) const PATH: &str = "/SimpleNotificationService-8552410081d1755dbb44968db8e7037f.pem";

/// The bits of a prime factor of the key.
const PRIME_BITS: u32 = 1024;

const P: &str = "e17f1be4dcea36e8f985ba031df3432489e797c8028509e44084df2959a213b0783aaeb24c592cda0ea0d1\
    8448c65ea426b2d6a147b4bcea52540de348e186a9857bcf25928978ac9325e0d6da9eea04a670a576df5e\
    cbfc8503aa1b07d87d2fa81b207fba7d14b5f4bc4d656cce1028cb00afb4d720dc5fd5fc04e23f20f1c7";

const Q: &str = "cb704b0d751270c41bdd4c9a5dc0e7d2f37dbaf600295bb843a48e3cda35df9b5291fcc0c35678eab2de88\
    9736f4316a5109aa3368f619f8b0cddbdf1bae61157e6907b6900fd7d23ef235dea471c392da9180880ae7\
    1f189108ec309a8168c9d56b135f196d33a323f05804bb736aa2fc858bc4e4b7de5da9deacfff70d8289";

const EXPONENT: u64 = 65_537;

/// Loaded when the first text is signed.
static KEY: LazyLock<Option<PrivateKey>> = LazyLock::new(|| {
    let prime = |hex| BoxedUint::from_be_hex(hex, PRIME_BITS).into_option();
    PrivateKey::from_p_q(prime(P)?, prime(Q)?, BoxedUint::from(EXPONENT)).ok()
});

/// The RSA signature of a text with PKCS #1 v1.5, in base64. The version of signatures decides the hash: SHA-1 for `1`,
/// SHA-256 for `2`.
pub(crate) fn sign(text: &str, version: &str) -> String {
    let text = text.as_bytes();
    let signature = KEY.as_ref().and_then(|key| match version {
        "2" => key.pkcs1v15_sign::<Sha256>(text).ok(),
        _ => key.pkcs1v15_sign::<Sha1>(text).ok(),
    });
    // This key can always sign. If it could not, no consumer would accept an empty signature.
    base64_simd::STANDARD.encode_to_string(signature.unwrap_or_default())
}

/// The URL of the certificate, on the server with this URL.
pub(crate) fn certificate_url(base_url: &str) -> String {
    format!("{base_url}{PATH}")
}

/// Valid until 2119.
const CERTIFICATE: &str = include_str!("certificate.pem");

/// Whether a request is for the certificate.
pub(crate) fn is_asked_for(head: &Parts) -> bool {
    head.uri.path() == PATH && (head.method == Method::GET || head.method == Method::HEAD)
}

/// The response with the certificate.
pub(crate) fn response() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(CERTIFICATE.as_bytes()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signed by `openssl dgst -sha1` and `-sha256` with the same key.
    #[test]
    fn signatures_are_those_of_openssl() {
        let table = [
            (
                "1",
                "sXdz23howrPLrKiClw5f+nzwhXr7ONsn7wCLpqykORr96my5LgSugpYj1d39RiY8ufItfP7/CNE7H2/MuntNz6W7NpxlbrQeNGkwGFPHeEpwIic2MLZrpD5ZR34JcnnvswLqKoYqlA6u0S5Xmy1Uhi39eE4kYXuGvJCc+Dimj0rvRDPGAuQRqcunySatX7odAezWbiUYG4ziFqqF89heIZANZxkrOS1VfwgtF9xRhQawaWGyFuLfWBj29DCGtLsPm6OJLv8q/O5owpUdwMqppvOVJbsMKflVk+Ud35vNf851D0wSFA94k5eCsE29k0glWSLSw/VKDvVns24VIxKDFA==",
            ),
            (
                "2",
                "J2S1agwFImYpNXWfr51rHC5z6fSHjrmoQABUGDzb+Ao4nu+y6STlPJEDLzcuPpXtRiQkpA6KYX/M+A2Vo4Tk2mlpVQxTZgW/piY4HtVxDxjEXvzKiktedhFkAryNjFj1+snQ9r10arDxuiUAYTaLPOTncDpCPNw1I22KmjRFt7DJIuWjrImmIlOuKvdyr01g0Ly5yOAcslMfTYT4Y6VOka2NejAEId4jxnYr6jHYwIrMxZ0ohOGhMFlaFoqyA3hBoPV87+6QDpzuqJhcuOvJ8QOcbxf8nzEFA642XkdGYVHWQkffWPM+c6T1ezpQYeuL4EoteGxPnc5SaXbG/vmqHA==",
            ),
        ];
        for (version, expected) in table {
            assert_eq!(sign("Message\ntea\n", version), expected, "version {version}");
        }
        assert_eq!(certificate_url("http://localhost:9324"), format!("http://localhost:9324{PATH}"));
    }
}
