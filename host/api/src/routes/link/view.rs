//! Body of `/v1/datasets/{name}/link`.

use yearbook_http::body_schema::Rfc3339;
use yearbook_http::json_body;

json_body! {
    pub(crate) struct LinkView named "Link":
        "An address that reads the selected rows in the name of the key, until it ends."
    {
        pub(super) url: String => {"description": "As secret as a key.", "maxLength": 2000},
        pub(super) expires_at: Rfc3339,
        pub(super) format: String,
        pub(super) selection: String => {"description": "Canonical text of the selection."},
    }
}
