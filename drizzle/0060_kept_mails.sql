-- Mails that the outbox took are counted, since they did not leave. Where it has none now, none are looked for.
INSERT INTO `delivery_reasons` (`mailing_id`, `state`, `reason`, `count`)
SELECT `mailing_id`, 2, '250 kept in the outbox', count(*) FROM `deliveries`
WHERE `state` = 2 AND `reply` = '250 kept in the outbox' AND EXISTS (SELECT 1 FROM `outbox`)
GROUP BY `mailing_id` ON CONFLICT DO NOTHING;
