/** The public URL (addition), for operators: where recipients reach this service, its source, and the result of its last check. */
import Type, { type Static } from 'typebox';
import { parseOrigin } from '../../../config.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { findPublicUrl, savePublicUrl, URL_SOURCES } from '../../../delivery/links/public-url.ts';
import { isLocal } from '../../../delivery/transport/smtp/relay-urls.ts';
import { conflict } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { codeOf } from '../../../errors/stored.ts';
import { choice, findingFields, isoTimestampSchema, line, nullable } from '../../../http/requests/schemas.ts';
import { findPublicUrlResult } from '../../../installation/health-checks/public-url.ts';
import { operation } from '../../../operations/operation.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { auditBy } from '../../../users/audit.ts';

const LastCheck = Type.Object({
  at: isoTimestampSchema('When the URL was checked, UTC.'),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: the URL leads here, but something should be improved; fail: it does not lead here.',
  },
  ...findingFields,
});

const Address = Type.Object(
  {
    url: Type.String({ description: 'Scheme, host and port; empty: no URL is set.' }),
    source: {
      ...choice(...URL_SOURCES),
      description:
        'environment: PUBLIC_URL sets the URL, so that it cannot be saved here; none: links lead to this machine only.',
    },
    seen: nullable(LastCheck, 'The result of the last check; null: the URL was never checked.'),
  },
  { description: 'The tracking domain in force.' },
);

export type PublicUrl = Static<typeof Address>;

export const readPublicUrl = operation({
  name: 'Read the tracking domain and the result of its last check (addition)',
  description: 'Nothing outside the machine is asked.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  output: Type.Object({ public_address: Address }),
  run({ db, config }) {
    const address = findPublicUrl(db.$client, config);
    const seen = findPublicUrlResult(db.$client, address.url);
    if (seen === null) return { public_address: { ...address, seen } };
    const { state, found, advice = [] } = seen.finding;
    const at = isoTimestamp(new Date(seen.at));
    return { public_address: { ...address, seen: { at, state, found, code: codeOf(found), advice } } };
  },
});

export const changePublicUrl = operation({
  name: 'Save the tracking domain (addition)',
  description:
    'Links in e-mails lead to it from then on, without a restart. Refused while PUBLIC_URL sets the tracking domain.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({
    public_url: line({
      description: 'An http or https address without a path, under which recipients reach the service.',
    }),
  }),
  check(_context, { public_url: text = '' }, errors) {
    const origin = findOrigin(text);
    if (origin === null) errors.add('public_url', sentence('address_invalid'));
    else if (isThisMachine(origin)) errors.add('public_url', sentence('address_loopback'));
  },
  run(context, { public_url }) {
    const { db, config, wake } = context;
    if (config.PUBLIC_URL !== '') throw conflict(sentence('address_fixed'));
    const url = parseOrigin(public_url);
    inTransaction(db, () => {
      savePublicUrl(db.$client, url);
      auditBy(context, 'public_address_changed', url);
    });
    wake();
  },
});

/** The origin of a URL as PUBLIC_URL accepts it; null for any other text. */
function findOrigin(text: string): string | null {
  try {
    return parseOrigin(text);
  } catch {
    return null;
  }
}

/** Returns true if an origin leads each reader to their own machine (RFC 6890), so that links to this origin would be useless to recipients. */
function isThisMachine(origin: string): boolean {
  if (origin === '') return false;
  const host = new URL(origin).hostname.replace(/^\[|\]$|\.$/g, '');
  return isLocal(host) || /^(0(\.\d+){3}|::|::ffff:(7f[\da-f]{2}|0):[\da-f]+)$/.test(host);
}
