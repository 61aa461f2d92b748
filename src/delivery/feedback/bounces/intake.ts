/** Takes in mail that comes back: the listener, the reading, the ledger. */
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Db } from '../../../database/open.ts';
import { parseReturnPath } from '../../links/return-paths.ts';
import { tokenSecrets, unsignedLimits } from '../../links/tokens.ts';
import { type BounceListener, type ReturnedMail, startBounceListener } from './listener.ts';
import { parseBounce, MOST_BYTES as READ_BYTES } from './parse-bounce.ts';
import { recordBounce } from './record.ts';
import { sanitizeText } from './sanitize.ts';

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_CONNECTIONS = 100;
/** A relay that brings back a campaign's bounces opens twenty connections, as Postfix does by default, and writes for minutes. */
const LIMITS = { perAddress: 20, commands: 1000, patienceMs: 60_000, lifetimeMs: 5 * 60_000 };

/** Listens for returned mail at our own return paths and records what it says. Rejects when the address can't be listened on. */
export function startBounceIntake(db: Db, clock: Clock, at: { host: string; port: number }): Promise<BounceListener> {
  const deliveryOf = returnPathReader(db);
  return startBounceListener({
    ...at,
    accept: (rcpt) => deliveryOf(rcpt) !== null,
    onMail: (mail) => processReturnedMail(db, clock, deliveryOf, mail),
    maxBytes: MOST_BYTES,
    keepBytes: READ_BYTES,
    maxConnections: MOST_CONNECTIONS,
    limits: LIMITS,
  });
}

/** Gives the delivery that an address is the return path of, or null. */
type DeliveryOf = (rcpt: string) => number | null;

function returnPathReader({ $client }: Db): DeliveryOf {
  const secrets = tokenSecrets($client);
  const email = $client
    .prepare<[number], string>(
      'SELECT a.compared_email FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.id = ?',
    )
    .pluck();
  const known = { findEmail: (id: number) => email.get(id), unsignedUpTo: unsignedLimits($client).deliveries };
  return (rcpt) => parseReturnPath(secrets, known, rcpt);
}

/** Records what one mail says; an auto-reply, a delay or a mail nobody understands changes nothing. */
async function processReturnedMail(db: Db, clock: Clock, deliveryOf: DeliveryOf, mail: ReturnedMail): Promise<void> {
  const deliveryId = deliveryOf(mail.rcpt);
  if (deliveryId === null) return;
  const report = await parseBounce(mail);
  const now = clock.now();
  const record = (kind: 'bounce' | 'complaint', suppress: boolean, diagnostic: string) =>
    recordBounce(
      db.$client,
      { deliveryId, kind, suppress, diagnostic: sanitizeText(diagnostic) },
      now,
      isoTimestamp(now),
    );
  if (report.kind === 'complaint') record('complaint', true, `Complaint: ${report.feedbackType}`);
  if (report.kind !== 'status' || report.verdict === null || report.verdict.kind === 'deferred') return;
  const diagnostic = report.recipients.find((recipient) => recipient.kind === 'failed')?.diagnostic;
  record(
    'bounce',
    report.verdict.kind === 'bounce',
    diagnostic ? `${report.verdict.reason}: ${diagnostic}` : report.verdict.reason,
  );
}
