-- Where there are or were sender nodes, they know the secret with which everything was signed. It stays good for the links of recipients
-- alone, and a new root secret, made at the next start, signs everything else. Elsewhere the secret was never given away and stays the root.
INSERT INTO installation (name, value)
SELECT 'old_forms_up_to', ifnull((SELECT max(id) FROM forms), 0)
WHERE EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS')
  AND EXISTS (SELECT 1 FROM installation WHERE name = 'token_secrets');--> statement-breakpoint
UPDATE installation SET name = 'link_secrets'
WHERE name = 'token_secrets' AND EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS');
