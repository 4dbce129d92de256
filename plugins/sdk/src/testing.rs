//! A test kit for plugin authors.
