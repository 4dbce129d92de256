//! A collector of traces: takes OTLP over HTTP and keeps the spans.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// Spans received so far.
#[derive(Clone, Default)]
pub(super) struct CollectedSpans {
    pub(super) spans: Vec<Span>,
    /// Attributes of the service.
    pub(super) service: BTreeMap<String, String>,
    /// First lines and headers, as sent.
    pub(super) heads: Vec<String>,
}

/// Listens until the process ends.
pub(super) struct TestCollector {
    pub(super) url: String,
    seen: Arc<Mutex<CollectedSpans>>,
}

impl TestCollector {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(CollectedSpans::default()));
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            listener.incoming().for_each(|stream| receive(&mut stream.unwrap(), &kept))
        });
        Self { url, seen }
    }

    pub(super) fn spans(&self) -> CollectedSpans {
        self.seen.lock().unwrap().clone()
    }
}

fn receive(stream: &mut TcpStream, seen: &Mutex<CollectedSpans>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
        })
        .unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
    {
        let mut seen = seen.lock().unwrap();
        seen.heads.push(head);
        for resource in request.resource_spans {
            seen.service = attributes(&resource.resource.unwrap().attributes);
            seen.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    stream
        .write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n",
        )
        .unwrap();
}

/// Attributes by name, as text.
pub(super) fn attributes(found: &[KeyValue]) -> BTreeMap<String, String> {
    let text =
        |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(any_value::Value::StringValue(text)) => text.clone(),
            Some(any_value::Value::IntValue(number)) => number.to_string(),
            Some(any_value::Value::BoolValue(flag)) => flag.to_string(),
            other => format!("{other:?}"),
        };
    found.iter().map(|pair| (pair.key.clone(), text(&pair.value))).collect()
}
