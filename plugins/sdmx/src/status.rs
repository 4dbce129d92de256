//! Lists of statuses. The host tells columns without the list of their codes, so it is known by the
//! codes that there are, each with the label that the list has.

use yearbook_sdk::adapter::ColumnValues;

/// `CL_OBS_STATUS` of SDMX, version 2.2.
const OBSERVATION: [(&str, &str); 20] = [
    ("A", "Normal value"),
    ("B", "Time series break"),
    ("D", "Definition differs"),
    ("E", "Estimated value"),
    ("F", "Forecast value"),
    ("G", "Experimental value"),
    ("H", "Missing value; holiday or weekend"),
    ("I", "Imputed value"),
    ("J", "Derogation"),
    ("K", "Data included in another category"),
    ("L", "Missing value; data exist but were not collected"),
    ("M", "Missing value; data cannot exist"),
    ("N", "Not significant"),
    ("O", "Missing value"),
    ("P", "Provisional value"),
    ("Q", "Missing value; suppressed"),
    ("S", "Strike and other special events"),
    ("U", "Low reliability"),
    ("V", "Unvalidated value"),
    ("W", "Includes data from another category"),
];

/// `CL_CONF_STATUS` of SDMX, version 1.3.
const CONFIDENTIALITY: [(&str, &str); 12] = [
    ("A", "Primary confidentiality due to small counts"),
    ("C", "Confidential statistical information"),
    ("D", "Secondary confidentiality set by the sender"),
    ("E", "Under embargo"),
    ("F", "Free for publication"),
    ("G", "Primary confidentiality due to dominance by one or two units"),
    ("M", "Primary confidentiality due to other measures of concentration"),
    ("N", "Not for publication, restricted for internal use only"),
    ("O", "Primary confidentiality due to dominance by one unit"),
    ("S", "Secondary confidentiality set by the receiver"),
    ("T", "Primary confidentiality due to dominance by two units"),
    ("X", "Confidentiality due to military secrecy"),
];

/// Name of the list, as the model knows it.
pub(crate) fn list(values: Option<&ColumnValues>) -> &'static str {
    let is_of = |list: &[(&str, &str)]| {
        values.is_some_and(|values| {
            !values.values.is_empty()
                && values.values.iter().all(|observed| {
                    let code = &observed.code;
                    list.iter().any(|&(id, label)| {
                        id == code.value && code.label.as_deref() == Some(label)
                    })
                })
        })
    };
    if is_of(&OBSERVATION) {
        "sdmx-obs"
    } else if is_of(&CONFIDENTIALITY) {
        "sdmx-conf"
    } else {
        "own"
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::adapter::{Code, Observed};

    use super::*;

    fn values(codes: &[(&str, Option<&str>)]) -> ColumnValues {
        let observed = |&(value, label): &(&str, Option<&str>)| Observed {
            code: Code { value: value.to_owned(), label: label.map(str::to_owned) },
            rows: 1,
            first: None,
            last: None,
        };
        let values = codes.iter().map(observed).collect();
        ColumnValues { column: "flag".to_owned(), distinct: None, nulls: 0, values, next: None }
    }

    #[test]
    fn a_status_with_the_codes_of_sdmx_is_known_by_their_labels_contract_19() {
        let obs = [("A", Some("Normal value")), ("P", Some("Provisional value"))];
        assert_eq!(list(Some(&values(&obs))), "sdmx-obs");
        assert_eq!(list(Some(&values(&[("F", Some("Free for publication"))]))), "sdmx-conf");
        for own in [&[("A", None)][..], &[("P", Some("Planned"))], &[("x", None)], &[]] {
            assert_eq!(list(Some(&values(own))), "own");
        }
        assert_eq!(list(None), "own");
    }
}
