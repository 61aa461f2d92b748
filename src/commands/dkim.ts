/** `sendlark dkim`: manages the keys that sign the mail of a sender domain. */
import { asciiDomain } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { inTransaction } from '../database/transaction.ts';
import { createDkimKey, dnsRecord } from '../delivery/mime/dkim.ts';
import { type DkimKey, deleteDkimKey, insertDkimKey, listDkimKeys } from '../senders/dkim-keys.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, choose, requireWords, UsageError } from './command.ts';
import { withDatabase } from './database.ts';

const DEFAULT_SELECTOR = 'sendlark';

export const dkim: Command = {
  forms: ['dkim create DOMAIN [--selector S] [--type rsa|ed25519]', 'dkim list', 'dkim remove DOMAIN [--selector S]'],
  about: 'Make, list or remove the keys that sign mail.',
  help: `Mail from DOMAIN is signed from the moment the key is made. create prints the DNS record that publishes the key: add the
record at once, then check it with: sendlark doctor
To rotate, create a key with another --selector (the newest key signs), wait a week, then remove the old key. All receivers
verify rsa; ed25519 is shorter and faster, but not all receivers know it yet.`,
  options: { selector: { type: 'string' }, type: { type: 'string' } },
  run: (call) => choose(call, { create, list, remove }),
};

async function create(call: Call): Promise<void> {
  const domain = requireDomain(call);
  const selector = requireSelector(call);
  const type = call.option('type') ?? 'rsa';
  if (type !== 'rsa' && type !== 'ed25519') throw new UsageError('--type must be rsa or ed25519');
  const privateKey = createDkimKey(type);
  await withDatabase((db) =>
    inTransaction(db, () => {
      if (findKey(db, domain, selector) !== undefined) {
        throw new Error(`${domain} has a key under ${selector} already: give another --selector, or remove it first`);
      }
      insertDkimKey(db, { domain, selector, privateKey, awaitsRecord: false }, systemClock.now());
    }),
  );
  const record = dnsRecord(domain, selector, privateKey);
  call.answer({ domain, selector, type, record }, [
    `Mail from ${domain} is signed from now on. Publish this TXT record:`,
    `  Name:  ${record.name}`,
    `  Value: ${record.value}`,
    'or, in a zone file:',
    `  ${record.zone}`,
  ]);
}

async function list(call: Call): Promise<void> {
  requireWords(call);
  const rows = await withDatabase((db) => listDkimKeys(db));
  const keys = rows.map(({ domain, selector, private_key, created_at }) => ({
    domain,
    selector,
    created_at,
    record: dnsRecord(domain, selector, private_key),
  }));
  call.answer(
    keys,
    keys.map(
      ({ domain, selector, created_at }) => `${domain}  ${selector}  made ${created_at.slice(0, 'YYYY-MM-DD'.length)}`,
    ),
    'There are no keys, so no mail is signed; to make one: sendlark dkim create DOMAIN',
  );
}

async function remove(call: Call): Promise<void> {
  const domain = requireDomain(call);
  const selector = requireSelector(call);
  const next = await withDatabase((db) =>
    inTransaction(db, () => {
      const key = findKey(db, domain, selector);
      if (key === undefined) throw new Error(`${domain} has no key under ${selector}; see: sendlark dkim list`);
      return deleteDkimKey(db, key);
    }),
  );
  const lines = [`Removed: ${selector}._domainkey.${domain}. Keep its DNS record for a week.`];
  if (next !== undefined)
    lines.push(`The key under ${next.selector} signs from now on. Publish its record: sendlark dkim list --json`);
  call.answer({ domain, selector }, lines);
}

function findKey(db: Db, domain: string, selector: string): DkimKey | undefined {
  return listDkimKeys(db, domain).find((key) => key.selector === selector);
}

/** Returns the domain in ASCII form. Throws UsageError if the word is not a domain. */
function requireDomain(call: Call): string {
  const [name = ''] = requireWords(call, 'DOMAIN');
  const domain = asciiDomain(name);
  if (domain === null) throw new UsageError(`${name} is no domain such as example.com`);
  return domain;
}

function requireSelector(call: Call): string {
  const selector = (call.option('selector') ?? DEFAULT_SELECTOR).toLowerCase();
  if (!/^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(selector)) {
    throw new UsageError('--selector must be letters, digits and inner hyphens, at most 63');
  }
  return selector;
}
