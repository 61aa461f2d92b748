/** What the service has in its file and says by its API, beside the model. */
import { readFileSync } from 'node:fs';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import { isGone, type Model } from './model.ts';
import type { World } from './world.ts';

/** Compares the counters of mailings with the ledger, in the file as a kill left it. */
export function compareFile(world: World): void {
  world.read((client) => {
    const check = client.pragma('integrity_check', { simple: true });
    if (check !== 'ok') world.model.problems.push(`integrity: ${check}`);
    for (const { name, kept, right } of mailingCounters(client))
      if (JSON.stringify(kept) !== JSON.stringify(right)) world.model.problems.push(`${name} are not the ledger's`);
  });
}

/** Compares the lists, the suppressions and the contacts that the API gives with the model. */
export async function compareLists(world: World): Promise<void> {
  const emails = async (path: string, name: 'suppressions' | 'unSubscribers' | 'recipients', query = {}) =>
    (await world.must('GET', path, query)).message[name].map(({ email_address: address }) => address);
  same(world.model, 'suppressed', await emails('/suppressions/list', 'suppressions'), world.model.suppressed);
  same(world.model, 'left 0', await emails('/global-unsubscribes', 'unSubscribers'), world.model.left[0]);
  for (const groupId of [1, 2] as const)
    same(
      world.model,
      `left ${groupId}`,
      await emails('/unsubscribes-groups/recipients-list', 'recipients', { groupId }),
      world.model.left[groupId],
    );
  const { contacts } = (await world.must('GET', '/contacts/list')).message;
  const line = (id: number, type: number, email: string) => `${id} ${type} ${email}`;
  same(
    world.model,
    'contacts',
    contacts.map(({ id, contact_type_id: type, email }) => line(id, type, email)),
    new Set([...world.model.contacts].map(([id, { type, email }]) => line(id, type, email))),
  );
}

function same(model: Model, what: string, found: string[], expected: ReadonlySet<string>): void {
  const present = new Set(found);
  const more = found.filter((one) => !expected.has(one));
  // An address that the relay refuses is suppressed once its result is recorded, and may have been lifted or erased in between.
  const less = [...expected].filter((one) => !present.has(one) && !(what === 'suppressed' && isGone(one)));
  if (more.length + less.length > 0)
    model.problems.push(`${what}: wrongly there ${more.slice(0, 5)}; missing ${less.slice(0, 5)}`);
}

/** No row has the address of an erased person. */
export function compareErased(world: World): void {
  const rows = world.read((client) => {
    const tables = client
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
      .pluck();
    return tables.all().map((table) => JSON.stringify(client.prepare(`SELECT * FROM "${table}"`).all()));
  });
  const named = erasedIn(world.model, rows.join('\n'));
  if (named.length > 0) world.model.problems.push(`erased, but in the file: ${named.slice(0, 5)}`);
}

/** Nor have the bytes of the file, once they were purged; gives of how many people they had an address before. */
export async function comparePurged(world: World): Promise<number> {
  const left = () => erasedIn(world.model, readFileSync(world.file, 'latin1'));
  const before = left().length;
  await world.purge();
  if (left().length > 0) world.model.problems.push(`erased and purged, but in the file: ${left().slice(0, 5)}`);
  return before;
}

function erasedIn(model: Model, text: string): string[] {
  const found = new Set(text.match(/[a-z]+\d+@example\.org/gi)?.map((one) => one.toLowerCase()));
  return [...model.erased].filter((email) => found.has(email));
}
