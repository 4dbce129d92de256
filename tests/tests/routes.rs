//! Routes in process, mirroring `host/server/src/routes`. A test names the rule it proves.

mod bulk;
mod changes;
mod concurrency;
mod conditional;
mod counts;
mod cursors;
mod data;
mod datasets;
mod errors;
mod formats;
mod guests;
mod health;
mod integrations;
mod metering;
mod metrics;
mod openapi;
mod opening;
mod preview;
mod responses;
mod retention;
mod rules;
mod shape;
