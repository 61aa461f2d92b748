/** What a campaign can go to and come from, and what one that is composed still lacks. */
import type { FastifyRequest } from 'fastify';
import { listContactTypes } from '../../../audience/contact-types/operations.ts';
import { listSegments } from '../../../audience/segments/operations/segments.ts';
import { listGroups } from '../../../audience/unsubscribed/groups.ts';
import { ask } from '../../../dashboard/operations.ts';
import { listSenders } from '../../../senders/operations/senders.ts';
import type { Audience, Draft } from '../../operations/drafts.ts';

/** A list or segment, as a target. */
export interface Target {
  value: string;
  kind: 'list' | 'segment';
  name: string;
  people: number;
}

export type Choices = Awaited<ReturnType<typeof readChoices>>;
export type SenderChoice = Choices['senders'][number];

export const QUEUED = 1;

/** Reads what the account has to choose of. */
export async function readChoices(request: FastifyRequest) {
  const [types, segments, senders, groups] = await Promise.all([
    ask(request, listContactTypes, {}),
    ask(request, listSegments, {}),
    ask(request, listSenders, {}),
    ask(request, listGroups, {}),
  ]);
  const lists = types.map(({ id, name, contacts_count: people }): Target => {
    return { value: `contacts_${id}`, kind: 'list', name, people };
  });
  const parts = segments.map(({ id, segment_name: name, segment_emails_count: people }): Target => {
    return { value: `segments_${id}`, kind: 'segment', name, people };
  });
  return { targets: [...lists, ...parts], senders, groups };
}

const MISSING = ['people', 'sender', 'group', 'subject', 'preheader', 'content'] as const;
type Missing = (typeof MISSING)[number];

type Needed = Pick<Draft, 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content'>;

/** What a send still lacks, in the order of the steps. */
export function missingParts(draft: Needed, audience: Audience): Missing[] {
  const has: Record<Missing, boolean> = {
    people: audience.recipients > 0,
    sender: draft.sender_id !== 0,
    group: draft.unsubscribe_group_id !== 0,
    subject: draft.subject !== '',
    preheader: draft.preheader !== '',
    content: draft.content !== 'none',
  };
  return MISSING.filter((part) => !has[part]);
}
