/** Checks SPF (RFC 7208), DKIM (RFC 6376) and DMARC of sender domains, and suggests the records to publish. */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Relay } from '../../delivery/transport/smtp/relay-urls.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import type { SenderDomain } from '../../senders/domains.ts';
import { type SeenDomain, seenDomain } from './doctor-findings.ts';
import type { CheckResult, Finding } from './finding.ts';

/** The error codes with which node:dns reports that a name has no record of the requested type. */
const ABSENT = ['ENOTFOUND', 'ENODATA'];
/** The SPF mechanism for a host by the result of `isIP`: the version of the IP address, or 0 for a host name. */
const MECHANISMS = new Map([
  [0, 'a'],
  [4, 'ip4'],
  [6, 'ip6'],
]);

/** Looks up the TXT records of a name. Throws the error of node:dns if the lookup fails. */
type Lookup = (name: string) => Promise<string[]>;

/**
 * Checks DKIM, DMARC and alignment of a sender domain. `spf` is the finding about its return path. A failed lookup is a warning, because it
 * says nothing about the record.
 */
async function checkDomain(resolver: Resolver, sender: SenderDomain, spf: Finding | undefined): Promise<Finding[]> {
  const txt = (name: string) => textsAt(resolver, name);
  const [dkim, dmarc] = await Promise.all([
    runCheck(`DKIM of ${sender.domain}`, () => dkimCheck(txt, sender)),
    runCheck(`DMARC of ${sender.domain}`, () => dmarcCheck(txt, sender)),
  ]);
  const passes = { spf: spf?.state !== 'fail', dkim: dkim.state !== 'fail' };
  return [dkim, dmarc, await runCheck(`Alignment of ${sender.domain}`, () => alignmentCheck(txt, sender, passes))];
}

/** Checks the SPF record of a return path's domain. If the record is missing, suggests one that allows these SMTP relays. */
export async function checkReturnPath(resolver: Resolver, domain: string, relays: Relay[]): Promise<Finding> {
  return runCheck(`SPF of ${domain}`, () => spfCheck((name) => textsAt(resolver, name), domain, relays));
}

