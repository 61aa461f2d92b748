/** Attachments of a campaign in mails that leave over SMTP: from the service through a kill, and from sender nodes. */
import { createHash } from 'node:crypto';
import PostalMime from 'postal-mime';
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { Service, startSink } from '../support/service.ts';
import { addReaders, until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';

const PEOPLE = 20;
const FILE = Buffer.alloc(1_500_001, Buffer.from(Array.from({ length: 251 }, (_, at) => (at * 7919) % 251)));
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Sends a campaign with a file to the readers. */
async function sendWithFile(service: Service): Promise<void> {
  const mail = await addReaders(service, PEOPLE);
  const { message } = await service.post('/single/send/draft', { single_send_name: 'News' });
  const { utr } = message as { utr: string };
  const content = FILE.toString('base64');
  await service.post('/single/send/attachments', { utr, name: 'Übersicht.pdf', type: 'application/pdf', content });
  await service.post('/single/send/update', { ...mail, utr, template_html: '<p>Hello</p>', schedule_type: '0' });
}

type Sink = Awaited<ReturnType<typeof startSink>>;

/** Waits until each reader has got the mail. Returns how many mails lack the file or another part. */
async function brokenMails(sink: Sink): Promise<number> {
  const mails = () => sink.mails.filter(({ to }) => to.startsWith('reader'));
  await until(
    () => new Set(mails().map(({ to }) => to)).size,
    (readers) => readers === PEOPLE,
  );
  const parsed = await Promise.all(mails().map(({ raw }) => PostalMime.parse(raw)));
  const isWhole = ({ attachments: [file], html, text }: (typeof parsed)[number]) =>
    file?.filename === 'Übersicht.pdf' &&
    file.mimeType === 'application/pdf' &&
    hash(new Uint8Array(file.content as ArrayBuffer)) === hash(FILE) &&
    String(html).includes('Hello') &&
    String(text).includes('Hello');
  return parsed.filter((mail) => !isWhole(mail)).length;
}

t.test('after a kill in the middle of a send, every mail has its file', async (t) => {
  const sink = await startSink(t);
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
  await service.start();
  sink.allow(5);
  await sendWithFile(service);
  await until(
    () => sink.mails.length,
    (count) => count > 5,
  );
  await service.end('SIGKILL');
  sink.allow(Number.POSITIVE_INFINITY);
  await service.start();
  t.equal(await brokenMails(sink), 0);
});

t.test('sender nodes send the file', { skip: skipWithout('nats') }, async (t) => {
  const nats = await startNats(t);
  const sink = await startSink(t);
  const brain = new Service(t, { NATS_URL: nats.urls, SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
  new NodeProcess(t, 'north', { NATS_URL: nats.urls }).start();
  await brain.start();
  await sendWithFile(brain);
  t.equal(await brokenMails(sink), 0);
});
