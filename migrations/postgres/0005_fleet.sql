-- What a fleet of hosts needs to know besides that something changed.

-- Moved whenever a key is revoked or altered, by whatever means, so that what hosts remember of keys outlives every other change.
ALTER TABLE revision ADD COLUMN keys BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION keys_altered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE revision SET keys = keys + 1 WHERE only_row = 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER keys_altered AFTER UPDATE OR DELETE ON keys FOR EACH ROW EXECUTE FUNCTION keys_altered();

-- Tells the hosts that listen, as soon as the transaction is committed, whose revision has moved: channels are the database's, and may
-- be shared by catalogues in several schemas. Hosts look by themselves, too.
CREATE FUNCTION tell_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('yearbook_revision', TG_TABLE_SCHEMA);
    RETURN NULL;
END
$$;

CREATE TRIGGER tell_revision AFTER UPDATE ON revision FOR EACH ROW EXECUTE FUNCTION tell_revision();

-- The migration that a host must know to use this catalogue. One that expands leaves it as it is; one that contracts, and so breaks
-- hosts that do not know it, sets it to its own number.
ALTER TABLE revision ADD COLUMN least_migration BIGINT NOT NULL DEFAULT 0;
