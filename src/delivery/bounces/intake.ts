/** Takes in mail that comes back: the listener, the reading, the ledger. */
import { type Clock, wireTime } from '../../clock.ts';
import type { Db } from '../../database/open.ts';
import { tokenSecrets } from '../tokens.ts';
import { inertText } from './inert.ts';
import { type BounceListener, type ReturnedMail, startBounceListener } from './listener.ts';
import { recordReturned } from './record.ts';
import { MOST_BYTES as READ_BYTES, readReport } from './report.ts';
import { readReturnPath } from './verp.ts';

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_CONNECTIONS = 100;
/** A relay that brings back a campaign's bounces opens twenty connections, as Postfix does by default, and writes for minutes. */
const LIMITS = { perAddress: 20, commands: 1000, patienceMs: 60_000, lifetimeMs: 5 * 60_000 };

/** Listens for returned mail at our own return paths and records what it says. Rejects when the address can't be listened on. */
export function listenForReturns(db: Db, clock: Clock, at: { host: string; port: number }): Promise<BounceListener> {
  const secrets = tokenSecrets(db.$client);
  return startBounceListener({
    ...at,
    accept: (rcpt) => readReturnPath(secrets, rcpt) !== null,
    onMail: (mail) => takeIn(db, clock, secrets, mail),
    maxBytes: MOST_BYTES,
    keepBytes: READ_BYTES,
    maxConnections: MOST_CONNECTIONS,
    limits: LIMITS,
  });
}

/** Records what one mail says; an auto-reply, a delay or a mail nobody understands changes nothing. */
export async function takeIn(db: Db, clock: Clock, secrets: readonly string[], mail: ReturnedMail): Promise<void> {
  const deliveryId = readReturnPath(secrets, mail.rcpt);
  if (deliveryId === null) return;
  const report = await readReport(mail);
  const now = clock.now();
  const record = (kind: 'bounce' | 'complaint', suppress: boolean, diagnostic: string) =>
    recordReturned(db.$client, { deliveryId, kind, suppress, diagnostic: inertText(diagnostic) }, now, wireTime(now));
  if (report.kind === 'complaint') record('complaint', true, `Complaint: ${report.feedbackType}`);
  if (report.kind !== 'status' || report.verdict === null || report.verdict.kind === 'deferred') return;
  const diagnostic = report.recipients.find((recipient) => recipient.kind === 'failed')?.diagnostic;
  record(
    'bounce',
    report.verdict.kind === 'bounce',
    diagnostic ? `${report.verdict.reason}: ${diagnostic}` : report.verdict.reason,
  );
}
