/** The mail providers that report bounces, complaints and unsubscribes. The database schema lists their names. */
import type { MailProvider } from '../../../database/schema/index.ts';
import { readBrevo } from './brevo.ts';
import { readMailgun } from './mailgun.ts';
import { readPostmark } from './postmark.ts';
import type { ProviderEvent, ReceivedRequest } from './provider-event.ts';
import { readSendgrid } from './sendgrid.ts';
import { readSparkpost } from './sparkpost.ts';

interface Provider {
  /** Yields the events in a request. Throws a `Refusal`. */
  read(request: ReceivedRequest): Iterable<ProviderEvent>;
  /** The maximum size of a body in bytes, more than the provider sends. */
  maxBytes: number;
  /** False if the provider signs nothing; a password may then be required in addition to the token. */
  isSigned: boolean;
}

/** The maximum size of a request with one event. */
export const EVENT_BYTES = 256 * 1024;
/** The maximum size of a batch. Events are read one at a time, but a signature covers the whole body, so it is checked without a pause. */
const BATCH_BYTES = 16 * 1024 * 1024;
const SIGNED_BATCH_BYTES = 4 * 1024 * 1024;

/** All providers except Amazon SES, whose requests come through Amazon SNS (amazon.ts). */
export const PROVIDERS: Readonly<Record<Exclude<MailProvider, 'ses'>, Provider>> = {
  mailgun: { read: readMailgun, maxBytes: EVENT_BYTES, isSigned: true },
  postmark: { read: readPostmark, maxBytes: EVENT_BYTES, isSigned: false },
  sendgrid: { read: readSendgrid, maxBytes: SIGNED_BATCH_BYTES, isSigned: true },
  brevo: { read: readBrevo, maxBytes: BATCH_BYTES, isSigned: false },
  sparkpost: { read: readSparkpost, maxBytes: BATCH_BYTES, isSigned: false },
};
