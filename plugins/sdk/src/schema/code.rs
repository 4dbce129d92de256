//! Distinct values of columns.

/// A value that a column has.
///
/// ```
/// use yearbook_sdk::Code;
///
/// let code = Code { value: "AKL".to_owned(), label: Some("Auckland".to_owned()) };
/// assert_eq!(code.label.as_deref(), Some("Auckland"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The value as text.
    pub value: String,
    /// Text that stands for it, where the publisher gave one.
    pub label: Option<String>,
}
