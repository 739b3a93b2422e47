//! Checks that bytes in pieces are UTF-8. Pure.

/// Checks pieces in order. A character may span two pieces.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    /// The start of an incomplete character.
    cut: Vec<u8>,
    /// The offset of `cut`, or of the next piece.
    at: u64,
}

impl Utf8 {
    /// Takes the next piece. The error is the offset of the first byte that is not UTF-8.
    pub(super) fn push(&mut self, mut piece: &[u8]) -> Result<(), u64> {
        while !self.cut.is_empty() {
            let Some((byte, rest)) = piece.split_first() else { return Ok(()) };
            self.cut.push(*byte);
            piece = rest;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => {
                    self.at += length(&self.cut);
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_some() => return Err(self.at),
                Err(_) => {}
            }
        }
        let Err(error) = std::str::from_utf8(piece) else {
            self.at += length(piece);
            return Ok(());
        };
        let (valid, rest) = piece.split_at_checked(error.valid_up_to()).unwrap_or((piece, &[]));
        self.at += length(valid);
        if error.error_len().is_some() {
            return Err(self.at);
        }
        self.cut.extend_from_slice(rest);
        Ok(())
    }

    /// The check after the last piece: the last character must be complete.
    pub(super) fn end(&self) -> Result<(), u64> {
        if self.cut.is_empty() { Ok(()) } else { Err(self.at) }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(bytes: &[u8], cuts: &[usize]) -> Result<(), u64> {
        let mut utf8 = Utf8::default();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            utf8.push(&bytes[pair[0]..pair[1]])?;
        }
        utf8.end()
    }

    #[test]
    fn error_offset_is_the_start_of_the_character() {
        for (bytes, at) in [
            (&b"ab\xff"[..], 2),
            (b"\xc3\xa4\xc3", 2),
            (b"a\xf0\x9f\x98", 1),
            (b"\xf0\x9f\x98x", 0),
            (b"\xed\xa0\x80", 0),
        ] {
            for cut in 0..=bytes.len() {
                assert_eq!(in_pieces(bytes, &[cut]), Err(at), "{bytes:?} cut at {cut}");
            }
            assert_eq!(in_pieces(bytes, &(0..bytes.len()).collect::<Vec<_>>()), Err(at), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn valid_text_is_valid_wherever_it_is_cut(
            text in "\\PC{0,40}",
            cuts in prop::collection::vec(0_usize..200, 0..20),
        ) {
            prop_assert_eq!(in_pieces(text.as_bytes(), &cuts), Ok(()));
        }

        #[test]
        fn pieces_have_the_same_result_as_the_whole(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xc3), Just(0x9f), Just(0xf0)], 0..40),
            cuts in prop::collection::vec(0_usize..200, 0..20),
        ) {
            let whole = std::str::from_utf8(&bytes).map(drop).map_err(|error| error.valid_up_to() as u64);
            prop_assert_eq!(in_pieces(&bytes, &cuts), whole);
        }
    }
}
