-- The text of a block of the search index now ends with two spaces, so that texts of one and two characters are found everywhere in it. Blocks
-- written before are written again; until then their contacts are compared one by one.
INSERT OR IGNORE INTO contact_search_changes (block)
  SELECT DISTINCT id / 8 FROM contacts WHERE id <= (SELECT CAST(value AS INTEGER) FROM installation WHERE name = 'contacts_indexed_until');
