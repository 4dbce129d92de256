//! Citations of rows that transforms make (contract-16-citations): the pages state them, and this
//! room computes the rows again.

use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use tracing::Instrument;
use yearbook_domain::query::parse_cited_apply;
use yearbook_domain::read_plan::{self, AppliedTransform};
use yearbook_domain::{Column, OutputParameters, ReadPlan, ResultDigest, ValidationError};
use yearbook_http::Error;
use yearbook_http::cited_transforms::{CitedRowSource, CitedRows, CitedTransforms};
use yearbook_sandbox::{BoxError, OptionScalar, TransformStep};
use yearbook_scan::ResultHasher;

use crate::ApiState;
use crate::request::{
    PlannedTransforms, TransformRequest, applied, check_licence, options, output_table,
};
use crate::response::transform_failure;

impl CitedRowSource for ApiState {
    fn transforms(
        &self,
        apply: &str,
        options: &[(String, String)],
    ) -> Result<CitedTransforms, Vec<ValidationError>> {
        let plugins = self.core.plugins.current();
        let loaded: Vec<(&str, &str)> =
            plugins.transforms().map(|transform| (transform.name(), transform.version())).collect();
        let cited = parse_cited_apply(apply, &loaded).map_err(|problem| vec![problem])?;
        let options_of = |name: &str| {
            let own = |(option, _): &&(String, String)| {
                option.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            };
            options.iter().filter(own).cloned().collect::<Vec<_>>()
        };
        let mut found = CitedTransforms { transforms: Vec::new(), steps: Ok(Vec::new()) };
        for transform in &cited {
            let (name, version) = (&transform.name, &transform.version);
            let sent = options_of(name);
            match plugins.transform(name).filter(|_| transform.is_loaded) {
                Some(plugin) => {
                    let output = OutputParameters { options: sent, ..OutputParameters::default() };
                    let named = options::choose(&plugins, &output)?;
                    let (transform, options) = (plugin.clone(), named.for_plugin(name));
                    let step = TransformStep { transform, options };
                    found.transforms.push(applied(&step));
                    if let Ok(steps) = &mut found.steps {
                        steps.push(step);
                    }
                }
                None => {
                    // Nothing tells any more which options it had: they are what they were called.
                    let is_name = |byte: u8| {
                        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
                    };
                    let option = |(option, value): (String, String)| {
                        let (_, option) = option.split_once('.')?;
                        let option = Some(option).filter(|option| option.bytes().all(is_name))?;
                        Some((option.to_owned(), OptionScalar::Text(value)))
                    };
                    let mut options: Vec<_> = sent.into_iter().filter_map(option).collect();
                    options.sort_unstable_by(|one, other| one.0.cmp(&other.0));
                    let (name, version) = (name.clone(), version.clone());
                    if found.steps.is_ok() {
                        found.steps = Err(format!("{name} {version}"));
                    }
                    found.transforms.push(AppliedTransform { name, version, options });
                }
            }
        }
        Ok(found)
    }

    fn digest(&self, rows: CitedRows) -> BoxFuture<'_, Result<(u64, ResultDigest), Error>> {
        self.compute_digest(rows).boxed()
    }
}

impl ApiState {
    async fn compute_digest(&self, rows: CitedRows) -> Result<(u64, ResultDigest), Error> {
        let CitedRows { auth, holder, dataset, input, steps, selection, limit, pairs } = rows;
        check_licence(&dataset, &input)?;
        let request = TransformRequest {
            app: self,
            auth: &auth,
            dataset: &dataset,
            selection: &selection,
            pairs: &pairs,
            input: &input,
            steps: &steps,
        };
        let PlannedTransforms { plan, mut chain, .. } = request.plan().await?;
        let plan = ReadPlan { max_rows: limit, ..plan };
        read_plan::check_order(&plan)?;
        request.check_rows(&chain).await?;
        let shape = output_table::shape(&plan, &mut chain);
        let columns = plan.columns.iter().filter_map(|index| plan.snapshot.columns.get(*index));
        let columns: Vec<Column> = columns.cloned().collect();

        let asked = format!("digest of {pairs:?} in {}", input.snapshot.id);
        let failures = &self.bodies.failures;
        if let Some(failure) = transform_failure::known(failures, &asked, &steps) {
            return Err(transform_failure::refuse(&pairs, failure));
        }
        let places = match steps.first() {
            Some(first) => first.transform.admit_places(&holder, chain.places()).await,
            None => return Err(Error::internal("compute a digest", &"there is no transform")),
        };
        let mut places =
            places.map_err(|full| transform_failure::refuse_rows(&pairs, full.into()))?;
        let made = chain.start(&holder, &mut places, input.start, shape.enough_rows());
        let releases = std::sync::Arc::clone(&self.core.releases);
        let fingerprint = request.fingerprint(asked.clone());
        let made = transform_failure::record_all(made, releases, fingerprint);
        let reader = self.core.reader.for_caller(&holder);
        let work = async move {
            let mut hasher = ResultHasher::new(columns.iter());
            let mut batches = reader.shape(chain.schema(), made, &shape).await?.batches;
            while let Some(batch) = batches.try_next().await? {
                hasher.update(&batch)?;
            }
            Ok::<_, BoxError>((hasher.rows(), hasher.finish()))
        };
        let driven = self.core.workers.drive(holder.clone(), work.in_current_span()).await;
        let computed = driven.map_err(|panicked| Error::internal("compute a digest", &panicked))?;
        computed.map_err(|cause| {
            transform_failure::remember(failures, &asked, &cause);
            transform_failure::refuse_rows(&pairs, cause)
        })
    }
}
