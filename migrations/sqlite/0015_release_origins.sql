-- Where a release was installed from: a reference to a registry as an operator wrote it, and the digest of the manifest that
-- it named then. Null for files, for what is built in, and in rows of hosts that do not know this migration.
ALTER TABLE plugin_releases ADD COLUMN reference TEXT;
ALTER TABLE plugin_releases ADD COLUMN reference_manifest TEXT;
