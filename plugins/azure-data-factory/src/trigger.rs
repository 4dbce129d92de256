//! When the pipeline runs: weekly, as the service refreshes its data, once somebody starts the
//! trigger.

use serde_json::{Value, json};

use crate::names::{PIPELINE, TRIGGER};

/// The trigger, stopped.
pub(crate) fn weekly() -> Value {
    json!({
        "name": TRIGGER,
        "properties": {
            "type": "ScheduleTrigger",
            "description": "Every Monday morning. Start it when a run by hand has gone well.",
            "runtimeState": "Stopped",
            "annotations": [],
            "pipelines": [{"pipelineReference": {"referenceName": PIPELINE, "type": "PipelineReference"}}],
            "typeProperties": {
                "recurrence": {
                    "frequency": "Week",
                    "interval": 1,
                    "startTime": "2026-01-05T05:00:00Z",
                    "timeZone": "UTC",
                    "schedule": {"minutes": [0], "hours": [5], "weekDays": ["Monday"]},
                },
            },
        },
    })
}
