//! Routes in process, mirroring `host/server/src/routes`. A test names the rule it proves.

mod bulk;
mod changes;
mod concurrency;
mod conditional;
mod cursors;
mod data;
mod datasets;
mod errors;
mod every;
mod failures;
mod formats;
mod guests;
mod health;
mod integrations;
mod links;
mod metering;
mod metrics;
mod openapi;
mod preview;
mod responses;
mod retention;
mod router;
mod rules;
mod shape;
mod statements;
mod weight;
