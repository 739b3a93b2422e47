//! A strict parser of Prometheus's text format.

use std::collections::{BTreeMap, BTreeSet};

/// Samples by name and labels in their text form.
pub(crate) type Samples = BTreeMap<String, f64>;

/// Parses the text format 0.0.4 strictly: every family has one help, then one type, then its samples and no others;
/// samples do not repeat; labels are quoted and escaped; buckets are cumulative.
pub(crate) fn parse(text: &str) -> Samples {
    let (mut samples, mut families) = (Samples::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            help.split_once(' ').expect("a help").0.clone_into(&mut family);
            assert!(is_name(&family) && families.insert(family.clone()), "{line}");
            let next = lines.next().expect("a type");
            next.strip_prefix(&format!("# TYPE {family} ")).expect("a type").clone_into(&mut kind);
            assert!(["counter", "gauge", "histogram"].contains(&kind.as_str()), "{next}");
            assert_eq!(kind == "counter", family.ends_with("_total"), "{family}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let name = check_series(series);
        let suffix = name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} in {family}"));
        let suffixes: &[_] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.contains(&suffix), "{line}");
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(value.is_finite() && value >= 0.0, "{line}");
        assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
    }
    check_buckets(&samples, text);
    samples
}

/// The name of `name{label="value",..}`.
fn check_series(series: &str) -> &str {
    let Some((name, labels)) = series.split_once('{') else {
        assert!(is_name(series), "{series}");
        return series;
    };
    let mut rest = labels.strip_suffix('}').expect(series);
    assert!(is_name(name), "{series}");
    while !rest.is_empty() {
        let (label, value) = rest.split_once("=\"").expect(series);
        assert!(is_name(label), "{series}");
        let end = end_of_value(value).expect(series);
        rest = &value[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    name
}

/// The position of the closing quote of a value.
fn end_of_value(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some(at),
            '\\' => assert!(matches!(characters.next()?.1, '\\' | '"' | 'n'), "{text}"),
            _ => {}
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && text.bytes().all(legal)
}

/// Buckets of a histogram do not decrease, and the last one counts everything.
fn check_buckets(samples: &Samples, text: &str) {
    let mut last = 0.0;
    for line in text.lines().filter(|line| line.contains("_bucket{")) {
        let (series, _) = line.rsplit_once(' ').unwrap();
        assert!(samples[series] >= last, "{line}");
        last = samples[series];
        if series.contains("le=\"+Inf\"") {
            let count = series.replace("_bucket{", "_count{").replace(",le=\"+Inf\"", "");
            let count = count.replace("{le=\"+Inf\"}", "");
            assert!((samples[&count] - last).abs() < 0.5, "{line}");
            last = 0.0;
        }
    }
}

#[test]
fn violations_of_the_format_are_detected() {
    let fine = "# HELP a Help.\n# TYPE a gauge\na{b=\"x\\\"y\"} 1\na 2\n";
    assert_eq!(parse(fine).len(), 2);
    let head = "# HELP a Help.\n# TYPE a gauge\n";
    for broken in [
        "a 1\n".to_owned(),
        "# HELP a Help.\na 1\n".to_owned(),
        format!("{head}b 1\n"),
        format!("{head}a 1\na 1\n"),
        format!("{head}a{{b=\"x\"y\"}} 1\n"),
        format!("{head}a{{b=x}} 1\n"),
        format!("{head}a one\n"),
        format!("{head}{head}"),
        format!("{head}a 1"),
    ] {
        assert!(std::panic::catch_unwind(|| parse(&broken)).is_err(), "{broken}");
    }
}
