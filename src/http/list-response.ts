/** Answers whole collections in constant memory: keyset pages, each one short query, sent as the reader takes them. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Db } from '../database/open.ts';
import { type ListSource, type Page, readPage } from '../database/record-json.ts';
import { chooseEncoding, encodeStream } from './content-encoding.ts';

const PAGE_ROWS = 1000;
/** Below this, compressing costs both sides more than the bytes it saves. */
const LEAST_ENCODED_BYTES = 16_384;
const END = Buffer.from(']}}\n');
const COMMA = Buffer.from(',');

export interface ListQuery {
  limit?: number;
  after_id?: number;
}

/**
 * Sends `{"status":"success","message":{"<name>":[…]}}`, ascending by id; `limit` and `after_id` are additions (decisions §1).
 * Compressed where the client asks. No read transaction outlives a page, so a slow reader holds up nobody.
 */
export function sendList(
  reply: FastifyReply,
  db: Db,
  name: string,
  source: ListSource,
  query: ListQuery = {},
): FastifyReply {
  const most = query.limit ?? Number.POSITIVE_INFINITY;
  const head = Buffer.from(`{"status":"success","message":{"${name}":[`);
  const first = readPage(db, source, query.after_id ?? 0, Math.min(PAGE_ROWS, most));
  const isWhole = !first.mayHaveMore || first.count === most;
  const coding = chooseEncoding(reply.request.headers['accept-encoding']);
  reply.headers({ 'content-type': 'application/json; charset=utf-8', vary: 'Accept-Encoding' });
  if (isWhole && (coding === 'identity' || first.json.length < LEAST_ENCODED_BYTES)) {
    return reply.send(Buffer.concat([head, first.json, END]));
  }
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.send(
    encodeStream(Readable.from(pages(db, source, head, first, most), { objectMode: false, highWaterMark: 1 }), coding),
  );
}

async function* pages(db: Db, source: ListSource, head: Buffer, first: Page, most: number): AsyncGenerator<Buffer> {
  yield head;
  yield first.json;
  let sent = first.count;
  let page = first;
  while (page.mayHaveMore && sent < most) {
    await setImmediate();
    page = readPage(db, source, page.last, Math.min(PAGE_ROWS, most - sent));
    sent += page.count;
    if (page.count > 0) {
      yield COMMA;
      yield page.json;
    }
  }
  yield END;
}

/** Sends `{"status":"success","message":{"<name>":<json>}}` for a record that is JSON text already, and `more` beside it. */
export function sendRecord(reply: FastifyReply, name: string, json: string, more: object = {}): FastifyReply {
  const rest = JSON.stringify(more).slice(1);
  const message = `{"${name}":${json}${rest === '}' ? '' : ','}${rest}`;
  return reply.type('application/json; charset=utf-8').send(`{"status":"success","message":${message}}`);
}
