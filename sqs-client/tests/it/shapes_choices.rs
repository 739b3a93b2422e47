//! Derives the choices of the generator from bytes: members, number of elements, text.

use std::collections::BTreeSet;

/// The remaining choices, and the members generated so far.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
    /// Shape and name of every possible member.
    pub(crate) possible: BTreeSet<(&'static str, &'static str)>,
    /// Shape and name of every generated member.
    pub(crate) generated: BTreeSet<(&'static str, &'static str)>,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes: bytes.iter(), possible: BTreeSet::new(), generated: BTreeSet::new() }
    }

    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    pub(crate) fn below(&mut self, end: u8) -> u8 {
        self.byte() % end
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::from(self.byte()) % items.len()]
    }

    pub(crate) fn integer(&mut self, extremes: &[i64]) -> i64 {
        match self.below(3) {
            0 => self.one_of(extremes),
            1 => i64::from(self.byte()),
            _ => -i64::from(self.byte()),
        }
    }

    /// Text of characters that SQS allows. Prefers characters that a protocol escapes.
    pub(crate) fn text(&mut self) -> String {
        // Names of several open enums. Any other text is an unknown name.
        const NAMES: [&str; 6] =
            ["All", "Policy", "SenderId", "AWSTraceHeader", "SequenceNumber", "FifoQueue"];
        const SPECIAL: [char; 32] = [
            '"',
            '\'',
            '&',
            '<',
            '>',
            '\r',
            '\n',
            '\t',
            ' ',
            '+',
            '%',
            '=',
            ';',
            '.',
            '#',
            '\\',
            '/',
            ']',
            '{',
            '0',
            'a',
            '\u{7f}',
            '\u{85}',
            '\u{a0}',
            'é',
            '№',
            '\u{2028}',
            '\u{d7ff}',
            '\u{e000}',
            '\u{fffd}',
            '😀',
            '\u{10ffff}',
        ];
        if self.below(5) == 1 {
            return self.one_of(&NAMES).to_owned();
        }
        let character = |choices: &mut Self| match choices.below(4) {
            0 => {
                let number = u32::from_be_bytes([0, choices.below(17), choices.byte(), choices.byte()]);
                char::from_u32(number)
                    .filter(|c| *c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'))
                    .unwrap_or('?')
            }
            _ => choices.one_of(&SPECIAL),
        };
        (0..self.below(7)).map(|_| character(self)).collect()
    }

    pub(crate) fn base64(&mut self) -> String {
        let bytes: Vec<u8> = (0..self.below(9)).map(|_| self.byte()).collect();
        base64_simd::STANDARD.encode_to_string(bytes)
    }
}
