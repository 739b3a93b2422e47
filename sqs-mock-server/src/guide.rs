//! Guides: one page for each topic.

/// Defines a module for each page. The pages link to files of the repository; the first definition of a link wins, so
/// these replace them.
macro_rules! pages {
    ($( $(#[$attribute:meta])* $module:ident $file:literal )*) => {
        $(
            $(#[$attribute])*
            #[doc = "[clock]: crate::guide::clock\n[faults]: crate::guide::faults"]
            #[doc = "[inspecting]: crate::guide::inspecting\n[operating]: crate::guide::operating"]
            #[doc = "[other languages]: crate::guide::other_languages"]
            #[doc = "[testing in Rust]: crate::guide::testing_in_rust"]
            #[doc = "[scoreboard]: crate::guide::scoreboard\n[strict mode]: crate::guide::strict"]
            #[doc = "[access policies]: crate::guide::differences#access-policies"]
            #[doc = "[console]: crate::guide::console"]
            #[doc = "[config file]: crate::guide::config_file"]
            #[cfg_attr(feature = "s3", doc = "[S3]: crate::guide::s3\n[S3 events]: crate::guide::s3#events")]
            #[cfg_attr(feature = "durable", doc = "[data directory]: crate::guide::durable")]
            #[doc = "[SNS topics]: crate::guide::topics\n[web hooks]: crate::guide::web_hooks"]
            #[doc = "[triggers]: crate::guide::triggers\n[dead letters]: crate::guide::dead_letters"]
            #[doc = ""]
            #[doc = include_str!(concat!("../docs/", $file))]
            pub mod $module {}
        )*
    };
}

pages! {
    testing_in_rust "testing-in-rust.md"
    other_languages "other-languages.md"
    clock "clock.md"
    faults "faults.md"
    #[cfg(feature = "explore")]
    explore "explore.md"
    inspecting "inspecting.md"
    console "console.md"
    config_file "config-file.md"
    fifo "fifo.md"
    dead_letters "dead-letters.md"
    #[cfg(feature = "s3")]
    s3 "s3.md"
    strict "strict.md"
    topics "topics.md"
    web_hooks "web-hooks.md"
    triggers "triggers.md"
    #[cfg(feature = "durable")]
    durable "durable.md"
    operating "operating.md"
    differences "differences.md"
    #[expect(clippy::doc_markdown, reason = "a generated table")]
    scoreboard "scoreboard.md"
}
