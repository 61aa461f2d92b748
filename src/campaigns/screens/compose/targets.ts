/** The lists and segments that a campaign or an automation can go to. */
import type { FastifyRequest } from 'fastify';
import { listContactTypes } from '../../../audience/contact-types/operations.ts';
import { listSegments } from '../../../audience/segments/operations.ts';
import { ask } from '../../../ui/operations.ts';

/** A list or segment as a target. */
export interface Target {
  /** contacts_<id of the list> or segments_<id of the segment>. */
  value: string;
  kind: 'list' | 'segment';
  name: string;
  people: number;
}

/** Reads the targets of the account, the lists first. */
export async function readTargets(request: FastifyRequest): Promise<Target[]> {
  const [types, segments] = await Promise.all([ask(request, listContactTypes, {}), ask(request, listSegments, {})]);
  return [
    ...types.map(({ id, name, contacts_count: people }) => ({
      value: `contacts_${id}`,
      kind: 'list' as const,
      name,
      people,
    })),
    ...segments.map(({ id, segment_name: name, segment_emails_count: people }) => ({
      value: `segments_${id}`,
      kind: 'segment' as const,
      name,
      people,
    })),
  ];
}

/** Returns the targets of one kind (lists or segments) as options of a field. */
export function targetOptions(targets: readonly Target[], wanted: Target['kind']): { value: string; label: string }[] {
  return targets
    .filter(({ kind }) => kind === wanted)
    .map(({ value, name: label }) => ({ value: value.split('_').at(-1) ?? '', label }));
}
