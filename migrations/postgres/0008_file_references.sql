-- Each publication, retention and `gc` ask of files whether a row still names them.
CREATE INDEX snapshots_by_file ON snapshots (file_sha256);
CREATE INDEX changes_by_file ON changes (file_sha256);
CREATE INDEX past_versions_by_file ON past_versions (file_sha256);
CREATE INDEX past_changes_by_file ON past_changes (file_sha256);
