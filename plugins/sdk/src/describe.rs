//! Description of a plugin by itself, and the options that clients chose.

use crate::Error;

/// Description of an encoder. Must be the same every time; the rules for each field stand in
/// `wit/1.1.0`, and the host checks them when the plugin is installed.
///
/// ```
/// use yearbook_sdk::Description;
///
/// let tsv = Description {
///     format: "tsv",
///     version: env!("CARGO_PKG_VERSION"),
///     media_type: "text/tab-separated-values; charset=utf-8",
///     extension: "tsv",
///     separator: Some(b""),
///     part_rows: None,
///     dictionaries: true,
///     compressible: true,
///     parameters: Vec::new(),
///     docs: "A line a row, tabs between cells.",
/// };
/// assert_eq!(tsv.format, "tsv");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name that clients write in `format=`: `[a-z][a-z0-9_-]*`, at most 32 characters.
    pub format: &'static str,
    /// The plugin's own version, semantic versioning. `env!("CARGO_PKG_VERSION")` as a rule.
    pub version: &'static str,
    /// The response's `Content-Type`, at most 200 characters of printable ASCII.
    pub media_type: &'static str,
    /// Extension for file names, without the dot.
    pub extension: &'static str,
    /// A promise that parts are independent: response = head + parts joined by this + tail. The
    /// host may then encode the parts of one response on several instances. `None`: each part
    /// depends on those before it.
    pub separator: Option<&'static [u8]>,
    /// Rows that a part should have, where that matters to the format; the host then joins
    /// batches. `None`, as most formats say: batches as they come.
    pub part_rows: Option<u32>,
    /// Set where `part` understands [`crate::Values::Dictionary`]. If not, text always arrives
    /// plain.
    pub dictionaries: bool,
    /// Set where gzip or zstd make the output much smaller: true for text formats.
    pub compressible: bool,
    /// Query parameters, at most 32.
    pub parameters: Vec<Parameter>,
    /// A paragraph for the API's documentation.
    pub docs: &'static str,
}

/// The type of a parameter's value.
///
/// ```
/// use yearbook_sdk::{Kind, Parameter};
///
/// let quote = Parameter {
///     name: "quote",
///     kind: Kind::Text,
///     default: "minimal",
///     allowed: &["minimal", "all"],
///     docs: "Which cells stand in quotes.",
/// };
/// assert!(quote.allowed.contains(&quote.default));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A finite float.
    Number,
    /// `true` or `false`.
    Boolean,
}

impl Kind {
    /// Reads a value as a declaration writes it. `None` for text that is none of this kind.
    ///
    /// ```
    /// use yearbook_sdk::{Kind, Value};
    ///
    /// assert_eq!(Kind::Integer.parse("12"), Some(Value::Integer(12)));
    /// assert_eq!(Kind::Boolean.parse("yes"), None);
    /// ```
    #[must_use]
    pub fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Integer => text.parse().ok().map(Value::Integer),
            Self::Number => text.parse().ok().map(Value::Number),
            Self::Boolean => text.parse().ok().map(Value::Boolean),
        }
    }
}

/// A query parameter that the plugin takes; clients write `<plugin>.<name>=<value>`. The host
/// checks kind and allowed values before the plugin hears of it.
///
/// ```
/// use yearbook_sdk::{Kind, Parameter};
///
/// let quote = Parameter {
///     name: "quote",
///     kind: Kind::Text,
///     default: "minimal",
///     allowed: &["minimal", "all"],
///     docs: "Which cells stand in quotes.",
/// };
/// assert!(quote.allowed.contains(&quote.default));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// snake_case, at most 32 characters, unique within the plugin.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// Value for a client that names none, written as a client would write it.
    pub default: &'static str,
    /// The only values taken, unless empty.
    pub allowed: &'static [&'static str],
    /// One sentence for the API's documentation.
    pub docs: &'static str,
}

/// A parameter's value, already checked against its declaration.
///
/// ```
/// use yearbook_sdk::Value;
///
/// assert_eq!(Value::Integer(7), Value::Integer(7));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Value {
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Boolean`].
    Boolean(bool),
}

/// The options of one response: every declared parameter once, defaults included.
///
/// ```
/// use yearbook_sdk::{Options, Value};
///
/// let options = Options(vec![("x".to_owned(), Value::Boolean(true))]);
/// assert!(options.boolean("x")?);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options(pub Vec<(String, Value)>);

impl Options {
    /// The value of a text parameter.
    ///
    /// ```
    /// use yearbook_sdk::{Options, Value};
    ///
    /// let options = Options(vec![("x".to_owned(), Value::Text("all".to_owned()))]);
    /// assert_eq!(options.text("x")?, "all");
    /// assert!(options.text("undeclared").is_err());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Internal`] when the host did not send it: it was not declared as text.
    pub fn text(&self, name: &str) -> Result<&str, Error> {
        if let Some(Value::Text(value)) = self.get(name) {
            Ok(value)
        } else {
            Err(undeclared(name, "text"))
        }
    }

    /// The value of an integer parameter.
    ///
    /// ```
    /// use yearbook_sdk::{Options, Value};
    ///
    /// let options = Options(vec![("x".to_owned(), Value::Integer(7))]);
    /// assert_eq!(options.integer("x")?, 7);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Options::text`].
    pub fn integer(&self, name: &str) -> Result<i64, Error> {
        if let Some(Value::Integer(value)) = self.get(name) {
            Ok(*value)
        } else {
            Err(undeclared(name, "an integer"))
        }
    }

    /// The value of a number parameter.
    ///
    /// ```
    /// use yearbook_sdk::{Options, Value};
    ///
    /// let options = Options(vec![("x".to_owned(), Value::Number(0.5))]);
    /// assert_eq!(options.number("x")?, 0.5);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Options::text`].
    pub fn number(&self, name: &str) -> Result<f64, Error> {
        if let Some(Value::Number(value)) = self.get(name) {
            Ok(*value)
        } else {
            Err(undeclared(name, "a number"))
        }
    }

    /// The value of a boolean parameter.
    ///
    /// ```
    /// use yearbook_sdk::{Options, Value};
    ///
    /// let options = Options(vec![("x".to_owned(), Value::Boolean(true))]);
    /// assert!(options.boolean("x")?);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Options::text`].
    pub fn boolean(&self, name: &str) -> Result<bool, Error> {
        if let Some(Value::Boolean(value)) = self.get(name) {
            Ok(*value)
        } else {
            Err(undeclared(name, "a boolean"))
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

fn undeclared(name: &str, kind: &str) -> Error {
    Error::Internal(format!(
        "the host sent no option `{name}` as {kind}; declare it so in describe()"
    ))
}
