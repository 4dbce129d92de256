//! The list of things that every adapter must hold, whoever makes its calls: a test of its author,
//! or `yearbook plugin check`.

use super::{is_taken, odd, rows};
use crate::adapter::{
    Document, Example, Fact, Framing, Known, Question, Refusal, Reply, Request, Rows, Segment,
    Table, ValueQuery, Version,
};
use crate::testing::sample::SampleCatalogue;

/// Calls, questions and reads that a request has.
const CALLS: usize = 4;
const QUESTIONS: usize = 64;
const READS: usize = 4;

/// An adapter whose calls somebody makes. What fails is that one's to note, and `None`.
pub trait AdapterTrial {
    /// Name of the adapter.
    fn name(&self) -> String;

    /// Begins something else: findings have this place.
    fn begin(&mut self, place: &str);

    /// Calls `answer`.
    fn answer(&mut self, request: &Request, facts: &[Fact]) -> Option<Reply>;

    /// Calls `frame`.
    fn frame(&mut self, request: &Request, facts: &[Fact], known: &Known) -> Option<Framing>;

    /// Calls `refuse`.
    fn refuse(&mut self, request: &Request, refusal: &Refusal) -> Option<Document>;

    /// Media type and bytes of rows in the format that the component brings.
    fn own_format(
        &mut self,
        options: &[(String, String)],
        rows: &Table,
    ) -> Option<(String, Vec<u8>)>;

