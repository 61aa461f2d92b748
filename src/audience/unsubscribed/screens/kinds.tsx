/** The four lists of addresses that get no mail, each with the operations that read it and remove an address from it. */
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Tabs } from '../../../ui/components/surface.tsx';
import { ask } from '../../../ui/operations.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { liftInactive, listInactive } from '../../sunset/operations.ts';
import {
  type listSuppressed,
  listUnsubscribedFromAll,
  listUnsubscribedFromGroup,
  readSuppressed,
  removeFromGlobalList,
  removeFromGroup,
  removeFromSuppressionList,
} from '../entries.ts';

export const LIST_NAMES = ['all', 'topic', 'suppressions', 'inactive'] as const;
export type ListName = (typeof LIST_NAMES)[number];

type Inactive = Static<typeof listInactive.record>;
type Suppressed = Static<typeof listSuppressed.record>;
/** An address on one of the lists, with the fields that only some of the lists have. */
export type Entry = Pick<Inactive, 'id' | 'email_address' | 'created_at'> &
  Partial<Pick<Inactive, 'action'> & Pick<Suppressed, 'kind' | 'diagnostic'>>;

/** The requested part of a list, from the query parameters. */
interface Part {
  limit: number;
  /** The address to find; empty: all addresses. */
  email: string;
  before?: string | undefined;
  /** The id of the group, for the list of a group. */
  groupId?: string | undefined;
}

type ListInput = Record<'order' | 'limit' | 'email' | 'before_id' | 'groupId', unknown>;
interface ListOperations {
  read(request: FastifyRequest, input: Partial<ListInput>): Promise<Entry[]>;
  remove(request: FastifyRequest, id: number): Promise<unknown>;
}

const LISTS: Readonly<Record<ListName, ListOperations>> = {
  all: {
    read: (request, input) => ask(request, listUnsubscribedFromAll, input),
    remove: (request, id) => ask(request, removeFromGlobalList, { id }),
  },
  topic: {
    read: (request, input) => ask(request, listUnsubscribedFromGroup, input),
    remove: (request, id) => ask(request, removeFromGroup, { id }),
  },
  suppressions: {
    read: (request, input) => ask(request, readSuppressed, input),
    remove: (request, id) => ask(request, removeFromSuppressionList, { id }),
  },
  inactive: {
    read: (request, input) => ask(request, listInactive, input),
    remove: (request, id) => ask(request, liftInactive, { id }),
  },
};

/** Reads a part of a list, newest entries first. Throws 404 if there is no such group. */
export function readEntries(
  request: FastifyRequest,
  name: ListName,
  { limit, email, before, groupId }: Part,
): Promise<Entry[]> {
  return LISTS[name].read(request, {
    order: 'newest',
    limit,
    ...(email && { email }),
    ...(before && { before_id: before }),
    ...(groupId && { groupId }),
  });
}

/** Removes an address from a list. */
export async function removeEntry(request: FastifyRequest, name: ListName, id: number): Promise<void> {
  await LISTS[name].remove(request, id);
}

/** Returns the path of a list. */
export function pageOf(name: ListName, groupId: string | undefined): string {
  if (name === 'topic') return `/unsubscribes/topics/${Number(groupId)}`;
  return name === 'all' ? '/unsubscribes' : `/unsubscribes/${name}`;
}

/** The parts of Unsubscribes and suppressions. */
export function UnsubscribesTabs({ current }: { current: ListName }) {
  const language = useLanguage();
  const hrefs = {
    all: '/unsubscribes',
    topic: '/unsubscribes/topics',
    suppressions: '/unsubscribes/suppressions',
    inactive: '/unsubscribes/inactive',
  } as const;
  return (
    <Tabs
      label={language.say('nav.unsubscribes')}
      tabs={LIST_NAMES.map((name) => ({
        href: hrefs[name],
        label: language.say(`unsubscribes.${name}`),
        isCurrent: name === current,
      }))}
    />
  );
}
