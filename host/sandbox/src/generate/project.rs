//! Files that a generator returned, checked before anybody unpacks them: a path must stay inside
//! the folder that a client chooses, on every operating system.

use std::collections::HashSet;
use yearbook_engine::sanitize_sentence;

use crate::guest::bindings::generator::exports::yearbook::plugin::generator as guest;
use crate::guest::parameters::{check_media_type, quote};

/// Most files of a project: one a dataset of the largest request, and a few around them.
pub(crate) const FILES: usize = 2048;
/// Longest path, bytes: Windows allows 260 characters with the folder before it.
pub(crate) const PATH_BYTES: usize = 200;
/// All files together, bytes. Descriptions of 1,500 datasets come to some 3 MB.
pub(crate) const PROJECT_BYTES: usize = 16 << 20;
/// Most warnings.
pub(crate) const WARNINGS: usize = 256;

/// Files for a data tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedProject {
    /// In the order of the generator; paths are unique even where case does not count.
    pub files: Vec<ProjectFile>,
    /// Sentences for the person who asked.
    pub warnings: Vec<String>,
}

/// A text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Relative, `/` between folders, safe to unpack.
    pub path: String,
    /// `type/subtype`, printable ASCII.
    pub media_type: String,
    /// Content of the file.
    pub content: String,
}

impl GeneratedProject {
    /// Checks what a guest returned.
    ///
    /// # Errors
    /// A sentence that names the file and the rule.
    pub(crate) fn check(raw: guest::Project) -> Result<Self, String> {
        let guest::Project { files, warnings } = raw;
        if files.is_empty() || files.len() > FILES {
            return Err(format!("{} files; 1 to {FILES} are taken", files.len()));
        }
        if warnings.len() > WARNINGS {
            return Err(format!("{} warnings; at most {WARNINGS} are taken", warnings.len()));
        }
        let bytes: usize = files.iter().map(|file| file.content.len()).sum();
        if bytes > PROJECT_BYTES {
            return Err(format!("{bytes} bytes of files; at most {PROJECT_BYTES} are taken"));
        }
        let files = files.into_iter().map(check_file).collect::<Result<Vec<_>, _>>()?;
        check_no_overlap(&files)?;
        Ok(Self {
            files,
            warnings: warnings.iter().map(|warning| sanitize_sentence(warning)).collect(),
        })
    }
}

fn check_file(raw: guest::File) -> Result<ProjectFile, String> {
    let guest::File { path, media_type, content } = raw;
    check_path(&path)?;
    check_media_type(&media_type).map_err(|rule| format!("{}: {rule}", quote(&path)))?;
    let content = String::from_utf8(content)
        .map_err(|_| format!("{}: a file must be UTF-8 text", quote(&path)))?;
    Ok(ProjectFile { path, media_type, content })
}

fn check_path(path: &str) -> Result<(), String> {
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment != "."
            && segment != ".."
            // Windows drops a dot or a blank at the end, so two names would be one.
            && !segment.ends_with(['.', ' '])
            && !segment.starts_with(' ')
            // Backslashes and colons are separators there, the rest may not stand in names. Beyond
            // ASCII, which names are one depends on the file system, and what they look like on the
            // reader.
            && !segment.contains(|c: char| !(' '..='~').contains(&c) || "\\:*?\"<>|".contains(c))
            && !is_device(segment)
            && !is_short_name(segment)
            && !RUN.iter().any(|folder| segment.eq_ignore_ascii_case(folder))
    };
    if !path.is_empty() && path.len() <= PATH_BYTES && path.split('/').all(segment) {
        Ok(())
    } else {
        Err(format!(
            "path {} must be relative, at most {PATH_BYTES} bytes, with `/` between ASCII names that every system can store",
            quote(path)
        ))
    }
}

/// Folders of version control: hooks and settings in there name programs that are run.
const RUN: [&str; 8] = [".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", "cvs"];

/// Returns true where NTFS may have made up a name for another file: it gives long ones a second
/// name such as `GIT~1`.
fn is_short_name(name: &str) -> bool {
    name.as_bytes().windows(2).any(|pair| pair[0] == b'~' && pair[1].is_ascii_digit())
}

/// Returns whether Windows takes a name for a device, whatever follows its first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |kind| {
        stem.strip_prefix(kind)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str())
        || numbered("COM")
        || numbered("LPT")
}

