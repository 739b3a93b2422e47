use super::*;

#[test]
fn messages_match_as_recorded_and_documented() {
    let (mut row, mut scope, mut policy, mut cases) = ("", FilterScope::default(), None, 0);
    for line in include_str!("cases.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').expect(line);
        match word {
            "row" => {
                row = rest;
                scope = if row.ends_with('A') { FilterScope::default() } else { FilterScope::MessageBody };
            }
            "policy" => policy = (rest != "none").then(|| parse(rest, scope)),
            _ => {
                cases += 1;
                let matches = |policy: &FilterPolicy| match scope {
                    FilterScope::MessageAttributes => {
                        policy.matches(&FilterInput::new("", &attributes(rest)))
                    }
                    FilterScope::MessageBody => {
                        let body = rest.replace("FILLER", &"x".repeat(40_000));
                        policy.matches(&FilterInput::new(&body, &HashMap::new()))
                    }
                };
                assert_eq!(policy.as_ref().is_none_or(matches), word == "yes", "row {row}: {rest}");
            }
        }
    }
    assert_eq!(cases, 212);
}
