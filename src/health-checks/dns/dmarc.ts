/** DMARC (RFC 7489): the policy of a sender's domain, and whether SPF or DKIM speaks for the domain that people see. */

import type { SenderDomain } from '../../senders/domains.ts';
import { sentence } from '../../sentences.ts';
import type { CheckResult } from '../finding.ts';
import type { Lookup } from './lookup.ts';

interface Published {
  /** The domain at which the records are. */
  domain: string;
  records: string[];
}

/** Checks the policy of the domain itself, or else of the nearest domain above that has one, where sp= takes precedence over p=. */
export async function dmarcCheck(txt: Lookup, { domain }: SenderDomain): Promise<CheckResult> {
  const [published] = await policiesOf(txt, domain);
  if (published === undefined) {
    const record = { name: `_dmarc.${domain}`, value: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}` };
    const advice = [`${record.name}. IN TXT "${record.value}"`];
    return { state: 'fail', found: sentence('dmarc_none'), advice, record };
  }
  const { records } = published;
  const name = `_dmarc.${published.domain}`;
  const [record = ''] = records;
  if (records.length > 1)
    return {
      state: 'fail',
      found: sentence('dmarc_many', { count: records.length, name }),
      advice: [sentence('dmarc_many_cure')],
    };
  const tags = parseTags(record);
  const policy = ((published.domain !== domain && tags.get('sp')) || tags.get('p')) ?? '';
  if (!['none', 'quarantine', 'reject'].includes(policy.toLowerCase())) {
    return { state: 'fail', found: `${record} at ${name}`, advice: [sentence('dmarc_policy')] };
  }
  return { state: 'ok', found: `${record} at ${name}` };
}

/**
 * Checks alignment (RFC 7489 §3.1): SPF or our DKIM signature must pass, and for a domain related to the one in From. `passes` says
 * which of the two checks did not fail. The highest domain with a DMARC policy is taken as the organizational domain.
 */
export async function alignmentCheck(
  txt: Lookup,
  { domain, returnPath, keys }: SenderDomain,
  passes: { spf: boolean; dkim: boolean },
): Promise<CheckResult> {
  const policies = await policiesOf(txt, domain);
  const isStrict =
    parseTags(policies[0]?.records[0] ?? '')
      .get('aspf')
      ?.toLowerCase() === 's';
  const organisation = policies.at(-1)?.domain ?? domain;
  const isRelated =
    returnPath === organisation || returnPath.endsWith(`.${organisation}`) || domain.endsWith(`.${returnPath}`);
  const ways: { name: string; works: boolean }[] = [];
  if (keys.length > 0) ways.push({ name: `DKIM (d=${domain})`, works: passes.dkim });
  if (returnPath === domain || (isRelated && !isStrict)) {
    ways.push({ name: `SPF (return path ${returnPath})`, works: passes.spf });
  }
  const namesOf = (some: typeof ways) => some.map(({ name }) => name).join(' and ');
  const working = ways.filter(({ works }) => works);
  if (working.length > 0) return { state: 'ok', found: namesOf(working) };
  if (ways.length > 0) {
    const found = sentence('alignment_fails', { ways: namesOf(ways) });
    return { state: 'fail', found, advice: [sentence('alignment_fails_cure')] };
  }
  return {
    state: 'fail',
    found: sentence(isStrict ? 'alignment_none_strict' : 'alignment_none', { domain: returnPath }),
    advice: [sentence('dkim_make', { domain }), sentence('alignment_none_cure', { domain: organisation })],
  };
}

/** The DMARC records of the domain and of those above it, in this order. Top-level domains are not asked. */
async function policiesOf(txt: Lookup, domain: string): Promise<Published[]> {
  const labels = domain.split('.');
  const domains = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
  const all = await Promise.all(
    domains.map(async (name) => {
      const records = (await txt(`_dmarc.${name}`)).filter((record) => /^v=DMARC1\s*(;|$)/.test(record));
      return { domain: name, records };
    }),
  );
  return all.filter(({ records }) => records.length > 0);
}

/** Parses a tag=value list (RFC 6376 §3.2). White space within values is dropped. */
export function parseTags(record: string): Map<string, string> {
  const pairs = record.split(';').map((part) => part.split('='));
  return new Map(pairs.map(([tag = '', ...value]) => [tag.trim(), value.join('=').replace(/\s/g, '')]));
}
