//! Writes JSON strings.
//!
//! Checks whole blocks for characters to escape, which compiles to vector instructions. `serde_json` checks byte by byte.

use std::io::Write as _;

/// Bytes per block.
const BLOCK: usize = 64;

fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Appends `text` in quotes.
pub(super) fn write_text(text: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    let mut plain = 0;
    for (number, block) in text.chunks(BLOCK).enumerate() {
        if !block.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
            continue;
        }
        for (offset, byte) in block.iter().enumerate().filter(|(_, byte)| needs_escape(**byte)) {
            let place = number * BLOCK + offset;
            json.extend_from_slice(&text[plain..place]);
            write_escaped(*byte, json);
            plain = place + 1;
        }
    }
    json.extend_from_slice(&text[plain..]);
    json.push(b'"');
}

fn write_escaped(byte: u8, json: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            // Writing to a vector cannot fail.
            let _ = write!(json, "\\u{byte:04x}");
            return;
        }
    };
    json.extend_from_slice(&[b'\\', short]);
}
