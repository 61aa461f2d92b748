/** The mail providers whose reports of bounces, complaints and unsubscribes are read. The database schema has their names. */
import type { MailProvider } from '../../../database/schema/index.ts';
import { readBrevo } from './brevo.ts';
import { readMailgun } from './mailgun.ts';
import { readPostmark } from './postmark.ts';
import type { ProviderEvent, ReceivedRequest } from './provider-event.ts';
import { readSendgrid } from './sendgrid.ts';
import { readSparkpost } from './sparkpost.ts';

interface Provider {
  /** The events of a request. Throws a `Refusal`. */
  read(request: ReceivedRequest): Iterable<ProviderEvent>;
  /** The largest body that is read, more than the provider sends. */
  maxBytes: number;
  /** False if it signs nothing; a password may be asked for besides the token. */
  isSigned: boolean;
}

/** The largest request with one event. */
export const EVENT_BYTES = 256 * 1024;
/** The largest batch, whose events are read one at a time; a signature is checked over the whole body, without a pause. */
const BATCH_BYTES = 16 * 1024 * 1024;
const SIGNED_BATCH_BYTES = 4 * 1024 * 1024;

/** All but Amazon SES, whose requests come through Amazon SNS (amazon.ts). */
export const PROVIDERS: Readonly<Record<Exclude<MailProvider, 'ses'>, Provider>> = {
  mailgun: { read: readMailgun, maxBytes: EVENT_BYTES, isSigned: true },
  postmark: { read: readPostmark, maxBytes: EVENT_BYTES, isSigned: false },
  sendgrid: { read: readSendgrid, maxBytes: SIGNED_BATCH_BYTES, isSigned: true },
  brevo: { read: readBrevo, maxBytes: BATCH_BYTES, isSigned: false },
  sparkpost: { read: readSparkpost, maxBytes: BATCH_BYTES, isSigned: false },
};
