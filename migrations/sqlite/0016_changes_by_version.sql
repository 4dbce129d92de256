-- Changes are asked for by version too: a client that follows a table asks for a few of them, however long the history is.
CREATE INDEX changes_by_version ON changes (dataset, version);
