//! TLS settings for the platform's TLS library, through reqwest.

use std::error::Error as StdError;

use super::{Roots, TlsConfig};
use crate::transport::{TransportError, TransportErrorKind};

impl TlsConfig {
    pub(in crate::transport) fn configure_native(
        &self,
        builder: reqwest::ClientBuilder,
    ) -> Result<reqwest::ClientBuilder, TransportError> {
        let mut certificates = Vec::new();
        for pem in &self.0.added {
            for root in pem.roots(|root| native_tls::Certificate::from_der(root).map(drop))? {
                certificates.push(reqwest::Certificate::from_der(&root).map_err(unusable)?);
            }
        }
        match self.0.roots {
            Roots::Platform => Ok(builder.tls_certs_merge(certificates)),
            Roots::None if certificates.is_empty() => Err(unusable(super::NO_ROOTS)),
            Roots::None => Ok(builder.tls_certs_only(certificates)),
        }
    }
}

fn unusable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> TransportError {
    TransportError::new(TransportErrorKind::Tls, cause)
}

/// Searches the chain of sources for a TLS error.
pub(in crate::transport) fn handshake_error(cause: &(dyn StdError + 'static)) -> Option<TransportError> {
    if let Some(error) = cause.downcast_ref::<native_tls::Error>() {
        return Some(unusable(format!("{error}. {}", super::TRUST)));
    }
    handshake_error(cause.source()?)
}
