/** The DKIM keys of sender domains (additions): made by owners, changed and deleted by operators, since accounts share a domain's keys. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { asciiDomain } from '../audience/contacts/addresses.ts';
import { recordId } from '../database/ownership.ts';
import { createDkimKeyInThreadPool } from '../delivery/mime/dkim.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound } from '../failure.ts';
import { inTurn } from '../http/account-share.ts';
import { isOperatorsSession } from '../http/callers.ts';
import { done, identifier, line } from '../http/requests/schemas.ts';
import { type DkimKey, deleteDkimKey, insertDkimKey, listDkimKeys } from '../senders/dkim-keys.ts';
import { hasVerifiedSender } from '../senders/domains.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const tags = ['Senders'];
const OPERATORS_TAGS = ['Installation'];
const DomainBody = Type.Object({ domain: line({ description: 'The domain of a sender’s address.' }) });

export const dkimRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.post(
    '/dkim/create',
    {
      schema: {
        tags,
        summary: 'Make the first key that signs the mail of a domain (addition)',
        description:
          'Mail from the domain is signed from then on. GET /senders/checks has the record that publishes the key; the private key is never given out.',
        body: DomainBody,
        response: done,
      },
      config: { role: 'owner' },
    },
    async (request) => {
      const domain = domainOf(request.body.domain);
      const maySign = isOperatorsSession(request) || hasVerifiedSender(db, request.accountId, domain);
      if (!maySign) throw invalid('domain', SENTENCES.dkim_no_sender);
      await makeKey(request, domain, false, (keys) => {
        if (keys.length > 0) throw conflict(sentence('dkim_present', { domain }));
      });
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.post(
    '/dkim/rotate',
    {
      schema: {
        tags: OPERATORS_TAGS,
        summary: 'Make the next key of a domain (addition)',
        description:
          'The key before it signs until the record of the new one was seen in the DNS: POST /senders/checks/renew looks.',
        body: DomainBody,
        response: done,
      },
      config: { isForOperators: true },
    },
    async (request) => {
      const domain = domainOf(request.body.domain);
      await makeKey(request, domain, true, (keys) => {
        if (keys.length === 0) throw conflict(SENTENCES.dkim_none_to_change);
        if (keys.some(({ state }) => state === 'waiting')) throw conflict(sentence('dkim_one_waits', { domain }));
      });
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.delete(
    '/dkim/delete',
    {
      schema: {
        tags: OPERATORS_TAGS,
        summary: 'Delete a key of a domain (addition)',
        description:
          'Where it signs, the key before it signs again, or the one that waits; without another one mail of the domain is not signed.',
        querystring: Type.Object({ id: identifier('The key.') }),
        response: done,
      },
      config: { isForOperators: true },
    },
    async ({ query, accountId, actor }) => {
      db.transaction(
        () => {
          const key = listDkimKeys(db).find(({ id }) => id === recordId(query.id));
          if (key === undefined) throw notFound();
          deleteDkimKey(db, key);
          const subject = `${key.selector}._domainkey.${key.domain}`;
          audit(db, { accountId, actor, action: 'dkim_key_removed', subject }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  /** Makes a key; `check` throws where the keys of the domain do not allow another one, before the work and again when it is kept. */
  async function makeKey(
    { accountId, actor }: FastifyRequest,
    domain: string,
    awaitsRecord: boolean,
    check: (keys: readonly DkimKey[]) => void,
  ): Promise<void> {
    // A key takes a core for a moment: an account makes one after the other, so that asking often at once makes no more of them.
    await inTurn(accountId, async () => {
      check(listDkimKeys(db, domain));
      const privateKey = await createDkimKeyInThreadPool();
      const keep = () => {
        const keys = listDkimKeys(db, domain);
        check(keys);
        const now = clock.now();
        const selector = newSelector(keys, now);
        insertDkimKey(db, { domain, selector, privateKey, awaitsRecord }, now);
        const subject = `${selector}._domainkey.${domain}`;
        audit(db, { accountId, actor, action: 'dkim_key_made', subject }, now);
      };
      db.transaction(keep, { behavior: 'immediate' });
    });
  }
};

/** A selector that the domain has not: resolvers may remember the record of an earlier key. */
function newSelector(keys: readonly DkimKey[], now: Date): string {
  const selector = `s${now.toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
  return keys.some((key) => key.selector === selector) ? `${selector}b` : selector;
}

function domainOf(given: string): string {
  const domain = asciiDomain(given);
  if (domain === null) throw invalid('domain', sentence('field_selected', { field: 'domain' }));
  return domain;
}
