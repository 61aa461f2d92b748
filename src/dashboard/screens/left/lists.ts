/** The lists of addresses that get no mail, and how the API names them. */
import type { ApiAnswer, ApiClient } from '../../api-client.ts';

/** An address on one of the lists. `reason` says why it is blocked, if it is. */
export interface Entry {
  id: number;
  email_address: string;
  created_at: string;
  kind?: 'bounce' | 'complaint';
  diagnostic?: string;
  /** What was done with who is inactive. */
  action?: 'stop' | 'segment' | 'move';
}

/** An unsubscribe group with how many people have left it. */
export interface Group {
  id: number;
  group_name: string;
  description: string;
  unsubscribe_clients_count: number;
}

export type ListName = 'all' | 'group' | 'blocked' | 'inactive';

interface List {
  path: string;
  /** The name of the records in the answer. */
  records: string;
  /** Where one entry is removed. */
  removal: string;
}

/** What the API calls each list. */
const LISTS: Readonly<Record<ListName, List>> = {
  all: { path: '/global-unsubscribes', records: 'unSubscribers', removal: '/global-unsubscribes/delete' },
  group: {
    path: '/unsubscribes-groups/recipients-list',
    records: 'recipients',
    removal: '/unsubscribes-groups/recipients-delete',
  },
  blocked: { path: '/suppressions/list', records: 'suppressions', removal: '/suppressions/delete' },
  inactive: { path: '/sunset/people', records: 'people', removal: '/sunset/lift' },
};

/** Which part of a list is asked for. */
export interface Part {
  limit: number;
  email: string;
  before?: string | undefined;
  groupId?: string | undefined;
}

/** Reads a part of a list, the newest entries first. */
export async function readEntries(api: ApiClient, name: ListName, part: Part): Promise<Entry[]> {
  const { path, records } = LISTS[name];
  const message = await api.get<Record<string, Entry[]>>(path, {
    order: 'newest',
    limit: String(part.limit),
    ...(part.email && { email: part.email }),
    ...(part.before && { before_id: part.before }),
    ...(part.groupId && { groupId: part.groupId }),
  });
  return message[records] ?? [];
}

/** Takes an address off a list, unless the API refuses it. */
export function removeEntry(api: ApiClient, name: ListName, id: number): Promise<ApiAnswer<string>> {
  if (name === 'inactive') return api.send('POST', LISTS.inactive.removal, { id });
  return api.send('DELETE', `${LISTS[name].removal}?id=${id}`);
}

/** The unsubscribe groups. */
export async function readGroups(api: ApiClient): Promise<Group[]> {
  return (await api.get<{ unsubscribesGroups: Group[] }>('/unsubscribes-groups')).unsubscribesGroups;
}

/** The page of a list. */
export function pageOf(name: ListName, groupId: string | undefined): string {
  if (name === 'group') return `/left/groups/${Number(groupId)}`;
  return name === 'all' ? '/left' : `/left/${name}`;
}
