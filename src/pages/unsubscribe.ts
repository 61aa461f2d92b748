/** Leaving: one click from the mail program (RFC 8058), and the preference page. A GET changes nothing: scanners click (trust 20). */
import { and, asc, eq } from 'drizzle-orm';
import type { FastifyInstance } from 'fastify';
import type { Address } from '../audience/addresses.ts';
import { addUnsubscribers, removeUnsubscribers } from '../audience/unsubscribing.ts';
import { wireTime } from '../clock.ts';
import { addresses, unsubscribeGroups, unsubscribers } from '../database/schema.ts';
import type { RecipientIds } from '../delivery/tokens.ts';
import { countLeaving } from '../delivery/tracking.ts';
import type { Deps } from '../deps.ts';
import { html, page, unknownLink } from './layout.ts';

interface Preferences {
  /** Everything the person could be on: the displayed groups and the mail's own. */
  groups: { id: number; group_name: string; description: string }[];
  /** List id (0 is "all mail") to the entry that keeps the person off it. */
  left: Map<number, number>;
  person: Address;
}

export async function unsubscribePage(app: FastifyInstance, { db, clock, tokens }: Deps): Promise<void> {
  app.get<{ Params: { token: string } }>('/u/:token', (request, reply) => {
    const ids = tokens.readRecipient('unsubscribe', request.params.token);
    const preferences = ids && read(ids);
    return ids && preferences ? show(reply, preferences, '') : unknownLink(reply);
  });

  app.post<{ Params: { token: string }; Body: Record<string, unknown> | undefined }>('/u/:token', (request, reply) => {
    const ids = tokens.readRecipient('unsubscribe', request.params.token);
    const preferences = ids && read(ids);
    if (!ids || !preferences) return unknownLink(reply);
    const body = request.body ?? {};
    if (body.form === 'preferences') {
      save(ids, preferences, new Set([body.off ?? []].flat().map(String)));
      return show(reply, read(ids) ?? preferences, 'Your preferences are saved.');
    }
    leave(ids, preferences, [ids.group], 'one-click');
    return page(
      reply,
      'You are unsubscribed',
      html`<p>${preferences.person.address} will get no more mail of this kind.</p>`,
    );
  });

  function read(ids: RecipientIds): Preferences | null {
    const person = db
      .select()
      .from(addresses)
      .where(and(eq(addresses.id, ids.address), eq(addresses.user_id, ids.user)))
      .get();
    if (person === undefined) return null;
    const groups = db
      .select()
      .from(unsubscribeGroups)
      .where(eq(unsubscribeGroups.user_id, ids.user))
      .orderBy(asc(unsubscribeGroups.id))
      .all()
      .filter((group) => group.is_display === 1 || group.id === ids.group);
    const entries = db.select().from(unsubscribers).where(eq(unsubscribers.address_id, ids.address)).all();
    const address = { address: person.compared_email, compared: person.compared_email, domain: '' };
    return {
      groups,
      person: address,
      left: new Map(entries.map((entry) => [entry.unsubscribe_groups_id ?? 0, entry.id])),
    };
  }

  function leave(ids: RecipientIds, { person }: Preferences, lists: number[], source: 'one-click' | 'page'): void {
    const now = clock.now();
    db.transaction(
      () => {
        for (const list of lists) {
          const change = {
            userId: ids.user,
            groupId: list || null,
            source,
            mailingId: ids.mailing,
            now: wireTime(now),
          };
          addUnsubscribers(db, change, [person]);
        }
        if (lists.length > 0) countLeaving(db.$client, ids, now.getTime());
      },
      { behavior: 'immediate' },
    );
  }

  /** Makes the lists the person is off exactly those chosen, among those the page showed. */
  function save(ids: RecipientIds, preferences: Preferences, chosen: ReadonlySet<string>): void {
    const shown = [0, ...preferences.groups.map((group) => group.id)];
    const off = (list: number) => chosen.has(String(list));
    leave(
      ids,
      preferences,
      shown.filter((list) => off(list) && !preferences.left.has(list)),
      'page',
    );
    const back = shown.filter((list) => !off(list)).flatMap((list) => preferences.left.get(list) ?? []);
    removeUnsubscribers(db, back, 'page', wireTime(clock.now()));
  }

  function show(reply: Parameters<typeof page>[0], { groups, left, person }: Preferences, notice: string) {
    const box = (list: number, label: string, description: string) => html`
      <label><input type="checkbox" name="off" value="${list}"${left.has(list) ? html` checked` : ''}> ${label}
      ${description ? html`<br><small>${description}</small>` : ''}</label>`;
    return page(
      reply,
      'Your mail preferences',
      html`${notice ? html`<p role="status">${notice}</p>` : ''}
      <p>For ${person.address}. Tick what you do not want to get any more.</p>
      <form method="post"><input type="hidden" name="form" value="preferences">
      ${groups.map((group) => box(group.id, group.group_name, group.description))}
      ${box(0, 'All mail', '')}
      <p><button>Save</button></p></form>`,
    );
  }
}
