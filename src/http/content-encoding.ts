/** Content codings: which one a client takes, and streams in it. */
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

/** An offer that is not refused with q=0. */
const TAKEN = { br: /^br\s*(;\s*q=(?!0(\.0*)?$).*)?$/, gzip: /^gzip\s*(;\s*q=(?!0(\.0*)?$).*)?$/ };

/** The smallest form a client takes (RFC 9110 12.5.3); one it gives q=0 is refused. */
export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  const offers = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.trim());
  const takes = (coding: 'br' | 'gzip') => offers.some((offer) => TAKEN[coding].test(offer));
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity';
}

/**
 * The stream in this coding, at the levels that cost least: lists are compressed as they are read. Reads no faster than it is read
 * itself, and ends with its source whichever of the two fails or is dropped.
 */
export function encodeStream(source: Readable, coding: ContentEncoding): Readable {
  if (coding === 'identity') return source;
  const coder =
    coding === 'br'
      ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
      : createGzip({ level: constants.Z_BEST_SPEED });
  // A failure destroys the coder, which is what whoever reads it learns.
  return pipeline(source, coder, () => undefined);
}
