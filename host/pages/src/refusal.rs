//! Refusals of the pages alone.

use http::StatusCode;
use yearbook_domain::{DatasetName, Millis};
use yearbook_http::{RoomRefusal, status};

/// Reasons of the pages alone for which a request gets no 2xx.
#[derive(Clone, Debug)]
pub(crate) enum PageRefusal {
    /// 410: the page of a dataset that is served no more.
    DatasetRetired {
        /// Its name.
        name: DatasetName,
        /// Time at which it was retired.
        since: Millis,
    },
    /// 410: rows that were computed by a release of a transform that is not loaded.
    TransformGone {
        /// Name and version of the release.
        release: String,
    },
    /// 404: a snapshot that the log of what was published does not hold.
    NotLogged,
    /// 403: a form that no page of ours has sent.
    ForeignForm,
    /// 422: a form that is none of ours, or too long.
    UnreadableForm,
    /// 404: the preview of a dataset has no such series.
    NoSuchSeries {
        /// Name of the dataset.
        dataset: DatasetName,
    },
    /// 404: nothing can draw a picture of a dataset, or there is nothing to draw.
    NoPicture {
        /// Name of the dataset.
        dataset: DatasetName,
        /// Set where a plugin that draws is loaded.
        drawable: bool,
    },
}

impl RoomRefusal for PageRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::DatasetRetired { .. } => (status::GONE, "dataset_retired"),
            Self::TransformGone { .. } => (status::GONE, "transform_gone"),
            Self::NotLogged => (status::NOT_FOUND, "not_logged"),
            Self::ForeignForm => (status::FORBIDDEN, "foreign_form"),
            Self::UnreadableForm => (status::UNPROCESSABLE, "unreadable_form"),
            Self::NoSuchSeries { .. } => (status::NOT_FOUND, "no_such_series"),
            Self::NoPicture { .. } => (status::NOT_FOUND, "no_picture"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::DatasetRetired { name, since } => {
                format!("The dataset '{name}' was retired on {}; look for another at /datasets.", since.date())
            }
            Self::TransformGone { release } => {
                format!("{release}, which computed these rows, is not loaded, so they cannot be made again here; the citation stays, and /data computes with the release that is loaded.")
            }
            Self::NotLogged => {
                "The log does not have this snapshot, so there is no proof of when it was published: it was dropped before there was a log, or a host of an older release published it, and its entry comes with the dataset's next version. Its citation stays.".to_owned()
            }
            Self::ForeignForm => {
                "The form was not sent from a page of this service; open that page in a browser at the service's own address, by https where it is not on this machine, and send it there.".to_owned()
            }
            Self::UnreadableForm => "The form cannot be read; open its page anew and send it from there.".to_owned(),
            Self::NoSuchSeries { dataset } => {
                format!("The preview of '{dataset}' has no series of this name; /datasets/{dataset} links to those that it has.")
            }
            Self::NoPicture { dataset, drawable: true } => {
                format!("The preview of '{dataset}' has nothing to draw; its rows are at /v1/datasets/{dataset}/preview.")
            }
            Self::NoPicture { dataset, drawable: false } => {
                format!("No plugin that draws pictures is loaded; the numbers of '{dataset}' are at /datasets/{dataset}.")
            }
        }
    }
}
