//! A generator that attacks its host, for the host's tests; never installed with the product. The
//! parameter `attack` names what it does. What an encoder can do to the host stands in
//! `plugins/evil`; here stands what only files can.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

/// Every value of the parameter `attack`.
const ATTACKS: &[&str] = &[
    "none", "escape", "absolute", "twice", "binary", "header", "flood", "many", "nothing", "spin",
    "panic", "refuse", "say",
];

/// Goes wrong as its option says.
pub struct EvilGenerator;

impl Generator for EvilGenerator {
    fn describe() -> Description {
        Description {
            tool: "evil",
            version: env!("CARGO_PKG_VERSION"),
            title: "Evil",
            parameters: vec![Parameter {
                name: "attack",
                kind: Kind::Text,
                default: "none",
                allowed: ATTACKS,
                docs: "What to do.",
            }],
            docs: "Attacks the host. For tests.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let file = |path: &str| File {
            path: path.to_owned(),
            media_type: "text/plain".to_owned(),
            content: b"x".to_vec(),
        };
        let mut project = Project { files: vec![file("good.txt")], warnings: Vec::new() };
        match options.text("attack")? {
            "escape" => project.files.push(file("../../etc/cron.d/evil")),
            "absolute" => project.files.push(file("/etc/cron.d/evil")),
            "twice" => project.files.push(file("GOOD.txt")),
            "binary" => project.files[0].content = vec![0xff; 4],
            "header" => project.files[0].media_type = "text/plain\r\nX-Evil: 1".to_owned(),
            "flood" => project.files[0].content = vec![b'x'; 17 << 20],
            "many" => project.files = (0..5000).map(|n| file(&n.to_string())).collect(),
            "nothing" => project.files.clear(),
            "spin" => spin(),
            "panic" => panic!("on purpose"),
            "refuse" => return Err(Error::UnsupportedSchema("not\r\nthis".to_owned())),
            // Shows a test what reached the guest.
            "say" => project.files[0].content = format!("{request:#?}").into_bytes(),
            _ => {}
        }
        Ok(project)
    }
}

fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

yearbook_sdk::export_generator!(EvilGenerator);
