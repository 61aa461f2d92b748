/** Limits of mails per person (addition): so many mails of campaigns within so many days. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { changeMailCaps, readMailCaps } from '../database/accounts.ts';
import type { MailCap } from '../database/schema/index.ts';
import { markEarlierMailsSoon } from '../delivery/queue/ledger/earlier-mails.ts';
import { MAX_CAP_DAYS, MAX_CAP_MAILS, MAX_CAPS } from '../delivery/timing/mail-caps.ts';
import type { Deps } from '../deps.ts';
import { done, integer, stringList, successWith } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { sentence } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const tags = ['Single sends'];

const NewCaps = Type.Object({
  caps: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: MAX_CAPS,
        description: `Each as mails/days: 3/7 is at most 3 mails in 7 days, the present one included. Up to ${MAX_CAP_MAILS} mails and ${MAX_CAP_DAYS} days. Empty: no limits.`,
      }),
      empty: [],
    }),
  ),
});

const Caps = Type.Array(
  Type.Object({
    mails: integer({ description: 'So many mails of single sends and automations a person gets at most.' }),
    days: integer({ description: 'Within so many days, the present one included, in the zone of schedules.' }),
  }),
  { description: 'The limits; all of them hold.' },
);

/** A limit as it is given, such as `3/7`; null where it is none. */
function parseCap(text: string): MailCap | null {
  const [, mails, days] = /^\s*(\d{1,3})\s*\/\s*(\d{1,3})\s*$/.exec(text) ?? [];
  const cap = { mails: Number(mails), days: Number(days) };
  return cap.mails >= 1 && cap.mails <= MAX_CAP_MAILS && cap.days >= 1 && cap.days <= MAX_CAP_DAYS ? cap : null;
}

export const mailCapRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.get(
    '/sending/caps',
    {
      schema: {
        tags,
        summary: 'Read how many mails a person gets at most (addition)',
        response: successWith({ caps: Caps }),
      },
    },
    async ({ accountId }) => ({ status: 'success' as const, message: { caps: readMailCaps(db, accountId) } }),
  );

  app.post(
    '/sending/caps/save',
    {
      schema: {
        tags,
        summary: 'Change how many mails a person gets at most (addition)',
        description:
          'It holds from the next mail on. A single send leaves out whoever has had that many; a mail of an automation waits for up to a week. Transactional mail is neither limited nor counted.',
        body: NewCaps,
        response: done,
      },
      config: {
        role: 'owner',
        check: check(NewCaps, ({ caps = [] }, errors) => {
          const wrong = caps.find((text) => text.trim() !== '' && parseCap(text) === null);
          if (wrong !== undefined)
            errors.add('caps', sentence('cap_wrong', { given: wrong, mails: MAX_CAP_MAILS, days: MAX_CAP_DAYS }));
        }),
      },
    },
    async ({ accountId, actor, body }) => {
      const caps = (body.caps ?? []).flatMap((text) => parseCap(text) ?? []).sort((a, b) => a.days - b.days);
      const change = () => {
        changeMailCaps(db, accountId, caps);
        audit(db, { accountId, actor, action: 'mail_caps_changed' }, clock.now());
      };
      db.transaction(change, { behavior: 'immediate' });
      await markEarlierMailsSoon(db.$client, clock.now().getTime());
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
