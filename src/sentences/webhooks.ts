/** The sentences on webhooks, with their codes; part of those in sentences.ts. */

export const WEBHOOK_SENTENCES = {
  // What is wrong with an endpoint.
  webhook_url: 'Give the address of an endpoint, such as https://example.com/hooks/sendlark.',
  webhook_plain: 'The address must begin with https://, because what is sent names people.',
  webhook_login: 'The address must not contain a user name or a password.',
  webhook_no_events: 'Choose at least one event.',
  webhooks_many: 'An account can have {count} webhooks: delete one first',
  webhook_many_waiting: 'Events that are sent again wait for this webhook ({count}): try again when they were sent',

  // Why an endpoint did not take an event.
  webhook_private: 'The address is not public, and private ones are not allowed here.',
  webhook_silent: 'It did not answer in time.',
  webhook_redirect: 'It redirects elsewhere, which is not followed.',
  webhook_no_host: 'Its name leads to no server.',
  webhook_unreachable: 'Nothing answers there.',
  webhook_tls: 'No encryption could be agreed on with it.',
  webhook_closed: 'The connection was closed before the answer.',

  // Why an endpoint is told nothing.
  webhook_off_by_owner: 'It was switched off.',
  webhook_off_failing: 'It took no event for three days, so it was switched off.',
  webhook_off_gone: 'It answered 410, which means that it wants no more events, so it was switched off.',
  webhook_off_too_many: 'Too many events waited for it, so it was switched off.',

  // Whether any was switched off.
  webhooks_well: 'no webhook was switched off by itself',
  webhooks_off: 'events are not sent any more to: {name}',
  webhooks_cure: 'See in the settings why the webhook is off, mend its program and switch it on again.',
} as const;
