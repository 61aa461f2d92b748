/** The mail providers that report bounces, complaints and unsubscribes, except Amazon SES. The database schema lists the names of all. */
import type { MailProvider } from '../../../database/schema/index.ts';
import { MEBIBYTE } from '../../../units.ts';
import { readBrevo } from './brevo.ts';
import { readMailgun } from './mailgun.ts';
import { readPostmark } from './postmark.ts';
import type { ProviderEvent, ReceivedRequest } from './provider-event.ts';
import { readSendgrid } from './sendgrid.ts';
import { readSparkpost } from './sparkpost.ts';

interface Provider {
  /** Yields the events in a request. Throws a `Refusal` if the request is not accepted. */
  read(request: ReceivedRequest): Iterable<ProviderEvent>;
  /** The maximum size of a body in bytes; the provider never sends as much. */
  maxBytes: number;
  /** True if the provider signs its requests. If it does not, a password may be required in addition to the token in the URL. */
  isSigned: boolean;
}

/** The maximum size of a request with one event, in bytes. */
export const EVENT_BYTES = 256 * 1024;
/** The maximum size of a request with a list of events, in bytes. */
const BATCH_BYTES = 16 * MEBIBYTE;
/**
 * The maximum size of a signed list, in bytes. It is smaller because a signature covers the whole body, so it is checked without a pause.
 */
const SIGNED_BATCH_BYTES = 4 * MEBIBYTE;

/** All providers except Amazon SES, whose requests come through Amazon SNS (amazon.ts). */
export const PROVIDERS: Readonly<Record<Exclude<MailProvider, 'ses'>, Provider>> = {
  mailgun: { read: readMailgun, maxBytes: EVENT_BYTES, isSigned: true },
  postmark: { read: readPostmark, maxBytes: EVENT_BYTES, isSigned: false },
  sendgrid: { read: readSendgrid, maxBytes: SIGNED_BATCH_BYTES, isSigned: true },
  brevo: { read: readBrevo, maxBytes: BATCH_BYTES, isSigned: false },
  sparkpost: { read: readSparkpost, maxBytes: BATCH_BYTES, isSigned: false },
};
