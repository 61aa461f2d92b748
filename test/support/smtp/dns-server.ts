/** A DNS server of TXT records on loopback (RFC 1035 §4). */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Test } from 'tap';

const NXDOMAIN = 3;
const SERVFAIL = 2;

/** Answers from `records` (name → texts); a name it lacks does not exist, one without texts fails. Gives its address. */
export async function startDns(t: Test, records: Record<string, string[]>): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, records), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function answerTo(query: Buffer, records: Record<string, string[]>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const texts = records[labels.join('.').toLowerCase()];
  const code = texts === undefined ? NXDOMAIN : texts.length === 0 ? SERVFAIL : 0;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(texts?.length ?? 0, 6);
  return Buffer.concat([head, question, ...(texts ?? []).map(txtRecord)]);
}

function txtRecord(text: string): Buffer {
  const strings = (text.match(/.{1,255}/g) ?? ['']).map((part) =>
    Buffer.concat([Buffer.from([part.length]), Buffer.from(part, 'latin1')]),
  );
  const data = Buffer.concat(strings);
  // A pointer to the question's name, TXT, IN, a second to live.
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 1, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
