//! `[links]`: settings of links to rows (contract-15-link-previews). Never touches a request.

use serde::{Deserialize, Serialize};

/// Programs that open whatever address is written into a chat, to draw a preview of it: a chat for
/// work, then those of phones, then social networks. None of the words is part of what a
/// spreadsheet calls itself.
const PREVIEWS: [&str; 18] = [
    "Slackbot",
    "SkypeUriPreview",
    "Mattermost",
    "RocketChat",
    "ZulipURLPreview",
    "matrix-org/synapse",
    "Discordbot",
    "Google-PageRenderer",
    "WhatsApp",
    "TelegramBot",
    "Viber",
    "line-poker",
    "facebookexternalhit",
    "Twitterbot",
    "LinkedInBot",
    "Cardyb",
    "Mastodon",
    "Iframely",
];

/// `[links]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSettings {
    /// Words of `User-Agent`, in any case, of programs that draw previews of links. They get a page
    /// without rows, so that a link in a chat spends nobody's month. Default: the usual chat
    /// programs. Empty: every GET is a read.
    pub previews: Vec<PreviewAgent>,
}

/// A word by which a program is known; kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PreviewAgent(String);

impl Default for LinkSettings {
    fn default() -> Self {
        let known = |word: &&str| PreviewAgent(word.to_ascii_lowercase());
        Self { previews: PREVIEWS.iter().map(known).collect() }
    }
}

impl LinkSettings {
    /// Returns whether the program that calls itself `user_agent` draws previews.
    #[must_use]
    pub fn draws_previews(&self, user_agent: &str) -> bool {
        let user_agent = user_agent.to_ascii_lowercase();
        self.previews.iter().any(|word| user_agent.contains(&word.0))
    }
}

impl TryFrom<String> for PreviewAgent {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err(format!("{text:?} must be a word that a program calls itself by"));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl From<PreviewAgent> for String {
    fn from(word: PreviewAgent) -> Self {
        word.0
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn chat_programs_are_known_and_spreadsheets_are_not_contract_15() {
        let settings = LinkSettings::default();
        for (user_agent, expected) in [
            ("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", true),
            (
                "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 \
                 skype-url-preview@microsoft.com",
                true,
            ),
            ("Mattermost-Bot/1.1", true),
            ("Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)", true),
            ("WhatsApp/2.23.20.0", true),
            ("TelegramBot (like TwitterBot)", true),
            // iMessage.
            ("Mozilla/5.0 (Macintosh) facebookexternalhit/1.1 Facebot Twitterbot/1.0", true),
            ("Synapse (bot; +https://github.com/matrix-org/synapse)", true),
            ("", false),
            ("curl/8.5.0", false),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", false),
            (
                "Mozilla/5.0 (compatible; GoogleDocs; apps-spreadsheets; +http://docs.google.com)",
                false,
            ),
            ("Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)", false),
            ("Microsoft Office/16.0 (Windows NT 10.0; Microsoft Excel 16.0; Pro)", false),
            ("LibreOffice 24.2", false),
            ("python-requests/2.32.0", false),
        ] {
            assert_eq!(settings.draws_previews(user_agent), expected, "{user_agent}");
        }
    }

    #[test]
    fn a_word_has_any_case_and_is_not_empty_contract_15() {
        let word = |text: &str| PreviewAgent::try_from(text.to_owned());
        let settings = LinkSettings { previews: vec![word("ChatOfOurs").unwrap()] };
        assert!(settings.draws_previews("chatofours/1.0") && !settings.draws_previews("Slackbot"));
        assert!(!LinkSettings { previews: Vec::new() }.draws_previews("Slackbot"));
        assert!(word("").is_err() && word(" ").is_err() && word("a\n").is_err());
    }
}
