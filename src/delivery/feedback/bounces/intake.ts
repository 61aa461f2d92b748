/** Receives returned mail and mail to the role addresses, parses it, and records bounces and complaints in the ledger. */
import type { Database } from 'better-sqlite3';
import type { Db } from '../../../database/open.ts';
import { ROLE_MAILBOXES, type RoleMailbox } from '../../../database/schema/index.ts';
import { type Said, sentence } from '../../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../../time/clock.ts';
import { MEBIBYTE, MINUTE_MS } from '../../../units.ts';
import { parseReturnPath, parseTransactionalReturnPath } from '../../links/return-paths.ts';
import { ownReturnPathKeys, returnPathKeys } from '../../links/secrets.ts';
import { unsignedLimits } from '../../links/tokens.ts';
import { findTransactionalMail, recordReturned } from '../../transactional/returned.ts';
import { mailFinder, type Recipient } from '../find-mail.ts';
import { keepRoleMail } from './kept-mails.ts';
import { type BounceListener, type ReturnedMail, startBounceListener } from './listener.ts';
import { MAX_PARSED_BYTES, parseBounce, parseRoleMail } from './parse-bounce.ts';
import { recordBounce } from './record.ts';
import { readTestReturnPath, recordTestArrival } from './test-arrival.ts';

/** The maximum size of a received mail, in bytes. */
const MAX_BYTES = 10 * MEBIBYTE;
const MAX_CONNECTIONS = 100;
/** The limits suffice for an SMTP relay that returns a campaign's bounces: Postfix opens twenty connections by default and sends for minutes. */
const LIMITS = { perAddress: 20, commands: 1000, idleMs: 60_000, lifetimeMs: 5 * MINUTE_MS };

/**
 * Listens for mail to the return paths and to the role addresses at `domain`, and records the bounces and complaints in it. Rejects if it
 * cannot listen on the given host and port.
 */
export function startBounceIntake(
  db: Db,
  clock: Clock,
  { domain, ...at }: { host: string; port: number; domain: string },
): Promise<BounceListener> {
  const findReturned = returnPathReader(db);
  const keys = ownReturnPathKeys(db.$client);
  const findTest = (rcpt: string) => readTestReturnPath(keys, rcpt, clock.now().getTime());
  return startBounceListener({
    ...at,
    accept: (rcpt) => findRole(rcpt, domain) !== null || findReturned(rcpt) !== null || findTest(rcpt) !== null,
    onMail: async (mail) => {
      const role = findRole(mail.rcpt, domain);
      if (role !== null) return processRoleMail(db, clock, role, mail);
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

/** The mail to which a return path belongs: a delivery or a transactional mail. */
interface OriginalMail {
  id: number;
  isTransactional: boolean;
}

/** Finds the mail to which a return path belongs. Returns null if the address is not a return path of this installation. */
type FindOriginal = (rcpt: string) => OriginalMail | null;

function returnPathReader({ $client }: Db): FindOriginal {
  const keys = returnPathKeys($client);
  const ownKeys = ownReturnPathKeys($client);
  const email = $client
    .prepare<[number], string>(
      'SELECT a.normalized_email FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.id = ?',
    )
    .pluck();
  const known = { findEmail: (id: number) => email.get(id), unsignedUpTo: unsignedLimits($client).deliveries };
  const findTransactional = (id: number) => findTransactionalMail($client, id)?.normalized_email;
  return (rcpt) => {
    const delivery = parseReturnPath(keys, known, rcpt);
    if (delivery !== null) return { id: delivery, isTransactional: false };
    const mail = parseTransactionalReturnPath(ownKeys, findTransactional, rcpt);
    return mail === null ? null : { id: mail, isTransactional: true };
  };
}

/** Records the outcome that a returned mail reports. An automatic reply, a delay or a mail of unknown form changes nothing. */
async function processReturnedMail(
  db: Db,
  clock: Clock,
  findReturned: FindOriginal,
  mail: ReturnedMail,
): Promise<void> {
  const returned = findReturned(mail.rcpt);
  if (returned === null) return;
  const report = await parseBounce(mail);
  const now = clock.now();
  const record = (kind: 'bounce' | 'complaint', suppress: boolean, diagnostic: Said) => {
    const { id, isTransactional } = returned;
    if (isTransactional) recordReturned(db.$client, { id, kind, suppress, diagnostic }, now);
    else recordBounce(db.$client, { deliveryId: id, kind, suppress, diagnostic }, now, isoTimestamp(now));
  };
  if (report.kind === 'complaint') record('complaint', true, sentence('complaint', { kind: report.feedbackType }));
  if (report.kind !== 'status' || report.verdict === null || report.verdict.kind === 'deferred') return;
  const diagnostic = report.recipients.find((recipient) => recipient.kind === 'failed')?.diagnostic;
  record(
    'bounce',
    report.verdict.kind === 'bounce',
    diagnostic ? sentence('returned', { cause: report.verdict.reason, reply: diagnostic }) : report.verdict.reason,
  );
}

/**
 * Returns the role mailbox of a recipient address; null if the address has none. A bare "postmaster" without a domain is accepted, as RFC
 * 5321 §4.5.1 requires.
 */
function findRole(rcpt: string, domain: string): RoleMailbox | null {
  const recipient = rcpt.toLowerCase();
  return (
    ROLE_MAILBOXES.find((name) => recipient === `${name}@${domain}` || (recipient === name && name === 'postmaster')) ??
    null
  );
}

/**
 * Processes a mail to a role address: records a complaint about one of our mails, and keeps other mail for an operator to read. The address
 * that a report names proves nothing, because anyone can write here, so the recipient of the enclosed mail is used instead. Automatic
 * replies, and mail from the null sender that is not a complaint, change nothing.
 */
async function processRoleMail(db: Db, clock: Clock, role: RoleMailbox, mail: ReturnedMail): Promise<void> {
  const client = db.$client;
  const parsed = await parseRoleMail(mail, role === 'fbl');
  if (parsed === null) return;
  const { report } = parsed;
  if (report.kind === 'complaint') {
    const { originalMessageId: messageId, originalSender: returnPath, unsubscribeToken } = report;
    const reportedMail = mailFinder(client)({ messageId, returnPath, unsubscribeToken });
    if (reportedMail !== null) return recordComplaint(client, reportedMail.recipient, report.feedbackType, clock.now());
  } else if (report.kind === 'auto-reply' || mail.from === '') return;
  keepRoleMail(client, role, parsed, clock);
}

function recordComplaint(
  client: Database,
  { delivery, transactionalId }: Recipient,
  feedbackType: string,
  now: Date,
): void {
  const complaint = {
    kind: 'complaint',
    suppress: true,
    diagnostic: sentence('complaint', { kind: feedbackType }),
  } as const;
  if (transactionalId !== null) recordReturned(client, { id: transactionalId, ...complaint }, now);
  if (delivery !== null) recordBounce(client, { deliveryId: delivery.id, ...complaint }, now, isoTimestamp(now));
}