    /// Reads a body as its media type says; a sentence where it cannot be read.
    ///
    /// # Errors
    /// The sentence.
    fn read(&self, _media_type: &str, _body: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Notes what one request took.
    fn used(&mut self, _calls: usize, _questions: usize, _reads: usize) {}

    /// Notes what is wrong.
    fn find(&mut self, wrong: String, advice: &str);
}

/// Tries everything.
pub fn try_adapter(trial: &mut impl AdapterTrial, examples: &[Example], posts: bool) {
    for (at, Example { request, status }) in examples.iter().enumerate() {
        trial.begin(&format!("example {}, {}", at + 1, shown(request)));
        if !is_taken(request, posts) {
            let advice = "set `posts` in the description";
            trial.find("it is a POST, which the host refuses".to_owned(), advice);
            continue;
        }
        let answered = answer(trial, request);
        if let Some(document) = answered
            && document.status != *status
        {
            let wrong = format!("its status is {} where {status} is named", document.status);
            let advice = "correct the example or the adapter: the sample catalogue has codes, harvest_long, places and prices_wide";
            trial.find(wrong, advice);
        }
    }
    for (place, request) in odd::requests(posts) {
        trial.begin(place);
        answer(trial, &request);
    }
    let Some(example) = examples.first() else { return };
    for refusal in odd::refusals() {
        trial.begin(&format!("refusal {}", refusal.status));
        refuse(trial, &with_base(trial, &example.request), &refusal);
    }
}

/// The answer to a request as a client gets it.
pub(super) fn answer(trial: &mut impl AdapterTrial, request: &Request) -> Option<Document> {
    let request = with_base(trial, request);
    let catalogue = SampleCatalogue::new();
    let (reply, facts) = ask(trial, &catalogue, &request)?;
    match reply {
        Reply::Ask(_) => None,
        Reply::Document(document) => read(trial, "", document),
        Reply::Rows(rows) => match planned(&catalogue, &rows) {
            Ok(table) => {
                let sent = send(trial, &request, &facts, &rows, ("", &table))?;
                odd_rows(trial, &request, &facts, &rows, &table)?;
                Some(sent)
            }
            Err(refusal) => refuse(trial, &request, &refusal),
        },
    }
}

/// Asks until there is an answer, and returns it with all facts.
fn ask(
    trial: &mut impl AdapterTrial,
    catalogue: &SampleCatalogue,
    request: &Request,
) -> Option<(Reply, Vec<Fact>)> {
    let (mut facts, mut reads) = (Vec::new(), 0);
    for call in 1..=CALLS {
        let reply = twice(trial, |trial| trial.answer(request, &facts))?;
        let Reply::Ask(questions) = reply else {
            trial.used(call, facts.len(), reads);
            return Some((reply, facts));
        };
        for question in &questions {
            reads += usize::from(is_read(question));
            let most = match question {
                _ if facts.len() >= QUESTIONS => Some(format!("{QUESTIONS} questions")),
                question if is_read(question) && reads > READS => Some(format!("{READS} reads")),
                _ => None,
            };
            facts.push(match most {
                None => catalogue.answer(question),
                Some(most) => {
                    let sentence = format!("A request has {most}; ask fewer.");
                    let code = "too_many_facts".to_owned();
                    Fact::Refused(Refusal { code, ..Refusal::new(413, sentence) })
                }
            });
        }
    }
    let advice = "ask together what can be asked together: a request has four calls";
    trial.find(format!("it asks {CALLS} times"), advice);
    None
}

/// Returns whether a question is a read, of which a request has few.
fn is_read(question: &Question) -> bool {
    match question {
        Question::Count(_) | Question::Rows(_) => true,
        Question::Values(ValueQuery { selection, .. }) => {
            let bounds = [&selection.start, &selection.end, &selection.search];
            selection.version != Version::Current
                || !selection.conditions.is_empty()
                || selection.bbox.is_some()
                || bounds.into_iter().any(Option::is_some)
        }
        _ => false,
    }
}

/// The rows that a host would send, where it has their format.
fn planned(catalogue: &SampleCatalogue, rows: &Rows) -> Result<Table, Refusal> {
    let formats = SampleCatalogue::formats();
    if let Some(name) = &rows.format
        && formats.iter().all(|format| format.name != *name)
    {
        let sentence = format!("unknown format '{name}'");
        return Err(Refusal { code: "invalid_parameters".into(), ..Refusal::new(422, sentence) });
    }
    catalogue.rows(&rows.selection)
}

/// Frames rows of which there are none, one, or nobody knows how many.
fn odd_rows(
    trial: &mut impl AdapterTrial,
    request: &Request,
    facts: &[Fact],
    rows: &Rows,
    table: &Table,
) -> Option<()> {
    let some = |count: usize| Table {
        known: Known {
            rows: Some(count.min(table.rows.len()) as u64),
            next: None,
            ..table.known.clone()
        },
        rows: table.rows.iter().take(count).cloned().collect(),
    };
    let none = some(0);
    let none = Table { known: Known { total: Some(0), ..none.known }, ..none };
    let next = Some("a+/=&\"<cursor".to_owned());
    let cut =
        Table { known: Known { next, truncated: true, ..table.known.clone() }, ..table.clone() };
    let unknown = Known { rows: None, total: None, ..cut.known.clone() };
    let unknown = Table { known: unknown, ..table.clone() };
    for (odd, table) in [
        (" around no rows", &none),
        (" around one row", &some(1)),
        (" around rows whose number is not known", &unknown),
        (" around rows that are cut off", &cut),
    ] {
        send(trial, request, facts, rows, (odd, table))?;
    }
    Some(())
}

/// Rows with what stands around them. `odd`: what they are, for people.
fn send(
    trial: &mut impl AdapterTrial,
    request: &Request,
    facts: &[Fact],
    rows: &Rows,
    (odd, table): (&str, &Table),
) -> Option<Document> {
    let (media_type, body) = match &rows.format {
        None => trial.own_format(&rows.options, table)?,
        Some(name) => {
            let format = SampleCatalogue::formats().into_iter().find(|known| known.name == *name);
            (format.map(|format| format.media_type).unwrap_or_default(), rows::json(table))
        }
    };
    let is_written = rows.format.as_deref().is_none_or(|format| format == "json");
    let media_type = rows.media_type.clone().unwrap_or(media_type);
    match twice(trial, |trial| trial.frame(request, facts, &table.known))? {
        Framing::Instead(document) if table.known.rows == Some(0) => read(trial, odd, document),
        Framing::Instead(_) => {
            let advice = "put bytes around rows with `Wrapping`: only no rows can be replaced";
            trial.find("a document in place of rows that there are".to_owned(), advice);
            None
        }
        Framing::Wrap(wrapping) => {
            let mut whole = [wrapping.before, body].concat();
            for segment in wrapping.after {
                match segment {
                    Segment::Bytes(bytes) => whole.extend(bytes),
                    Segment::RowCount => whole.extend(table.rows.len().to_string().into_bytes()),
                }
            }
            let document = Document::new(200, media_type, whole);
            // Of other formats the bytes are not those that a client gets.
            if is_written { read(trial, odd, document) } else { Some(document) }
        }
    }
}

fn refuse(trial: &mut impl AdapterTrial, request: &Request, refusal: &Refusal) -> Option<Document> {
    let mut document = twice(trial, |trial| trial.refuse(request, refusal))?;
    let (known, written) = (refusal.status, document.status);
    match known {
        401..=403 | 429 | 500.. => document.status = known,
        _ if written == 200 || written / 100 == known / 100 => {}
        _ => {
            let advice = "keep the status, or choose 200 or another one of its class";
            trial.find(format!("it makes status {written} of a refusal with {known}"), advice);
        }
    }
    read(trial, "", document)
}

/// Reads the body of a document, whole.
fn read(trial: &mut impl AdapterTrial, odd: &str, document: Document) -> Option<Document> {
    if !document.body.is_empty()
        && let Err(sentence) = trial.read(&document.media_type, &document.body)
    {
        let wrong = format!("its body{odd} is not {}: {sentence}", document.media_type);
        trial.find(wrong, "write text by a library, or with every character escaped");
        return None;
    }
    Some(document)
}

/// Makes a call again, which must give the same.
fn twice<T: PartialEq, A: AdapterTrial>(
    trial: &mut A,
    call: impl Fn(&mut A) -> Option<T>,
) -> Option<T> {
    let made = call(trial)?;
    if call(trial)? != made {
        trial.find(
            "the same request has another answer the second time".to_owned(),
            "leave out whatever depends on memory addresses, hash order or what came before",
        );
        return None;
    }
    Some(made)
}

fn with_base(trial: &impl AdapterTrial, request: &Request) -> Request {
    let base = format!("https://data.example.org/api/{}", trial.name());
    Request { base, ..request.clone() }
}

/// A request for people.
fn shown(request: &Request) -> String {
    let pairs: Vec<String> =
        request.parameters().map(|(name, value)| format!("{name}={value}")).collect();
    let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    format!("/{}{query}", request.path.join("/"))
}