/** Runs a check. If a lookup fails, returns a warning. */
async function runCheck(name: string, check: () => Promise<CheckResult>): Promise<Finding> {
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

/** Returns the TXT records of a name; an empty list if it has none. */
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
    const missing = { name: domain, value: `v=spf1 ${mechanismsOf(relays)} ~all` };
    const advice = [`${domain}. IN TXT "${missing.value}"`, sentence('spf_cure')];
    return { state: 'fail', found: sentence('dns_no_record'), advice, record: missing };
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

/** Returns the SPF mechanisms that allow these SMTP relays. A relay on this machine is assumed to be the domain's mail server (MX). */
function mechanismsOf(relays: Relay[]): string {
  const mechanisms = relays.map(({ host, local }) => (local ? 'mx' : `${MECHANISMS.get(isIP(host))}:${host}`));
  return [...new Set(mechanisms.length > 0 ? mechanisms : ['mx'])].join(' ');
}

async function dkimCheck(txt: Lookup, { domain, keys }: SenderDomain): Promise<CheckResult> {
  if (keys.length === 0) {
    return { state: 'warn', found: sentence('dkim_none'), advice: [sentence('dkim_none_cure', { domain })] };
  }
  const checked = await Promise.all(keys.map(async (key) => ({ key, fault: await recordFault(txt, key) })));
  const published = checked.filter(({ fault }) => fault === null).map(({ key }) => key.name);
  // Receivers need the record of a former key only for a short time, so only the records of the other keys must exist.
  const missing = checked.filter(({ key, fault }) => key.state !== 'former' && fault !== null);
  const worst = missing.find(({ key }) => key.state === 'signing') ?? missing[0];
  if (!worst?.fault)
    return { state: 'ok', found: sentence('dkim_published', { names: published.join(', ') }), published };
  const { name, value, zone } = worst.key;
  const record = { name, value };
  return worst.key.state === 'signing'
    ? { state: 'fail', found: sentence(worst.fault, record), advice: [zone], record, published }
    : { state: 'warn', found: sentence('dkim_next', record), advice: [zone], record, published };
}

type Key = SenderDomain['keys'][number];

/** Returns the fault of the record that publishes a key; null if the record is correct. */
async function recordFault(txt: Lookup, { name, value }: Key): Promise<'dkim_missing' | 'dkim_other' | null> {
  const published = (await txt(name)).map(parseTags).find((tags) => tags.has('p'));
  if (published === undefined) return 'dkim_missing';
  return published.get('p') === parseTags(value).get('p') ? null : 'dkim_other';
}

/** The DMARC records of a domain. */
interface Policy {
  domain: string;
  records: string[];
}

/**
 * Checks the DMARC policy of the domain itself, or of the nearest parent domain with a policy. In the policy of a parent domain, sp= takes
 * precedence over p=.
 */
async function dmarcCheck(txt: Lookup, { domain }: SenderDomain): Promise<CheckResult> {
  const [policy] = await policiesOf(txt, domain);
  if (policy === undefined) {
    const record = { name: `_dmarc.${domain}`, value: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}` };
    const advice = [`${record.name}. IN TXT "${record.value}"`];
    return { state: 'fail', found: sentence('dmarc_none'), advice, record };
  }
  const { records } = policy;
  const name = `_dmarc.${policy.domain}`;
  const [record = ''] = records;
  if (records.length > 1)
    return {
      state: 'fail',
      found: sentence('dmarc_many', { count: records.length, name }),
      advice: [sentence('dmarc_many_cure')],
    };
  const tags = parseTags(record);
  const action = ((policy.domain !== domain && tags.get('sp')) || tags.get('p')) ?? '';
  if (!['none', 'quarantine', 'reject'].includes(action.toLowerCase())) {
    return { state: 'fail', found: sentence('dmarc_found', { record, name }), advice: [sentence('dmarc_policy')] };
  }
  return { state: 'ok', found: sentence('dmarc_found', { record, name }) };
}

/**
 * Checks alignment (RFC 7489, 3.1): SPF or our DKIM signature must pass for a domain related to the domain in From. `passes` says which of the
 * two checks did not fail. The highest domain with a DMARC policy is taken as the organizational domain.
 */
async function alignmentCheck(
  txt: Lookup,
  { domain, returnPath, keys }: SenderDomain,
  passes: { spf: boolean; dkim: boolean },
): Promise<CheckResult> {
  const policies = await policiesOf(txt, domain);
  const isStrict =
    parseTags(policies[0]?.records[0] ?? '')
      .get('aspf')
      ?.toLowerCase() === 's';
  const organization = policies.at(-1)?.domain ?? domain;
  const isRelated =
    returnPath === organization || returnPath.endsWith(`.${organization}`) || domain.endsWith(`.${returnPath}`);
  const ways: { name: Sentence; works: boolean }[] = [];
  if (keys.length > 0) ways.push({ name: sentence('alignment_dkim', { domain }), works: passes.dkim });
  if (returnPath === domain || (isRelated && !isStrict)) {
    ways.push({ name: sentence('alignment_spf', { domain: returnPath }), works: passes.spf });
  }
  const namesOf = ([first, second]: typeof ways): Sentence | null =>
    first && second ? sentence('alignment_both', { one: first.name, other: second.name }) : (first?.name ?? null);
  const working = namesOf(ways.filter(({ works }) => works));
  if (working !== null) return { state: 'ok', found: working };
  const names = namesOf(ways);
  if (names !== null) {
    return {
      state: 'fail',
      found: sentence('alignment_fails', { ways: names }),
      advice: [sentence('alignment_fails_cure')],
    };
  }
  return {
    state: 'fail',
    found: sentence(isStrict ? 'alignment_none_strict' : 'alignment_none', { domain: returnPath }),
    advice: [sentence('dkim_make', { domain }), sentence('alignment_none_cure', { domain: organization })],
  };
}

/** Returns the DMARC records of the domain and of its parent domains, in this order. Top-level domains are not queried. */
async function policiesOf(txt: Lookup, domain: string): Promise<Policy[]> {
  const labels = domain.split('.');
  const domains = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
  const policies = await Promise.all(
    domains.map(async (name) => {
      const records = (await txt(`_dmarc.${name}`)).filter((record) => /^v=DMARC1\s*(;|$)/.test(record));
      return { domain: name, records };
    }),
  );
  return policies.filter(({ records }) => records.length > 0);
}

/** Parses a tag=value list (RFC 6376, 3.2). White space inside values is dropped. */
function parseTags(record: string): Map<string, string> {
  const pairs = record.split(';').map((part) => part.split('='));
  return new Map(pairs.map(([tag = '', ...value]) => [tag.trim(), value.join('=').replace(/\s/g, '')]));
}

/** How long an attempt of a DNS query may take. */
const TIMEOUT_MS = 3000;

/** Returns a resolver that queries the servers configured on this machine, or `server` (ADDRESS[:PORT]). */
export function dnsResolver(server?: string): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  if (server !== undefined) resolver.setServers([server]);
  return resolver;
}

interface DomainChecks {
  /** The finding for each return path. Domains with the same return path share one. */
  spf: Finding[];
  /** The findings for each domain, without the finding for its return path. */
  perDomain: Finding[][];
  /** All findings for each domain, for storage. */
  seen: SeenDomain[];
}

/** Checks SPF, DKIM, DMARC and alignment of all domains at once. Never rejects. `now` is epoch milliseconds. */
export async function checkDomains(
  resolver: Resolver,
  domains: readonly SenderDomain[],
  relays: Relay[],
  now: number,
): Promise<DomainChecks> {
  const returnPaths = [...new Set(domains.map(({ returnPath }) => returnPath))];
  const spf = await Promise.all(returnPaths.map((domain) => checkReturnPath(resolver, domain, relays)));
  const spfOf = ({ returnPath }: SenderDomain) => spf[returnPaths.indexOf(returnPath)];
  const perDomain = await Promise.all(domains.map((domain) => checkDomain(resolver, domain, spfOf(domain))));
  const seen = domains.map((domain, at) => {
    const findings = [spfOf(domain), ...(perDomain[at] ?? [])].filter((finding) => finding !== undefined);
    return seenDomain(domain, findings, now);
  });
  return { spf, perDomain, seen };
}
