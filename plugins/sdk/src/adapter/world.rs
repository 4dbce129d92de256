//! Types of the adapter world, generated from the WIT package: natively too, so that they stand
//! once. With the feature `serde` they are written and read as the host's own are.

/// Generates the types with these derives.
///
/// ```
/// use yearbook_sdk::adapter::Request;
/// ```
macro_rules! world {
    ($($derives:tt)*) => {
        wit_bindgen::generate!({
            path: "wit/1.2.0",
            world: "adapter-plugin",
            pub_export_macro: true,
            export_macro_name: "export_adapter_world",
            additional_derives: [$($derives)*],
            with: {
                "yearbook:plugin/adapter@1.2.0": generate,
                "yearbook:plugin/catalogue@1.2.0": generate,
                "yearbook:plugin/log@1.2.0": generate,
                "yearbook:plugin/statistics@1.2.0": generate,
                "yearbook:plugin/types@1.2.0": crate::describe,
            },
        });
    };
}

#[cfg(not(feature = "serde"))]
world!(PartialEq);
#[cfg(feature = "serde")]
world!(PartialEq, serde::Serialize, serde::Deserialize);
