//! Limits on a component's structure: a walk over its sections that compiles and runs nothing, in
//! time that is linear in its size. What would keep a compiler busy beyond reason is refused here;
//! time and memory bound the rest.

use serde::Serialize;
use wasmparser::{BinaryReaderError, Parser, Payload};

use crate::error::ComponentRejection;
use crate::sanitize::sanitize_sentence;

/// Structure of a component, over all its modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ComponentStats {
    /// Core modules. At most 64: a Rust guest has three or so, a Python guest some twenty.
    pub modules: usize,
    /// Components inside it, at any depth. At most 256: tools make one an interface.
    pub components: usize,
    /// Functions with a body. At most 100,000: a Python guest of 18 MB has some 20,000.
    pub functions: usize,
    /// Bytes of the largest function's body. At most 1 MiB: an interpreter's loop has a fifth of
    /// that, and compilers need more than linear time.
    pub function_bytes: usize,
    /// Locals of the function that has most. At most 20,000, for the same reason.
    pub locals: usize,
    /// Types, of cores and of components. At most 50,000.
    pub types: usize,
    /// Imports and exports, aliases and instances. At most 50,000.
    pub names: usize,
    /// Tables, memories, globals and tags. At most 20,000: without threads or shared libraries a
    /// guest has hundreds.
    pub state: usize,
    /// Segments of data and elements. At most 100,000.
    pub segments: usize,
    /// Bytes of what memories begin with.
    pub data_bytes: usize,
}

