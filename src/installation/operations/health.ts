/** Whether the installation is well (additions): its facts, and what the doctor finds without leaving the machine. */

import { resolve } from 'node:path';
import Type, { type Static } from 'typebox';
import { diskUse, lastBackupAt } from '../../backups/files.ts';
import { publicAddress } from '../../delivery/links/public-address.ts';
import { COURIERS, courierInUse, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { relayName } from '../../delivery/transport/smtp/relay-urls.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence, sentenceCode } from '../../errors/sentences.ts';
import type { Finding } from '../../health-checks/finding.ts';
import { filesCheck, localChecks } from '../../health-checks/local.ts';
import { findPublicAddress, publicAddressCheck, recordPublicAddress } from '../../health-checks/public-address.ts';
import {
  findReturnedMail,
  recordReturnedMail,
  returnedMailCheck,
  takesReturnedMail,
} from '../../health-checks/returned-mail.ts';
import { nodeChecks, serviceChecks, webhooksCheck } from '../../health-checks/service.ts';
import { type DnsSeen, dnsSeen } from '../../health-checks/ways-out.ts';
import { choice, integer, isoTimestampSchema, nullable, said } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { VERSION } from '../../version.ts';

const FindingRecord = Type.Object({
  name: Type.String({ description: 'What was looked at.' }),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: mail leaves, but something is weak; fail: mail or the service is in danger.',
  },
  found: said('What was found.'),
  code: nullable(Type.String({ description: 'What was found, for programs.' })),
  advice: Type.Array(said(), { description: 'What to do, in lines.' }),
});
const Health = Type.Object(
  {
    version: Type.String(),
    node: Type.String({ description: 'The release of Node it runs on.' }),
    now: isoTimestampSchema('The clock of the machine, UTC.'),
    courier: choice(...COURIERS),
    relays: Type.Array(Type.String(), { description: 'Host and port of each relay, in order of preference.' }),
    database_bytes: integer({ description: 'Size of the database with its write-ahead log.' }),
    free_bytes: integer(),
    last_backup_at: nullable(Type.String()),
    public_url: Type.String({ description: 'The public address, where links in mails lead; empty: there is none.' }),
    bounce_domain: Type.String({
      description: 'The domain returned mail goes to; empty: to the address of its sender.',
    }),
    bounce_listen: nullable(Type.String(), 'Where returned mail is taken in; null: nowhere.'),
    address_seen_at: nullable(isoTimestampSchema(), 'When that address was last looked at, UTC; null: it was not.'),
    returns_seen_at: nullable(
      isoTimestampSchema(),
      'When a test mail was last sent to see whether returned mail arrives, UTC; null: none was.',
    ),
    findings: Type.Array(FindingRecord, { description: 'What was checked, the worst first.' }),
  },
  { description: 'The state of the installation.' },
);

const ORDER = ['fail', 'warn', 'ok'];

export type Health = Static<typeof Health>;

export const readHealth = operation({
  name: 'Read whether the installation is well, and what to do where it is not (addition)',
  description:
    'Nothing outside the machine is asked: what is said of DNS, public address and returned mail is what was last seen of them.',
  role: 'owner',
  input: Type.Object({}),
  output: Type.Object({ health: Health }),
  async run({ db, config, clock, accountId }): Promise<{ health: Health }> {
    const client = db.$client;
    const { url } = publicAddress(client, config);
    const address = findPublicAddress(client, url);
    const returns = findReturnedMail(client, config);
    const now = clock.now();
    const { database, free } = await diskUse(resolve(config.DATABASE_PATH));
    const findings = [
      ...localChecks(client, config, now.getTime()),
      ...serviceChecks(client, config, now.getTime()),
      ...nodeChecks(client, config, now.getTime()),
      ...domainsCheck(dnsSeen(db, config, accountId)),
      ...webhooksCheck(db, accountId),
      ...(address === null ? [] : [address.finding]),
      ...(returns === null ? [] : [returns.finding]),
      filesCheck(config),
    ];
    const health = {
      version: VERSION,
      node: process.versions.node,
      now: isoTimestamp(now),
      courier: courierInUse(client, config),
      relays: relaysInUse(client, config).map(relayName),
      database_bytes: database,
      free_bytes: free,
      last_backup_at: lastBackupAt(client),
      public_url: url,
      bounce_domain: config.BOUNCE_DOMAIN,
      bounce_listen: config.BOUNCE_LISTEN && `${config.BOUNCE_LISTEN.host}:${config.BOUNCE_LISTEN.port}`,
      address_seen_at: address === null ? null : isoTimestamp(new Date(address.at)),
      returns_seen_at: returns === null ? null : isoTimestamp(new Date(returns.at)),
      findings: findings
        .map((finding) => ({ advice: [], ...finding, code: sentenceCode(finding.found) }))
        .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state)),
    };
    return { health };
  },
});

export const lookAtPublicAddress = operation({
  name: 'Look whether the public address leads here, and with what certificate (addition)',
  description: 'Ends within ten seconds; GET /public-address and GET /health then have what was found.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run: shared(async ({ db, config, clock, tokens }) => {
    const { url } = publicAddress(db.$client, config);
    const finding = await publicAddressCheck(url, tokens, clock.now().getTime());
    recordPublicAddress(db.$client, { url, at: clock.now().getTime(), finding });
  }),
});

export const testReturnedMail = operation({
  name: 'Send a test mail to see whether returned mail arrives (addition)',
  description:
    'The service sends it to itself, by the MX record of BOUNCE_DOMAIN and port 25; it counts nowhere. Ends within half a minute; GET /health then has what was found. 409 where returned mail is not taken in here.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run: shared(async ({ db, config, clock, resolver }) => {
    if (!takesReturnedMail(config)) throw conflict(sentence('returns_not_here'));
    const at = clock.now().getTime();
    const finding = await returnedMailCheck(db.$client, config, { resolver: resolver(), now: at });
    recordReturnedMail(db.$client, { domain: config.BOUNCE_DOMAIN, at, finding });
  }),
});

/** What is done once for all who ask the same service for it meanwhile. */
function shared(work: (context: Context) => Promise<void>): (context: Context) => Promise<void> {
  const running = new WeakMap<Context['db'], Promise<void>>();
  return (context) => {
    const { db } = context;
    const one = running.get(db) ?? work(context).finally(() => running.delete(db));
    running.set(db, one);
    return one;
  };
}

/** What was seen of the DNS of an account's senders; nothing where it was not asked about all of them. */
function domainsCheck({ state, domain, checks }: DnsSeen): Finding[] {
  const name = 'DNS';
  if (state === 'none' || state === 'unknown') return [];
  if (state === 'passed') return [{ name, state: 'ok', found: sentence('domains_passed') }];
  const values = { domain: domain ?? '', checks: checks.join(', ') };
  const advice = [sentence('domains_cure')];
  return state === 'weak'
    ? [{ name, state: 'warn', found: sentence('domains_weak', values), advice }]
    : [{ name, state: 'fail', found: sentence('domains_failed', values), advice }];
}
