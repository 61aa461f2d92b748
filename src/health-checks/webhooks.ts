/** Checks whether a webhook of an account was switched off by something other than its owner. */
import type { Db } from '../database/open.ts';
import { sentence } from '../sentences.ts';
import { listEndpoints } from '../webhooks/endpoints.ts';
import type { Finding } from './finding.ts';

/** What the account's webhooks say; nothing where it has none. */
export function webhooksCheck(db: Db, accountId: number): Finding[] {
  const name = 'Webhooks';
  const endpoints = listEndpoints(db, accountId);
  if (endpoints.length === 0) return [];
  const off = endpoints.filter(({ disabled_code: code }) => code !== null && code !== 'by_owner');
  if (off.length === 0) return [{ name, state: 'ok', found: sentence('webhooks_well') }];
  // Without path and query, which often hold a secret.
  const hosts = new Set(off.map(({ url }) => new URL(url).host));
  const advice = [sentence('webhooks_cure')];
  return [{ name, state: 'warn', found: sentence('webhooks_off', { name: [...hosts].join(', ') }), advice }];
}
