/** SPF (RFC 7208) and DKIM (RFC 6376) of what senders write from, DMARC beside them, with the records to paste. */
import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Relay } from '../../delivery/transport/smtp/relay-urls.ts';
import type { SenderDomain } from '../../senders/domains.ts';
import { sentence } from '../../sentences.ts';
import type { CheckResult, Finding } from '../finding.ts';
import { alignmentCheck, dmarcCheck, parseTags } from './dmarc.ts';
import type { Lookup } from './lookup.ts';

/** The error codes by which node:dns says that a name has no such record. */
const ABSENT = ['ENOTFOUND', 'ENODATA'];
/** The SPF mechanism for a host, by the version of its IP address; 0 stands for a host name. */
const MECHANISMS = new Map([
  [0, 'a'],
  [4, 'ip4'],
  [6, 'ip6'],
]);

/**
 * The checks of one sender domain; `spf` is the check of its return path. A lookup that fails gives a warning, since it says nothing
 * about the record.
 */
export async function checkDomain(
  resolver: Resolver,
  sender: SenderDomain,
  spf: Finding | undefined,
): Promise<Finding[]> {
  const txt = (name: string) => textsAt(resolver, name);
  const [dkim, dmarc] = await Promise.all([
    guarded(`DKIM of ${sender.domain}`, () => dkimCheck(txt, sender)),
    guarded(`DMARC of ${sender.domain}`, () => dmarcCheck(txt, sender)),
  ]);
  const passes = { spf: spf?.state !== 'fail', dkim: dkim.state !== 'fail' };
  return [dkim, dmarc, await guarded(`Alignment of ${sender.domain}`, () => alignmentCheck(txt, sender, passes))];
}

/** Checks the SPF record of a return path's domain, and suggests one that allows these relays. */
export async function checkReturnPath(resolver: Resolver, domain: string, relays: Relay[]): Promise<Finding> {
  return guarded(`SPF of ${domain}`, () => spfCheck((name) => textsAt(resolver, name), domain, relays));
}

async function guarded(name: string, check: () => Promise<CheckResult>): Promise<Finding> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return {
      name,
      state: 'warn',
      found: sentence('dns_silent', { code: String(Object(error).code) }),
      advice: [sentence('dns_silent_cure')],
    };
  }
}

async function textsAt(resolver: Resolver, name: string): Promise<string[]> {
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
  } catch (error) {
    if (ABSENT.includes(String(Object(error).code))) return [];
    throw error;
  }
}

async function spfCheck(txt: Lookup, domain: string, relays: Relay[]): Promise<CheckResult> {
  const records = (await txt(domain)).filter((record) => /^v=spf1( |$)/i.test(record));
  const [record] = records;
  if (record === undefined) {
    const record = { name: domain, value: `v=spf1 ${mechanismsOf(relays)} ~all` };
    const advice = [`${domain}. IN TXT "${record.value}"`, sentence('spf_cure')];
    return { state: 'fail', found: sentence('dns_no_record'), advice, record };
  }
  if (records.length > 1) {
    return {
      state: 'fail',
      found: sentence('spf_many', { count: records.length }),
      advice: [sentence('spf_many_cure')],
    };
  }
  if (/ \+?all( |$)/i.test(record)) {
    return { state: 'fail', found: record, advice: [sentence('spf_open')] };
  }
  if (/^v=spf1 +[~-]all *$/i.test(record)) {
    return { state: 'fail', found: record, advice: [sentence('spf_closed', { mechanisms: mechanismsOf(relays) })] };
  }
  if (!/ [~-]all( |$)/i.test(record) && !/ redirect=/i.test(record)) {
    return { state: 'warn', found: record, advice: [sentence('spf_neutral')] };
  }
  return { state: 'ok', found: record };
}

/** The SPF mechanisms that allow these relays. A relay on this machine is taken to be the mail server (MX) of the domain. */
function mechanismsOf(relays: Relay[]): string {
  const mechanisms = relays.map(({ host, local }) => (local ? 'mx' : `${MECHANISMS.get(isIP(host))}:${host}`));
  return [...new Set(mechanisms.length > 0 ? mechanisms : ['mx'])].join(' ');
}

async function dkimCheck(txt: Lookup, { domain, keys }: SenderDomain): Promise<CheckResult> {
  if (keys.length === 0) {
    return { state: 'warn', found: sentence('dkim_none'), advice: [sentence('dkim_none_cure', { domain })] };
  }
  const looked = await Promise.all(keys.map(async (key) => ({ key, fault: await recordFault(txt, key) })));
  const published = looked.filter(({ fault }) => fault === null).map(({ key }) => key.name);
  // Nobody needs the record of a former key for long, so only the others have to be there.
  const missing = looked.filter(({ key, fault }) => key.state !== 'former' && fault !== null);
  const worst = missing.find(({ key }) => key.state === 'signing') ?? missing[0];
  if (!worst?.fault)
    return { state: 'ok', found: sentence('dkim_published', { names: published.join(', ') }), published };
  const { zone, ...record } = recordOf(worst.key);
  return worst.key.state === 'signing'
    ? { state: 'fail', found: sentence(worst.fault, record), advice: [zone], record, published }
    : { state: 'warn', found: sentence('dkim_next', record), advice: [zone], record, published };
}

type Key = SenderDomain['keys'][number];

function recordOf({ name, value, zone }: Key) {
  return { name, value, zone };
}

/** What is wrong with the record that publishes a key; null: nothing. */
async function recordFault(txt: Lookup, { name, value }: Key): Promise<'dkim_missing' | 'dkim_other' | null> {
  const published = (await txt(name)).map(parseTags).find((tags) => tags.has('p'));
  if (published === undefined) return 'dkim_missing';
  return published.get('p') === parseTags(value).get('p') ? null : 'dkim_other';
}
