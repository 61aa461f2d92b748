/** Processes returned mail: receives it, parses it, and records bounces and complaints on the ledger. */
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Db } from '../../../database/open.ts';
import { sentence } from '../../../sentences.ts';
import { parseReturnPath, parseTransactionalReturnPath } from '../../links/return-paths.ts';
import { tokenSecrets, unsignedLimits } from '../../links/tokens.ts';
import { findTransactionalMail, recordReturned } from '../../transactional/returned.ts';
import { type BounceListener, type ReturnedMail, startBounceListener } from './listener.ts';
import { MAX_PARSED_BYTES, parseBounce } from './parse-bounce.ts';
import { recordBounce } from './record.ts';
import { sanitizeText } from './sanitize.ts';
import { readTestReturnPath, recordTestArrival } from './test-arrival.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_CONNECTIONS = 100;
/** Enough for a relay that returns a campaign's bounces: Postfix opens twenty connections by default and sends for minutes. */
const LIMITS = { perAddress: 20, commands: 1000, idleMs: 60_000, lifetimeMs: 5 * 60_000 };

/** Listens for mail to our return paths and records what it reports. Rejects if it cannot listen on the address. */
export function startBounceIntake(db: Db, clock: Clock, at: { host: string; port: number }): Promise<BounceListener> {
  const findReturned = returnPathReader(db);
  const secrets = tokenSecrets(db.$client);
  const findTest = (rcpt: string) => readTestReturnPath(secrets, rcpt, clock.now().getTime());
  return startBounceListener({
    ...at,
    accept: (rcpt) => findReturned(rcpt) !== null || findTest(rcpt) !== null,
    onMail: async (mail) => {
      const test = findTest(mail.rcpt);
      if (test === null) await processReturnedMail(db, clock, findReturned, mail);
      else recordTestArrival(db.$client, test);
    },
    maxBytes: MAX_BYTES,
    keepBytes: MAX_PARSED_BYTES,
    maxConnections: MAX_CONNECTIONS,
    limits: LIMITS,
  });
}

/** A delivery, or a transactional mail. */
interface Returned {
  id: number;
  isTransactional: boolean;
}

/** Finds what an address is the return path of; null if it is none of ours. */
type FindReturned = (rcpt: string) => Returned | null;

function returnPathReader({ $client }: Db): FindReturned {
  const secrets = tokenSecrets($client);
  const email = $client
    .prepare<[number], string>(
      'SELECT a.normalized_email FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.id = ?',
    )
    .pluck();
  const known = { findEmail: (id: number) => email.get(id), unsignedUpTo: unsignedLimits($client).deliveries };
  const findTransactional = (id: number) => findTransactionalMail($client, id)?.normalized_email;
  return (rcpt) => {
    const delivery = parseReturnPath(secrets, known, rcpt);
    if (delivery !== null) return { id: delivery, isTransactional: false };
    const mail = parseTransactionalReturnPath(secrets, findTransactional, rcpt);
    return mail === null ? null : { id: mail, isTransactional: true };
  };
}

/** Records what one mail reports. An auto-reply, a delay or a mail of unknown form changes nothing. */
async function processReturnedMail(
  db: Db,
  clock: Clock,
  findReturned: FindReturned,
  mail: ReturnedMail,
): Promise<void> {
  const returned = findReturned(mail.rcpt);
  if (returned === null) return;
  const report = await parseBounce(mail);
  const now = clock.now();
  const record = (kind: 'bounce' | 'complaint', suppress: boolean, given: string) => {
    const { id, isTransactional } = returned;
    const diagnostic = sanitizeText(given);
    if (isTransactional) recordReturned(db.$client, { id, kind, suppress, diagnostic }, now);
    else recordBounce(db.$client, { deliveryId: id, kind, suppress, diagnostic }, now, isoTimestamp(now));
  };
  if (report.kind === 'complaint') record('complaint', true, sentence('complaint', { kind: report.feedbackType }));
  if (report.kind !== 'status' || report.verdict === null || report.verdict.kind === 'deferred') return;
  const diagnostic = report.recipients.find((recipient) => recipient.kind === 'failed')?.diagnostic;
  record(
    'bounce',
    report.verdict.kind === 'bounce',
    diagnostic ? `${report.verdict.reason}: ${diagnostic}` : report.verdict.reason,
  );
}
