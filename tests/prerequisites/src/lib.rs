//! Prerequisites of tests besides Rust: a database server, a proxy, a built binary. If one is
//! missing, a run that requires it (`cargo xtask test`) fails, and any other skips the test and
//! says so. Owns that decision alone.

use std::fmt;

/// The variable with the names of what has to be there, separated by commas. `cargo xtask test`
/// sets it.
pub const REQUIRED: &str = "YEARBOOK_TESTS_REQUIRE";

/// Something that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// A PostgreSQL server to make schemas on.
    Postgres,
    /// nginx.
    Nginx,
    /// The built `yearbook`.
    Binary,
    /// Debian's `docker-registry`.
    DockerRegistry,
    /// skopeo, which copies what is in registries.
    Skopeo,
}

impl Prerequisite {
    /// Every one of them.
    pub const ALL: [Self; 5] =
        [Self::Postgres, Self::Nginx, Self::Binary, Self::DockerRegistry, Self::Skopeo];

    /// Its name in [`REQUIRED`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Nginx => "nginx",
            Self::Binary => "binary",
            Self::DockerRegistry => "docker-registry",
            Self::Skopeo => "skopeo",
        }
    }

    /// The value of [`REQUIRED`] for these.
    #[must_use]
    pub fn list(all: &[Self]) -> String {
        all.iter().map(|one| one.name()).collect::<Vec<_>>().join(",")
    }

    /// `found`, and where it is none the reason on standard error: the test that gets none returns.
    ///
    /// # Panics
    /// If it is missing and this run requires it.
    #[must_use]
    #[track_caller]
    pub fn or_skip<T>(self, found: Option<T>, reason: impl fmt::Display) -> Option<T> {
        if found.is_none() {
            match self.verdict(std::env::var(REQUIRED).ok().as_deref()) {
                Verdict::Fail => panic!("{reason}, and {REQUIRED} says that this run needs it"),
                Verdict::Skip => eprintln!("NOT RUN: {reason}"),
            }
        }
        found
    }

    /// Outcome of a test without it. An unknown name is a mistake of the caller, which would then
    /// require nothing.
    fn verdict(self, required: Option<&str>) -> Verdict {
        let names: Vec<&str> = required
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect();
        let known = |name: &&str| Self::ALL.iter().any(|one| one.name() == *name);
        if names.contains(&self.name()) || !names.iter().all(known) {
            Verdict::Fail
        } else {
            Verdict::Skip
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Fail,
    Skip,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_and_missing_fails_and_anything_else_is_skipped() {
        for (required, expected) in [
            (None, [Verdict::Skip, Verdict::Skip]),
            (Some(""), [Verdict::Skip, Verdict::Skip]),
            (Some("postgres"), [Verdict::Fail, Verdict::Skip]),
            (Some("nginx, binary"), [Verdict::Skip, Verdict::Fail]),
            (Some("postgres,nginx,binary"), [Verdict::Fail, Verdict::Fail]),
            (Some("postgresql"), [Verdict::Fail, Verdict::Fail]),
        ] {
            assert_eq!(
                [Prerequisite::Postgres, Prerequisite::Nginx].map(|one| one.verdict(required)),
                expected,
                "{required:?}"
            );
        }
        assert_eq!(
            Prerequisite::list(&Prerequisite::ALL),
            "postgres,nginx,binary,docker-registry,skopeo"
        );
    }

    #[test]
    fn what_is_there_is_handed_on() {
        assert_eq!(Prerequisite::Nginx.or_skip(Some(3), "there is none"), Some(3));
    }
}
