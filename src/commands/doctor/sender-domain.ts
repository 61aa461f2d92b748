/** SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489) of a sender's domain, with the records to paste. */
import type { Resolver } from 'node:dns/promises';
import type { Check } from './check.ts';
import type { SenderDomain } from './domains.ts';

/** A name without such a record, as node:dns tells it. */
const ABSENT = ['ENOTFOUND', 'ENODATA'];

/** The checks of one domain. What DNS cannot answer just now is a warning: it says nothing about the record. */
export async function checkDomain(resolver: Resolver, sender: SenderDomain): Promise<Check[]> {
  const txt = (name: string) => textsAt(resolver, name);
  const [spf, dkim, dmarc] = await Promise.all([
    guarded(`SPF of ${sender.domain}`, () => spfCheck(txt, sender)),
    guarded(`DKIM of ${sender.domain}`, () => dkimCheck(txt, sender)),
    guarded(`DMARC of ${sender.domain}`, () => dmarcCheck(txt, sender)),
  ]);
  return [spf, dkim, dmarc];
}

type Lookup = (name: string) => Promise<string[]>;
type Finding = Omit<Check, 'name'>;

async function guarded(name: string, check: () => Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return {
      name,
      state: 'warn',
      found: `DNS gives no answer (${String(Object(error).code)})`,
      advice: ['Try again.'],
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

/** The envelope sender is of this domain too, so an SPF pass is aligned. */
async function spfCheck(txt: Lookup, { domain, relay }: SenderDomain): Promise<Finding> {
  const records = (await txt(domain)).filter((record) => /^v=spf1( |$)/i.test(record));
  const [record] = records;
  const mechanism = relay === null ? 'mx' : `a:${relay}`;
  if (record === undefined) {
    const advice = [`${domain}. IN TXT "v=spf1 ${mechanism} ~all"`, 'or what the operator of your relay tells you.'];
    return { state: 'fail', found: 'no record', advice };
  }
  if (records.length > 1) {
    return { state: 'fail', found: `${records.length} records, so none counts`, advice: ['Join them into one.'] };
  }
  if (/ \+?all( |$)/i.test(record)) {
    return { state: 'fail', found: record, advice: ['It allows everybody: end it with ~all or -all.'] };
  }
  if (!/ [~-]all( |$)/i.test(record) && !/ redirect=/i.test(record)) {
    return { state: 'warn', found: record, advice: ['It says nothing about others: end it with ~all or -all.'] };
  }
  return { state: 'ok', found: record };
}

async function dkimCheck(txt: Lookup, { domain, keys }: SenderDomain): Promise<Finding> {
  if (keys.length === 0) {
    const advice = [`Unless your relay signs: sendlark dkim create ${domain}`];
    return { state: 'warn', found: 'no key: Sendlark does not sign this mail', advice };
  }
  for (const key of keys) {
    const published = (await txt(key.name)).map(tagsOf).find((tags) => tags.has('p'));
    const isSame = published?.get('p') === tagsOf(key.value).get('p');
    if (isSame) continue;
    const found = published === undefined ? `no record at ${key.name}` : `another key at ${key.name}`;
    return { state: 'fail', found, advice: [key.zone] };
  }
  return { state: 'ok', found: `published and the same as ours: ${keys.map(({ name }) => name).join(', ')}` };
}

/** The record of the domain itself, else that of the domain above it, whose sp= then counts. */
async function dmarcCheck(txt: Lookup, { domain }: SenderDomain): Promise<Finding> {
  const labels = domain.split('.');
  for (let at = 0; at <= labels.length - 2; at++) {
    const name = `_dmarc.${labels.slice(at).join('.')}`;
    const records = (await txt(name)).filter((record) => /^v=DMARC1\s*(;|$)/.test(record));
    const [record] = records;
    if (record === undefined) continue;
    if (records.length > 1)
      return { state: 'fail', found: `${records.length} records at ${name}`, advice: ['Keep one.'] };
    const tags = tagsOf(record);
    const policy = ((at > 0 && tags.get('sp')) || tags.get('p')) ?? '';
    if (!['none', 'quarantine', 'reject'].includes(policy.toLowerCase())) {
      return { state: 'fail', found: `${record} at ${name}`, advice: ['It needs p=none, quarantine or reject.'] };
    }
    return { state: 'ok', found: `${record} at ${name}` };
  }
  const advice = [`_dmarc.${domain}. IN TXT "v=DMARC1; p=none; rua=mailto:postmaster@${domain}"`];
  return { state: 'fail', found: 'no record: large receivers ask for one', advice };
}

/** A list of tag=value (RFC 6376 §3.2), blanks within values left out. */
function tagsOf(record: string): Map<string, string> {
  const pairs = record.split(';').map((part) => part.split('='));
  return new Map(pairs.map(([tag = '', ...value]) => [tag.trim(), value.join('=').replace(/\s/g, '')]));
}
