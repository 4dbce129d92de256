//! Constraints in SDMX-ML: what a selection has.

use crate::message::Available;
use crate::ml::Writer;

impl Writer<'_> {
    /// Writes what can be had, as a constraint of the dataflow.
    pub(crate) fn constraint(&mut self, container: &'static str, name: &'static str) {
        let (Some(available), [flow]) = (&self.message.available, &self.message.flows[..]) else {
            return;
        };
        let role = if self.is_30 { ("role", "Actual") } else { ("type", "Actual") };
        let id = format!("{}-AVAILABLE", flow.name.id);
        let (agency, version) = (&*flow.name.agency, &*flow.name.version);
        self.xml.open(container, &[]);
        self.xml.open(name, &[("id", &id), ("agencyID", agency), ("version", version), role]);
        self.metrics(available);
        self.name(flow.language(), flow.title(), None);
        self.xml.open("str:ConstraintAttachment", &[]);
        self.reference("str:Dataflow", flow, &flow.name.id, "Dataflow");
        self.xml.close();
        self.region(available);
        self.xml.close().close();
    }

    fn metrics(&mut self, available: &Available) {
        let counts = [("obs_count", available.observations), ("series_count", available.series)];
        let counts: Vec<_> =
            counts.iter().filter_map(|(id, count)| Some((id, (*count)?.to_string()))).collect();
        if counts.is_empty() {
            return;
        }
        self.xml.open("com:Annotations", &[]);
        for (id, count) in counts {
            self.xml.open("com:Annotation", &[("id", id)]);
            self.xml.leaf("com:AnnotationTitle", &[], &count);
            self.xml.leaf("com:AnnotationType", &[], "sdmx_metrics").close();
        }
        self.xml.close();
    }

    fn region(&mut self, available: &Available) {
        let [value, values, range, start, end] = if self.is_30 {
            ["str:Value", "str:KeyValue", "str:TimeRange", "str:StartPeriod", "str:EndPeriod"]
        } else {
            ["com:Value", "com:KeyValue", "com:TimeRange", "com:StartPeriod", "com:EndPeriod"]
        };
        self.xml.open("str:CubeRegion", &[("include", "true")]);
        for (id, codes) in available.codes.iter().filter(|(_, codes)| !codes.is_empty()) {
            self.xml.open(values, &[("id", id)]);
            for code in codes {
                self.xml.leaf(value, &[], code);
            }
            self.xml.close();
        }
        if let Some((first, last)) = &available.times {
            self.xml.open(values, &[("id", "TIME_PERIOD")]).open(range, &[]);
            self.xml.leaf(start, &[("isInclusive", "true")], first);
            self.xml.leaf(end, &[("isInclusive", "true")], last).close().close();
        }
        self.xml.close();
    }
}