/// No path twice, and none that is also a folder of another, in whatever case.
fn check_no_overlap(files: &[ProjectFile]) -> Result<(), String> {
    let mut taken = HashSet::new();
    let mut folders = HashSet::new();
    for file in files {
        let path = file.path.to_lowercase();
        folders.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned()));
        if !taken.insert(path) {
            return Err(format!("path {} is taken twice", quote(&file.path)));
        }
    }
    match taken.intersection(&folders).next() {
        Some(path) => {
            Err(format!("path {} is taken twice: by a file and by a folder", quote(path)))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn file(path: &str) -> guest::File {
        guest::File {
            path: path.into(),
            media_type: "application/json".into(),
            content: b"{}".to_vec(),
        }
    }

    fn check(files: Vec<guest::File>) -> Result<GeneratedProject, String> {
        GeneratedProject::check(guest::Project { files, warnings: vec!["Two\r\nlines".into()] })
    }

    #[test]
    fn good_files_pass_and_warnings_are_one_line() {
        let project = check(vec![
            file("README.md"),
            file("linkedService/Yearbook API.json"),
            file("linkedService-2"),
            file(".gitignore"),
            file("com10/console.txt"),
            file(".github/README.md"),
            file("git/hg~/~notes.txt"),
            file(".hgignore"),
        ]);
        assert_eq!(project.as_ref().unwrap().files.len(), 8);
        assert_eq!(project.unwrap().warnings, ["Two  lines"]);
    }

    #[test]
    fn a_path_stays_inside_the_chosen_folder_on_every_system() {
        for path in [
            "",
            "/etc/passwd",
            "..",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "./a",
            "a/./b",
            "a\\..\\b",
            "C:x",
            "C:/x",
            "a\0b",
            "a\nb",
            "x ",
            "x.",
            " x",
            "a?b",
            "a*b",
            "a\u{85}b",
            "CON",
            "a/nul.txt",
            "Aux .tar.gz",
            "com1",
            "LPT9.log",
            "invoice\u{202e}gpj.exe",
            "caf\u{e9}.md",
            "cafe\u{301}.md",
            ".git/hooks/post-checkout",
            "a/.GIT/config",
        ] {
            assert!(check(vec![file(path)]).is_err(), "{path:?}");
        }
        let long = "a".repeat(PATH_BYTES + 1);
        assert!(check(vec![file(&long)]).unwrap_err().len() < 400);
    }

    #[test]
    fn no_spelling_of_a_folder_of_version_control_is_taken() {
        for folder in RUN {
            for spelling in [
                folder.to_owned(),
                folder.to_ascii_uppercase(),
                format!("{folder} "),
                format!("{folder}."),
                format!("{folder} . ."),
            ] {
                for path in [
                    format!("{spelling}/config"),
                    format!("a/{spelling}/hooks/post-checkout"),
                    spelling.clone(),
                ] {
                    assert!(check(vec![file(&path)]).is_err(), "{path:?}");
                }
            }
        }
        // What NTFS calls `.git` and others for programs that know eight characters, and its
        // streams.
        for name in [
            "GIT~1",
            "git~1",
            "Git~2",
            "GI7EBA~1",
            "HG~1",
            "SVN~1",
            "LONGNA~1.TXT",
            "git~10",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
        ] {
            for path in [format!("{name}/config"), format!("a/{name}"), name.to_owned()] {
                assert!(check(vec![file(&path)]).is_err(), "{path:?}");
            }
        }
        // Characters that other systems leave out of a name, or take for another.
        for name in [".g\u{200c}it", ".\u{ff47}it", ".git\u{feff}"] {
            assert!(check(vec![file(&format!("{name}/config"))]).is_err(), "{name:?}");
        }
    }

    #[test]
    fn no_spelling_of_a_device_is_taken() {
        for device in ["CON", "PRN", "AUX", "NUL", "COM1", "COM0", "LPT9", "CONIN$", "CONOUT$"] {
            let lower = device.to_ascii_lowercase();
            for spelling in [
                device.to_owned(),
                lower.clone(),
                format!("{device}.txt"),
                format!("{lower} .md"),
                format!("{device}."),
                format!("{lower} "),
            ] {
                for path in [spelling.clone(), format!("a/{spelling}"), format!("{spelling}/a")] {
                    assert!(check(vec![file(&path)]).is_err(), "{path:?}");
                }
            }
        }
    }

    #[test]
    fn no_file_hides_another() {
        for (one, other) in [("a", "a"), ("README.md", "readme.MD"), ("a", "a/b"), ("A/b/c", "a/B")]
        {
            assert!(
                check(vec![file(one), file("a-b"), file(other)])
                    .unwrap_err()
                    .contains("taken twice"),
                "{one} {other}"
            );
        }
    }

    #[test]
    fn numbers_sizes_media_types_and_text_are_checked() {
        let spoilt = |spoil: fn(&mut guest::File)| {
            let mut file = file("x.json");
            spoil(&mut file);
            check(vec![file]).unwrap_err()
        };
        assert!(spoilt(|file| file.content = vec![0xff]).contains("UTF-8"));
        assert!(spoilt(|file| file.content = vec![b'x'; PROJECT_BYTES + 1]).contains("bytes"));
        assert!(
            spoilt(|file| file.media_type = "text/plain\r\nX: y".into()).contains("media type")
        );
        assert!(check(Vec::new()).unwrap_err().contains("0 files"));
        assert!(
            check((0..=FILES).map(|n| file(&format!("{n}"))).collect())
                .unwrap_err()
                .contains("files")
        );
        let warnings = vec![String::new(); WARNINGS + 1];
        assert!(
            GeneratedProject::check(guest::Project { files: vec![file("a")], warnings })
                .unwrap_err()
                .contains("warnings")
        );
    }
}
