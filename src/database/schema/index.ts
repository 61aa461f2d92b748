/** Every table. Columns that the API returns have the names of its fields, so that a row already is the record. */

export * from './accounts.ts';
export * from './audience.ts';
export * from './automations.ts';
export * from './campaigns.ts';
export * from './contact-events.ts';
export * from './deleted-records.ts';
export * from './delivery.ts';
export * from './feeds.ts';
export * from './forms.ts';
export * from './people-history.ts';
export * from './pictures.ts';
export * from './reference.ts';
export * from './relays.ts';
export * from './returned-mail.ts';
export * from './sender-domains.ts';
export * from './sender-nodes.ts';
export * from './states.ts';
export * from './templates.ts';
export * from './transactional.ts';
export * from './users.ts';
export * from './webhooks.ts';
