/**
 * The groups of recipient domains whose rate is limited because they asked for it. They are stored in the database for display, and so that
 * the limits continue after a restart.
 */
import type { Database } from 'better-sqlite3';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { isoTimestamp } from '../../time/clock.ts';
import type { LimitRates } from './limit.ts';
import { PROVIDER_NAMES } from './mailbox-providers.ts';

const NAME = 'paced_groups';

/** A limited group. */
export interface StoredGroup extends LimitRates {
  /** The SMTP relay to which the limit applies; null if it applies to mail that any relay may send. */
  relay_id: number | null;
  /** The name of a provider, or a domain. */
  group: string;
  /** The ids of the mailings whose recipients wait because of this limit. */
  mailings: number[];
  /** When the limit ends if nothing more is refused, in epoch milliseconds. */
  over_at: number;
  /** When the limit is forgotten if nothing more is sent, in epoch milliseconds. */
  forgotten_at: number;
}

/** A limited group, as the API shows it. */
export interface PacedGroup {
  /** The name of a provider, or a domain. */
  group: string;
  per_minute: number;
  /** When the limit ends if nothing more is refused, as an ISO timestamp. */
  until: string;
}

/** Replaces the stored groups. */
export function writePacedGroups(client: Database, groups: readonly StoredGroup[]): void {
  if (groups.length === 0) removeNamedValue(client, NAME);
  else writeNamedValue(client, NAME, JSON.stringify(groups));
}

/** Returns the groups that are limited at `now`, epoch milliseconds. */
export function readPacedGroups(client: Database, now: number): StoredGroup[] {
  const value = findNamedValue(client, NAME);
  if (value === null) return [];
  const groups: StoredGroup[] = JSON.parse(value);
  return groups.filter(({ forgotten_at }) => forgotten_at > now);
}

/** Returns the limited groups for which recipients of this mailing wait. */
export function pacedGroupsOf(client: Database, mailingId: number, now: Date): PacedGroup[] {
  return readPacedGroups(client, now.getTime())
    .filter(({ mailings }) => mailings.includes(mailingId))
    .map(pacedGroup);
}

/** The limit of this group of domains for mail through an SMTP relay (null: any); null if there is none at `now`. */
export function limitOfGroup(client: Database, group: string, relayId: number | null, now: Date): PacedGroup | null {
  const paced = readPacedGroups(client, now.getTime()).find(
    (stored) => stored.group === group && stored.relay_id === relayId,
  );
  return paced === undefined ? null : pacedGroup(paced);
}

function pacedGroup({ group, rate, over_at }: StoredGroup): PacedGroup {
  return { group, per_minute: perMinute(rate), until: isoTimestamp(new Date(over_at)) };
}

/** Returns the number of limited groups, and the lowest rate of each limited provider in mails per second. */
export function pacingGauges(client: Database, now: number): { count: number; rates: Map<string, number> } {
  const groups = readPacedGroups(client, now);
  const rates = new Map<string, number>();
  for (const { group, rate } of groups)
    if (PROVIDER_NAMES.includes(group)) rates.set(group, Math.min(rate, rates.get(group) ?? rate));
  return { count: groups.length, rates };
}

function perMinute(rate: number): number {
  return Math.max(1, Math.round(rate * 60));
}
