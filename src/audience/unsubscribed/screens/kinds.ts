/** The four lists of addresses that get no mail, each with the operations that read it and take an address off it. */
import type { Static } from 'typebox';
import type { Context } from '../../../operations/operation.ts';
import { perform } from '../../../operations/perform.ts';
import { liftInactive, listInactive } from '../../sunset/operations.ts';
import {
  listUnsubscribedFromAll,
  listUnsubscribedFromGroup,
  removeFromGlobalList,
  removeFromGroup,
} from '../entries.ts';
import { listSuppressed, removeFromSuppressionList } from '../suppressed.ts';

export const LIST_NAMES = ['all', 'group', 'blocked', 'inactive'] as const;
export type ListName = (typeof LIST_NAMES)[number];

type Inactive = Static<typeof listInactive.record>;
type Suppressed = Static<typeof listSuppressed.record>;
/** An address on one of the lists, with what some of the lists say about it. */
export type Entry = Pick<Inactive, 'id' | 'email_address' | 'created_at'> &
  Partial<Pick<Inactive, 'action'> & Pick<Suppressed, 'kind' | 'diagnostic'>>;

/** Which part of a list is asked for, as an address in the browser has it. */
interface Part {
  limit: number;
  /** Only this address, unless it is empty. */
  email: string;
  before?: string | undefined;
  /** Of the list of a group. */
  groupId?: string | undefined;
}

type Asked = Record<'order' | 'limit' | 'email' | 'before_id' | 'groupId', unknown>;
interface List {
  read(context: Context, asked: Partial<Asked>): Promise<Entry[]>;
  remove(context: Context, id: number): Promise<unknown>;
}

const LISTS: Readonly<Record<ListName, List>> = {
  all: {
    read: (context, asked) => perform(listUnsubscribedFromAll, context, asked),
    remove: (context, id) => perform(removeFromGlobalList, context, { id }),
  },
  group: {
    read: (context, asked) => perform(listUnsubscribedFromGroup, context, asked),
    remove: (context, id) => perform(removeFromGroup, context, { id }),
  },
  blocked: {
    read: (context, asked) => perform(listSuppressed, context, asked),
    remove: (context, id) => perform(removeFromSuppressionList, context, { id }),
  },
  inactive: {
    read: (context, asked) => perform(listInactive, context, asked),
    remove: (context, id) => perform(liftInactive, context, { id }),
  },
};

/** Reads a part of a list, the newest entries first. Throws 404 where there is no such group. */
export function readEntries(
  context: Context,
  name: ListName,
  { limit, email, before, groupId }: Part,
): Promise<Entry[]> {
  return LISTS[name].read(context, {
    order: 'newest',
    limit,
    ...(email && { email }),
    ...(before && { before_id: before }),
    ...(groupId && { groupId }),
  });
}

/** Takes an address off a list. */
export async function removeEntry(context: Context, name: ListName, id: number): Promise<void> {
  await LISTS[name].remove(context, id);
}

/** The page of a list. */
export function pageOf(name: ListName, groupId: string | undefined): string {
  if (name === 'group') return `/left/groups/${Number(groupId)}`;
  return name === 'all' ? '/left' : `/left/${name}`;
}
