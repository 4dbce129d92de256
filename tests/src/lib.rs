//! What the integration tests share. One library and one test binary, so that linking is paid once.

pub mod app;
pub mod components;
pub mod fuzz;
pub mod http2;
pub mod process;
