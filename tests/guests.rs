//! The sandbox against real components. The suite `evil` in this folder is a binary of its own.

mod adapters;
mod generators;
mod replays;
mod sandbox;
