//! The settings for the platform's TLS library, which reqwest takes.

use super::{Roots, TlsConfig};
use crate::transport::{TransportError, TransportErrorKind};

impl TlsConfig {
    pub(in crate::transport) fn configure_native(
        &self,
        builder: reqwest::ClientBuilder,
    ) -> Result<reqwest::ClientBuilder, TransportError> {
        let mut certificates = Vec::new();
        for pem in &self.0.added {
            for certificate in pem.certificates()? {
                let certificate = reqwest::Certificate::from_der(&certificate);
                certificates.push(certificate.map_err(|error| pem.unusable(error))?);
            }
        }
        match self.0.roots {
            Roots::Platform => Ok(builder.tls_certs_merge(certificates)),
            Roots::None if certificates.is_empty() => {
                Err(TransportError::new(TransportErrorKind::Tls, super::NO_ROOTS))
            }
            Roots::None => Ok(builder.tls_certs_only(certificates)),
        }
    }
}
