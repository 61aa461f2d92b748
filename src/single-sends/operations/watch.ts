/** What a report says of a mailing whose results are watched: its canary, and what came of it by recipient domain. */
import Type from 'typebox';
import { CANARY_STAGES } from '../../database/schema/index.ts';
import { choice, integer, nullable } from '../../http/requests/schemas.ts';

const DomainCounts = Type.Object({
  domain: Type.String({ description: 'Empty: all domains that are not named.' }),
  mails: integer({ description: 'Mails that were handed over at least once.' }),
  delivered: integer({ description: 'Mails that were accepted and did not come back.' }),
  kept: integer({ description: 'How many of the delivered the built-in outbox took, so that nobody got them.' }),
  bounces: integer({ description: 'Mails that bounced: refused because the address does not exist, or returned.' }),
  failed: integer({ description: 'Refused for good for another reason, or given up.' }),
  complaints: integer({ description: 'Mails that their recipients complained about.' }),
  waiting: integer({ description: 'Mails that their server has put off, or that are being handed over.' }),
});
/** Of a report: what is known of a mailing that is watched. */
export const Watch = Type.Object({
  canary_percent: integer({ description: '0: it has no canary.' }),
  canary_minutes: integer({ description: 'How many minutes the rest waits after the first recipients.' }),
  canary_stage: {
    ...nullable(choice(...CANARY_STAGES)),
    description:
      'How far the canary is; released: the rest may go, also for an audience too small for one. Null without a canary.',
  },
  canary_recipients: integer({ description: 'How many people get it first; 0 before they are chosen.' }),
  continues_at: {
    ...nullable(Type.String()),
    description: 'When the rest goes by itself, UTC; null while that is not known.',
  },
  counted_at: { ...nullable(Type.String()), description: 'When the domains were counted, UTC; null before that.' },
  domains: Type.Array(DomainCounts, {
    description:
      'What came of the first part, or of a mailing that is held, by recipient domain: those with most bad results first.',
  }),
});
