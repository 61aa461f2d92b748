/** Answers whole collections in constant memory: keyset pages, each one short query, sent as the reader takes them. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Db } from '../database/open.ts';
import { type ListSource, type Page, readPage } from '../database/wire.ts';

const PAGE_ROWS = 1000;
const END = Buffer.from(']}}');
const COMMA = Buffer.from(',');

export interface ListQuery {
  limit?: number;
  after_id?: number;
}

/** Sends `{"status":"success","message":{"<name>":[…]}}`, ascending by id; `limit` and `after_id` are additions (decisions §1). */
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
  reply.type('application/json; charset=utf-8');
  if (first.count < PAGE_ROWS || first.count === most) return reply.send(Buffer.concat([head, first.json, END]));
  return reply.send(Readable.from(pages(db, source, head, first, most), { objectMode: false }));
}

async function* pages(db: Db, source: ListSource, head: Buffer, first: Page, most: number): AsyncGenerator<Buffer> {
  yield head;
  yield first.json;
  let sent = first.count;
  let page = first;
  while (page.count === PAGE_ROWS && sent < most) {
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

/** Sends `{"status":"success","message":{"<name>":<json>}}` for a record that is JSON text already. */
export function sendRecord(reply: FastifyReply, name: string, json: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(`{"status":"success","message":{"${name}":${json}}}`);
}
