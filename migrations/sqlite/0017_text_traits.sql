-- Traits that every text of a column has, a number whose bits are those of `TextTraits`. Null in snapshots that were published
-- before this migration, and by hosts that do not know it: their texts are looked at when they are encoded.
ALTER TABLE columns ADD COLUMN text_traits INTEGER;
