//! Reads root certificates from PEM files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use super::Pem;
use crate::transport::{TransportError, TransportErrorKind};

/// The bundles of the major Linux distributions are smaller than 1 MiB.
const MAX_FILE_BYTES: u64 = 16 * 1_048_576;

impl Pem {
    /// The usable root certificates, at least one. Real bundles contain certificates that a TLS library cannot parse; those
    /// are skipped.
    pub(super) fn roots<E: fmt::Display>(
        &self,
        check: impl Fn(&CertificateDer<'static>) -> Result<(), E>,
    ) -> Result<Vec<CertificateDer<'static>>, TransportError> {
        let mut certificates = self.certificates()?;
        let mut skipped = None;
        certificates.retain(|certificate| {
            let problem = check(certificate).err();
            let usable = problem.is_none();
            skipped = problem.or(skipped.take());
            usable
        });
        if let Some(problem) = skipped {
            let error = self.unusable(format!("not a root certificate: {problem}"));
            if certificates.is_empty() {
                return Err(error);
            }
            tracing::warn!(%error, "skipped a root certificate");
        }
        Ok(certificates)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TransportError> {
        match self {
            Self::Bytes(bytes) => parse(bytes).map_err(|problem| self.unusable(problem)),
            Self::File(path) => {
                let bytes = read(path).map_err(|error| self.unusable(format!("cannot be read: {error}")))?;
                parse(&bytes).map_err(|problem| self.unusable(problem))
            }
        }
    }

    /// An error with the name of the file.
    fn unusable(&self, problem: impl fmt::Display) -> TransportError {
        let text = match self {
            Self::Bytes(_) => format!("added root certificates: {problem}"),
            Self::File(path) => format!("root certificate file {}: {problem}", path.display()),
        };
        TransportError::new(TransportErrorKind::Tls, text)
    }
}

/// Reads regular files only, because opening a pipe could block forever.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than 16 MiB"));
    }
    Ok(bytes)
}

fn parse(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let number = certificates.len() + 1;
        certificates.push(certificate.map_err(|error| format!("certificate {number} is damaged: {error}"))?);
    }
    if certificates.is_empty() {
        return Err("no PEM section `-----BEGIN CERTIFICATE-----` found".to_owned());
    }
    Ok(certificates)
}
