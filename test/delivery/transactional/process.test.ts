/** Transactional mail of the built service as a process, with a real SMTP server. Run `npm run build` before. */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../../src/database/open.ts';
import { Service, startSink } from '../../support/service.ts';

const SETTINGS = { SENDER_VERIFICATION: 'optional', SHUTDOWN_SECONDS: '2' };
const SENDER = {
  from_name: 'Lark',
  from_email: 'lark@example.com',
  reply_to_email: 'lark@example.com',
  country_id: '1',
  company_address: '1 Harbour St',
  nickname: 'l',
};

const messageId = (raw: Buffer) => /^Message-ID: (\S+)/im.exec(String(raw))?.[1];

t.test(
  'what was answered survives kill -9, ends in one state each, and is repeated with the same Message-ID',
  async (t) => {
    const sink = await startSink(t);
    const service = new Service(t, { ...SETTINGS, SMTP_URL: sink.url });
    await service.start();
    await service.post('/sender/save', SENDER);
    // The relay takes the texts and does not answer, so that the kill comes between the hand-off and its result.
    sink.allow(sink.mails.length);
    const utrs: string[] = [];
    const send = async (at: number) => {
      const response = await fetch(`${service.origin}/api/transactional/send`, {
        method: 'POST',
        headers: { ...service.keys, 'content-type': 'application/json', 'idempotency-key': `mail ${at}` },
        body: JSON.stringify({
          sender_id: 1,
          email: `ann${at}@example.org`,
          subject: 'Receipt',
          text: 'Thank you',
          attachments: [{ name: 'a.txt', content: Buffer.alloc(100_000, 'a').toString('base64') }],
        }),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`mail ${at}: ${response.status} ${text}`);
      const { message }: { message: { utr: string } } = JSON.parse(text);
      return message.utr;
    };
    for (let at = 0; at < 20; at++) utrs.push(await send(at));
    while (sink.mails.length < 8) await pause(5);
    const before = new Map(sink.mails.map(({ to, raw }) => [to, messageId(raw)]));
    await service.end('SIGKILL');
    sink.allow(Number.POSITIVE_INFINITY);
    await service.start();
    t.equal(await send(3), utrs[3], 'a request that is repeated after the kill sends nothing');
    const db = connect(join(service.folder, 'test.db'));
    t.teardown(() => db.$client.close());
    const open = db.$client.prepare('SELECT count(*) FROM transactional_mails WHERE state <> 2').pluck();
    while (open.get() !== 0) await pause(10);
    t.equal(db.$client.prepare('SELECT count(*) FROM transactional_mails').pluck().get(), 20);
    t.equal(db.$client.prepare('SELECT count(*) FROM transactional_pieces').pluck().get(), 0);
    for (const [at] of utrs.entries()) {
      const mails = sink.mails.filter(({ to }) => to === `ann${at}@example.org`);
      t.equal(new Set(mails.map(({ raw }) => messageId(raw))).size, 1, `ann${at}`);
      t.ok(mails.length >= 1 && mails.length <= 2);
    }
    for (const [to, id] of before)
      t.equal(messageId(sink.mails.findLast((mail) => mail.to === to)?.raw ?? Buffer.alloc(0)), id);
  },
);
