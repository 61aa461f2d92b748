/** The public address (addition), for operators: where recipients reach this service, where it is kept, and what was seen of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { isoTimestamp } from '../clock.ts';
import { parseOrigin } from '../config.ts';
import { ADDRESS_SOURCES, publicAddress, savePublicAddress } from '../delivery/links/public-address.ts';
import { isLocal } from '../delivery/transport/smtp/relay-urls.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../failure.ts';
import { findPublicAddress } from '../health-checks/public-address.ts';
import { choice, done, isoTimestampSchema, line, nullable, successWith } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentenceCode } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const Seen = Type.Object({
  at: { ...isoTimestampSchema(), description: 'When it was looked at, UTC.' },
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: it leads here, but something is weak; fail: it does not lead here.',
  },
  found: Type.String({ description: 'What was found.' }),
  code: nullable(Type.String({ description: 'What was found, for programs.' })),
  advice: Type.Array(Type.String(), { description: 'What to do, in lines.' }),
});

const Address = Type.Object(
  {
    url: Type.String({ description: 'Scheme, host and port; empty: there is none.' }),
    source: {
      ...choice(...ADDRESS_SOURCES),
      description:
        'environment: PUBLIC_URL says it, and it cannot be saved here; none: links lead to this machine only.',
    },
    seen: { ...nullable(Seen), description: 'What the last look at it found; null: nobody has looked at it.' },
  },
  { description: 'The public address in force.' },
);

const SaveBody = Type.Object({
  public_url: line({
    description: 'An http or https address without a path, under which recipients reach the service.',
  }),
});

const tags = ['Installation'];
const config = { isForOperators: true } as const;

export const publicAddressRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, wake } = deps;

  app.get(
    '/public-address',
    {
      schema: {
        tags,
        summary: 'Read the public address, and what was seen of it (addition)',
        description: 'Nothing outside the machine is asked.',
        response: successWith({ public_address: Address }),
      },
      config,
    },
    async () => {
      const address = publicAddress(db.$client, deps.config);
      const seen = findPublicAddress(db.$client, address.url);
      return {
        status: 'success' as const,
        message: {
          public_address: {
            ...address,
            seen: seen && {
              ...{ at: isoTimestamp(new Date(seen.at)), state: seen.finding.state, found: seen.finding.found },
              ...{ code: sentenceCode(seen.finding.found), advice: seen.finding.advice ?? [] },
            },
          },
        },
      };
    },
  );

  app.post(
    '/public-address/save',
    {
      schema: {
        tags,
        summary: 'Save the public address (addition)',
        description: 'Links in mails lead there from then on, without a restart. Refused while PUBLIC_URL says it.',
        body: SaveBody,
        response: done,
      },
      config: {
        ...config,
        check: check(SaveBody, ({ public_url: given = '' }, errors) => {
          const origin = findOrigin(given);
          if (origin === null) errors.add('public_url', SENTENCES.address_invalid);
          else if (isThisMachine(origin)) errors.add('public_url', SENTENCES.address_loopback);
        }),
      },
    },
    async ({ body, accountId, actor }) => {
      if (deps.config.PUBLIC_URL !== '') throw conflict(SENTENCES.address_fixed);
      const url = parseOrigin(body.public_url);
      db.transaction(
        () => {
          savePublicAddress(db.$client, url);
          audit(db, { accountId, actor, action: 'public_address_changed', subject: url }, clock.now());
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};

/** The origin of an address as PUBLIC_URL takes it; null for any other text. */
function findOrigin(text: string): string | null {
  try {
    return parseOrigin(text);
  } catch {
    return null;
  }
}

/** Whether an origin leads each reader to their own machine (RFC 6890): mails with such links would be of no use to anybody else. */
function isThisMachine(origin: string): boolean {
  if (origin === '') return false;
  const host = new URL(origin).hostname.replace(/^\[|\]$|\.$/g, '');
  return isLocal(host) || /^(0(\.\d+){3}|::|::ffff:(7f[\da-f]{2}|0):[\da-f]+)$/.test(host);
}
