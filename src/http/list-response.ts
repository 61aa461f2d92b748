/**
 * Sends large responses: lists, messages in parts, records and CSV files. Lists are sent in constant memory, compressed if the client
 * accepts it: rows are read in pages, one short query each, as fast as the client reads.
 */
import { pipeline, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Db } from '../database/open.ts';
import {
  type ListPart,
  type ListSource,
  PAGE_ROWS,
  type Page,
  pageReader,
  readNewest,
} from '../database/record-json.ts';

/** Shorter lists are not compressed, because that would cost more time than the saved bytes. */
const MIN_ENCODED_BYTES = 16_384;
const END = Buffer.from(']}}\n');
const COMMA = Buffer.from(',');

/** The text before and the text after the message of a successful response that is sent in parts. */
const ENVELOPE = { head: '{"status":"success","message":', end: '}\n' } as const;

/**
 * Sends `{"status":"success","message":{"<name>":[…]}}` in ascending order of id, compressed if the client accepts it. Each page is a
 * separate read transaction, so a slow client keeps no transaction open. With `order` newest it sends one page in descending order.
 */
export function sendList(reply: FastifyReply, db: Db, name: string, source: ListSource, query: ListPart): FastifyReply {
  if (query.order === 'newest') {
    const json = readNewest(db, source, query);
    return sendRecord(reply, name, `[${json}]`);
  }
  const maxRows = query.limit ?? Number.POSITIVE_INFINITY;
  const head = Buffer.from(`${ENVELOPE.head}{"${name}":[`);
  const readPage = pageReader(db, source);
  const first = readPage(query.after_id ?? 0, Math.min(PAGE_ROWS, maxRows));
  const isWhole = !first.mayHaveMore || first.count === maxRows;
  const coding = chooseEncoding(reply.request.headers['accept-encoding']);
  reply.headers({ 'content-type': 'application/json; charset=utf-8', vary: 'Accept-Encoding' });
  if (isWhole && (coding === 'identity' || first.json.length < MIN_ENCODED_BYTES)) {
    return reply.send(Buffer.concat([head, first.json, END]));
  }
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.send(
    encodeStream(
      Readable.from(listParts(readPage, head, first, maxRows), { objectMode: false, highWaterMark: 1 }),
      coding,
    ),
  );
}

/** Yields the list in parts: its head, its pages, and the end of the response. */
async function* listParts(
  readPage: ReturnType<typeof pageReader>,
  head: Buffer,
  first: Page,
  maxRows: number,
): AsyncGenerator<Buffer> {
  yield head;
  yield first.json;
  let sent = first.count;
  let page = first;
  while (page.mayHaveMore && sent < maxRows) {
    await setImmediate();
    page = readPage(page.last, Math.min(PAGE_ROWS, maxRows - sent));
    // The first pages of a search may be empty.
    if (page.count === 0) continue;
    if (sent > 0) yield COMMA;
    yield page.json;
    sent += page.count;
  }
  yield END;
}

/** Sends a message that is produced as JSON text in parts, as fast as the client reads. */
export function sendMessage(reply: FastifyReply, parts: AsyncIterable<string>): FastifyReply {
  async function* answer(): AsyncGenerator<string> {
    yield ENVELOPE.head;
    yield* parts;
    yield ENVELOPE.end;
  }
  reply.type('application/json; charset=utf-8');
  return reply.send(Readable.from(answer(), { objectMode: false, highWaterMark: 1 }));
}

/**
 * Sends `{"status":"success","message":{"<name>":<json>}}` for a record that is already JSON text, with the properties of `more` next to
 * the record.
 */
export function sendRecord(reply: FastifyReply, name: string, json: string, more: object = {}): FastifyReply {
  const others = Object.entries(more).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const message = `{"${name}":${json}${others.join('')}}`;
  return reply.type('application/json; charset=utf-8').send(`${ENVELOPE.head}${message}}`);
}

/** Sends a CSV file to be saved under this name. */
export function sendCsv(reply: FastifyReply, csv: Readable, fileName: string): FastifyReply {
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${fileName}"`);
  return reply.send(csv);
}

/** Sends a CSV file of any size, compressed if the client accepts it. */
export function sendLongCsv(reply: FastifyReply, csv: Readable, fileName: string): FastifyReply {
  const coding = chooseEncoding(reply.request.headers['accept-encoding']);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  reply.header('vary', 'Accept-Encoding');
  return sendCsv(reply, encodeStream(csv, coding), fileName);
}

type ContentEncoding = 'br' | 'gzip' | 'identity';

/** Patterns for a coding in Accept-Encoding that is not refused with q=0. */
const ACCEPTED = { br: /^br\s*(;\s*q=(?!0(\.0*)?$).*)?$/, gzip: /^gzip\s*(;\s*q=(?!0(\.0*)?$).*)?$/ };

/** Returns the most compact coding that the Accept-Encoding header allows (RFC 9110, 12.5.3); q=0 refuses a coding. */
export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  const offers = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.trim());
  const takes = (coding: 'br' | 'gzip') => offers.some((offer) => ACCEPTED[coding].test(offer));
  if (takes('br')) return 'br';
  return takes('gzip') ? 'gzip' : 'identity';
}

/**
 * Compresses a stream in this coding, at fast levels, because lists are compressed while they are sent. Reads the source no faster than the
 * result is read. If one of the two streams fails or is closed, the other is closed too.
 */
export function encodeStream(source: Readable, coding: ContentEncoding): Readable {
  if (coding === 'identity') return source;
  const coder =
    coding === 'br'
      ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
      : createGzip({ level: constants.Z_BEST_SPEED });
  // A failure destroys the coder with the same error, so its reader gets the error.
  return pipeline(source, coder, () => undefined);
}