impl ComponentStats {
    /// Walks over a component.
    ///
    /// # Errors
    /// [`ComponentRejection::ComponentLimit`] for the first thing that there is too much of,
    /// [`ComponentRejection::Malformed`] where it cannot be read.
    pub fn measure(component: &[u8]) -> Result<Self, ComponentRejection> {
        let mut shape = Self::default();
        let broken = |error: BinaryReaderError| {
            ComponentRejection::Malformed(sanitize_sentence(&error.to_string()))
        };
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload.map_err(broken)?;
            // The parser takes the end of the bytes for the end of what lies inside.
            if let Payload::ModuleSection { unchecked_range, .. }
            | Payload::ComponentSection { unchecked_range, .. } = &payload
                && unchecked_range.end > component.len()
            {
                return Err(ComponentRejection::Malformed(
                    "it ends before a module inside it does".to_owned(),
                ));
            }
            shape.add(&payload).map_err(broken)?;
            // After every section, so that what is refused is not walked to its end.
            shape.check_limits()?;
        }
        Ok(shape)
    }

    fn add(&mut self, payload: &Payload<'_>) -> Result<(), BinaryReaderError> {
        let many = |count: u32| count as usize;
        match payload {
            Payload::ModuleSection { .. } => self.modules += 1,
            Payload::ComponentSection { .. } => self.components += 1,
            Payload::CodeSectionStart { count, .. } => self.functions += many(*count),
            Payload::CodeSectionEntry(body) => {
                self.function_bytes = self.function_bytes.max(body.range().len());
                let mut locals = 0usize;
                for declared in body.get_locals_reader()? {
                    locals = locals.saturating_add(many(declared?.0));
                }
                self.locals = self.locals.max(locals);
            }
            Payload::TypeSection(section) => self.types += many(section.count()),
            Payload::CoreTypeSection(section) => self.types += many(section.count()),
            Payload::ComponentTypeSection(section) => self.types += many(section.count()),
            Payload::ImportSection(section) => self.names += many(section.count()),
            Payload::ExportSection(section) => self.names += many(section.count()),
            Payload::InstanceSection(section) => self.names += many(section.count()),
            Payload::ComponentInstanceSection(section) => self.names += many(section.count()),
            Payload::ComponentAliasSection(section) => self.names += many(section.count()),
            Payload::ComponentCanonicalSection(section) => self.names += many(section.count()),
            Payload::ComponentImportSection(section) => self.names += many(section.count()),
            Payload::ComponentExportSection(section) => self.names += many(section.count()),
            Payload::TableSection(section) => self.state += many(section.count()),
            Payload::MemorySection(section) => self.state += many(section.count()),
            Payload::GlobalSection(section) => self.state += many(section.count()),
            Payload::TagSection(section) => self.state += many(section.count()),
            Payload::ElementSection(section) => self.segments += many(section.count()),
            Payload::DataSection(section) => {
                self.segments += many(section.count());
                self.data_bytes += section.range().len();
            }
            _ => {}
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), ComponentRejection> {
        let rules = [
            ("core modules", self.modules, 64),
            ("components inside it", self.components, 256),
            ("functions", self.functions, 100_000),
            ("bytes in one function", self.function_bytes, 1 << 20),
            ("locals in one function", self.locals, 20_000),
            ("types", self.types, 50_000),
            ("imports, exports, aliases and instances", self.names, 50_000),
            ("tables, memories and globals", self.state, 20_000),
            ("segments of data and elements", self.segments, 100_000),
        ];
        match rules.into_iter().find(|(_, found, limit)| found > limit) {
            Some((what, found, limit)) => {
                Err(ComponentRejection::ComponentLimit { what, found, limit })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn stats_of(module: &str) -> Result<ComponentStats, String> {
        let component = wat::parse_str(format!("(component {module})")).unwrap();
        ComponentStats::measure(&component).map_err(|rejected| rejected.to_string())
    }

    #[test]
    fn everything_is_counted_over_all_modules() {
        let module = r#"(core module (func (local i32 i64 i64)) (func (export "f")) (memory 1) (global i32 (i32.const 0)) (data (i32.const 0) "abc"))"#;
        let shape = stats_of(&format!("{module} (component {module})")).unwrap();
        let counted = ComponentStats {
            function_bytes: shape.function_bytes,
            data_bytes: shape.data_bytes,
            ..shape
        };
        assert_eq!(
            counted,
            ComponentStats {
                modules: 2,
                components: 1,
                functions: 4,
                locals: 3,
                types: 2,
                names: 2,
                state: 4,
                segments: 2,
                ..counted
            }
        );
        assert!(
            (2..20).contains(&shape.function_bytes) && (6..40).contains(&shape.data_bytes),
            "{shape:?}"
        );
    }

    #[test]
    fn what_there_is_too_much_of_is_refused_by_name_before_anything_is_compiled() {
        let long = format!("(core module (func {}))", "nop ".repeat((1 << 20) + 1));
        assert!(
            stats_of(&long).unwrap_err().contains("bytes in one function; 1048576 are allowed")
        );
        let locals = format!("(core module (func (local {})))", "i32 ".repeat(20_001));
        assert!(stats_of(&locals).unwrap_err().contains("20001 locals in one function"));
        let functions = format!("(core module {})", "(func)".repeat(100_001));
        assert!(stats_of(&functions).unwrap_err().contains("100001 functions"));
        let types = format!("(core module {})", "(type (func))".repeat(50_001));
        assert!(stats_of(&types).unwrap_err().contains("50001 types"));
        let globals = format!("(core module {})", "(global i32 (i32.const 0))".repeat(20_001));
        assert!(stats_of(&globals).unwrap_err().contains("20001 tables, memories and globals"));
        assert!(stats_of(&"(core module)".repeat(65)).unwrap_err().contains("65 core modules"));
        assert!(
            stats_of(&"(component)".repeat(257)).unwrap_err().contains("257 components inside it")
        );
    }

    #[test]
    fn what_is_cut_or_no_component_is_malformed() {
        let whole = wat::parse_str("(component (core module (func)))").unwrap();
        for length in 0..whole.len() {
            assert!(ComponentStats::measure(&whole[..length]).is_err() || length == 8, "{length}");
        }
    }
}
