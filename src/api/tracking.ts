/** What the account learns of opens and clicks, and what people said about theirs being recorded (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, desc, eq, inArray } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ownedContacts } from '../audience/contacts/contacts.ts';
import {
  changeTrackingMode,
  chooseTracking,
  isMeasuredNow,
  TRACKING_ACTIONS,
  trackingMode,
} from '../audience/tracking-choice.ts';
import { isoTimestamp } from '../clock.ts';
import { recordId } from '../database/ownership.ts';
import { addresses, consentLog, contacts, TRACKING_CHOICE, TRACKING_MODES } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import {
  choice,
  done,
  flag,
  identifier,
  isoTimestampSchema,
  nullable,
  reference,
  successWith,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { audit } from '../users/audit.ts';

const tags = ['Opens and clicks'];
const MAX_TEXT = 5000;

const mode = () => ({
  ...choice(...TRACKING_MODES),
  description:
    'off: nothing; totals: how many opens and clicks there were; person: who did it; consent: who did it of those who allowed it.',
});

const CHOICES = Object.keys(TRACKING_CHOICE) as (keyof typeof TRACKING_CHOICE)[];

const PersonChoice = Type.Object({
  choice: { ...choice(...CHOICES), description: 'What they chose; none: nothing yet.' },
  is_measured: { ...zeroOrOne(), description: '1: their opens and clicks are recorded now.' },
  consent_text: { ...nullable(Type.String()), description: 'The text of their choice.' },
  source: { ...nullable(choice('api', 'page', 'form', 'import')), description: 'How they chose.' },
  created_at: { ...nullable(isoTimestampSchema()), description: 'When they chose.' },
});

export const trackingRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  /** The address of a contact of the account. Throws 404. */
  function requireAddress({ accountId }: FastifyRequest, contactId: unknown): number {
    const found = db
      .select({ address: contacts.address_id })
      .from(contacts)
      .where(and(eq(contacts.id, recordId(contactId)), ownedContacts(accountId)))
      .get();
    if (found === undefined) throw notFound();
    return found.address;
  }

  app.get(
    '/tracking',
    {
      schema: {
        tags,
        summary: 'Read what the account learns of opens and clicks (addition)',
        response: successWith({
          tracking: Type.Object({ mode: mode() }, { description: 'The choice of the account.' }),
        }),
      },
    },
    async ({ accountId }) => ({
      status: 'success' as const,
      message: { tracking: { mode: trackingMode(db, accountId) } },
    }),
  );

  app.post(
    '/tracking/save',
    {
      schema: {
        tags,
        summary: 'Choose what the account learns of opens and clicks (addition)',
        description:
          'It holds at once: for mails that leave from now on, those of running campaigns too, and for opens and clicks of mails that were sent.',
        body: Type.Object({ mode: mode() }),
        response: done,
      },
      config: { role: 'owner' },
    },
    async ({ accountId, actor, body }) => {
      const change = () => {
        changeTrackingMode(db, accountId, body.mode);
        audit(db, { accountId, actor, action: 'tracking_changed', subject: body.mode }, clock.now());
      };
      db.transaction(change, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.get(
    '/contacts/tracking',
    {
      schema: {
        tags,
        summary: 'Read what the person of a contact chose about their opens and clicks (addition)',
        querystring: Type.Object({ contact_id: identifier('A contact of the person.') }),
        response: successWith({
          tracking: Type.Object(PersonChoice.properties, { description: 'The choice of the person.' }),
        }),
      },
    },
    async (request) => {
      const address = requireAddress(request, request.query.contact_id);
      const said = db.select().from(addresses).where(eq(addresses.id, address)).get()?.tracking_choice;
      const isMeasured =
        db.$client
          .prepare<[number], 0 | 1>(`SELECT ${isMeasuredNow('?')}`)
          .pluck()
          .get(address) ?? 0;
      const newest = db
        .select()
        .from(consentLog)
        .where(and(eq(consentLog.address_id, address), inArray(consentLog.action, TRACKING_ACTIONS)))
        .orderBy(desc(consentLog.id))
        .limit(1)
        .get();
      const logged = said === TRACKING_CHOICE.none ? undefined : newest;
      const tracking = {
        choice: CHOICES.find((name) => TRACKING_CHOICE[name] === said) ?? 'none',
        is_measured: isMeasured,
        consent_text: logged?.consent_text ?? null,
        source: findSource(logged?.source),
        created_at: logged?.created_at ?? null,
      };
      return { status: 'success' as const, message: { tracking } };
    },
  );

  app.post(
    '/contacts/tracking/save',
    {
      schema: {
        tags,
        summary: 'Keep what the person of a contact chose about their opens and clicks (addition)',
        description:
          'For a choice that they made elsewhere. It holds for their address, so for all of their contacts. The same choice again changes nothing.',
        body: Type.Object({
          contact_id: reference(),
          is_allowed: flag('1: they allow that their opens and clicks are recorded; 0: they refuse it.'),
          consent_text: text({ maxLength: MAX_TEXT, description: 'What they agreed to, or refused: your proof.' }),
        }),
        response: done,
      },
    },
    async (request) => {
      const { contact_id, is_allowed, consent_text } = request.body;
      const change = () => {
        chooseTracking(db.$client, {
          accountId: request.accountId,
          addressId: requireAddress(request, contact_id),
          isAllowed: is_allowed === 1,
          source: 'api',
          text: consent_text,
          mailingId: null,
          now: isoTimestamp(clock.now()),
        });
      };
      db.transaction(change, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};

/** The ways in which a choice about opens and clicks can come, of those of the consent log. */
function findSource(source: string | undefined): 'api' | 'page' | 'form' | 'import' | null {
  return source === 'api' || source === 'page' || source === 'form' || source === 'import' ? source : null;
}
