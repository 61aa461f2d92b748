-- Links and return paths of earlier releases do not sign the address they are for: they are read only up to these ids.
INSERT INTO `installation` (`name`, `value`)
SELECT 'unsigned_addresses_up_to', json_object(
  'deliveries', (SELECT ifnull(max(`seq`), 0) FROM `sqlite_sequence` WHERE `name` = 'deliveries'),
  'mailings', (SELECT ifnull(max(`seq`), 0) FROM `sqlite_sequence` WHERE `name` = 'mailings'),
  'addresses', (SELECT ifnull(max(`seq`), 0) FROM `sqlite_sequence` WHERE `name` = 'addresses'));
