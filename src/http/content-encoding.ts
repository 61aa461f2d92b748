/** Chooses the content coding of an answer and compresses streams. */
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

/** Match a coding in Accept-Encoding that is not refused with q=0. */
const ACCEPTED = { br: /^br\s*(;\s*q=(?!0(\.0*)?$).*)?$/, gzip: /^gzip\s*(;\s*q=(?!0(\.0*)?$).*)?$/ };

/** The most compact coding that the Accept-Encoding header allows (RFC 9110, 12.5.3); q=0 refuses a coding. */
export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  const offers = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.trim());
  const takes = (coding: 'br' | 'gzip') => offers.some((offer) => ACCEPTED[coding].test(offer));
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity';
}

/**
 * Compresses a stream in this coding, at the fastest levels, because lists are compressed while they are sent. Reads the source no
 * faster than the result is read. When either of the two fails or is closed, so is the other.
 */
export function encodeStream(source: Readable, coding: ContentEncoding): Readable {
  if (coding === 'identity') return source;
  const coder =
    coding === 'br'
      ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
      : createGzip({ level: constants.Z_BEST_SPEED });
  // A failure destroys the coder with the same error, so its reader learns of it.
  return pipeline(source, coder, () => undefined);
}
