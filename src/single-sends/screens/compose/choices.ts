/** What a campaign can go to and come from. */
import type { FastifyRequest } from 'fastify';
import { listContactTypes } from '../../../audience/contact-types/operations.ts';
import { listSegments } from '../../../audience/segments/operations.ts';
import { listGroups } from '../../../audience/unsubscribed/groups.ts';
import { ask } from '../../../dashboard/operations.ts';
import { listSenders } from '../../../senders/operations/senders.ts';

/** A list or segment, as a target. */
export interface Target {
  value: string;
  kind: 'list' | 'segment';
  name: string;
  people: number;
}

export type Choices = Awaited<ReturnType<typeof readChoices>>;
export type SenderChoice = Choices['senders'][number];

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
