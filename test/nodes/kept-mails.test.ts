/**
 * Mails of sender nodes with versions in other languages and conditions, and mails as sent: the same bytes as those
 * that a server received.
 */
import t from 'tap';
import { fetch } from 'undici';
import { startNats } from '../../fixtures/nats.ts';
import { createDkimKey } from '../../src/delivery/mime/dkim.ts';
import { Service, startSink } from '../support/service.ts';
import { addReaders, until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';

const PEOPLE = 30;
const CONDITION = '((if city = "Berlin"))near((else))far((end))';

/** Makes a campaign to the readers with a German version, whose contacts are in Berlin or elsewhere, and sends it. Returns its utr. */
async function sendInLanguages(service: Service): Promise<string> {
  const mail = await addReaders(service, PEOPLE);
  const contacts = Array.from({ length: PEOPLE }, (_, at) => ({
    email: `reader${at}@example.org`,
    first_name: `Reader ${at}`,
    ...(at % 2 === 0 && { language: 'de' }),
    ...(at % 3 === 0 && { city: 'Berlin' }),
  }));
  await service.postJson('/contacts/upsert', { contact_type_id: 1, contacts });
  await service.post('/templates/create', {
    ...{ template_name: 'German', template_html: `<p>Guten Tag ((first_name)), ${CONDITION}</p>` },
  });
  const { templates } = (await service.get('/templates/list')).message as { templates: { id: number }[] };
  const { message } = await service.post('/single/send/draft', { single_send_name: 'News' });
  const { utr } = message as { utr: string };
  const template_id = String(Math.max(...templates.map(({ id }) => id)));
  const link = '<a href="https://shop.example/a">shop</a>';
  const template_html = `<p>Hello ((first_name)), ${CONDITION} ${link}</p>`;
  await service.post('/single/send/save', { ...mail, utr, template_html });
  await service.post('/single/send/languages', { utr, language: 'de', subject: 'Neues', template_id });
  await service.post('/single/send/update', { ...mail, utr, template_html, schedule_type: '0' });
  return utr;
}

/** Asks for a mail as it was sent. `path`: such as `/deliveries/mail?id=1`. */
async function mailAsSent(service: Service, path: string): Promise<string> {
  const answer = await fetch(`${service.origin}/api${path}`, { headers: service.keys });
  return Buffer.from(await answer.arrayBuffer()).toString('latin1');
}

/** The ids of the deliveries whose mails are kept, by address. */
async function keptMails(service: Service, utr: string): Promise<Map<string, number>> {
  const { recipients } = (await service.get(`/single-send/recipients/find?utr=${utr}&limit=100`)).message as {
    recipients: { email: string; kept_mail_id: number | null }[];
  };
  return new Map(recipients.flatMap(({ email, kept_mail_id: id }) => (id === null ? [] : [[email, id] as const])));
}

for (const sender of ['the service', 'a sender node'] as const)
  t.test(
    `each contact gets their version and branch from ${sender}, and the mail as sent has the bytes that a server received`,
    { skip: sender === 'a sender node' && skipWithout('nats') },
    async (t) => {
      const sink = await startSink(t);
      const nats = sender === 'the service' ? null : await startNats(t);
      const settings = { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional', ...(nats && { NATS_URL: nats.urls }) };
      const service = new Service(t, settings);
      if (nats !== null) new NodeProcess(t, 'north', { NATS_URL: nats.urls }).start();
      await service.start();
      service.change((client) =>
        client
          .prepare(
            "INSERT INTO dkim_keys (domain, selector, private_key, created_at) VALUES ('example.com', 'new', ?, '')",
          )
          .run(createDkimKey('rsa')),
      );
      await service.post('/sending/mails/save', { keeps_sent_mails: '1' });
      const utr = await sendInLanguages(service);
      const received = () => sink.mails.filter(({ to }) => to.startsWith('reader'));
      await until(received, ({ length }) => length === PEOPLE);
      for (const { to, raw } of received()) {
        const at = Number(/\d+/.exec(to)?.[0]);
        const text = raw.toString().replaceAll('=\r\n', '');
        t.match(text, at % 2 === 0 ? /^Subject: Neues\r$/m : /^Subject: News\r$/m, to);
        t.match(text, at % 2 === 0 ? `Guten Tag Reader ${at},` : `Hello Reader ${at},`);
        t.match(text, at % 3 === 0 ? /, near/ : /, far/);
        t.notMatch(text, at % 3 === 0 ? /, far/ : /, near/);
      }
      const kept = await until(
        () => keptMails(service, utr),
        ({ size }) => size === PEOPLE,
      );
      for (const { to, raw } of received()) {
        t.match(raw.toString('latin1'), /^DKIM-Signature/);
        t.equal(await mailAsSent(service, `/deliveries/mail?id=${kept.get(to)}`), raw.toString('latin1'), to);
      }
    },
  );

t.test('a transactional mail as sent has the bytes that a server received', async (t) => {
  const sink = await startSink(t);
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
  await service.start();
  await addReaders(service, 1);
  await service.post('/sending/mails/save', { keeps_sent_mails: '1' });
  const { utr } = (
    await service.postJson('/transactional/send', {
      ...{ sender_id: 1, email: 'ann@example.org', subject: 'Receipt für ((order))', data: { order: '7' } },
      template_html: '<p>.Thank you ((order))</p>\n.\n..<p>Grüße</p>',
      attachments: [{ name: 'a.bin', content: Buffer.alloc(10_000, 7).toString('base64') }],
    })
  ).message as { utr: string };
  const received = () => sink.mails.filter(({ to }) => to === 'ann@example.org');
  await until(received, ({ length }) => length === 1);
  const shown = async () =>
    ((await service.get(`/transactional/details?utr=${utr}`)).message as { mail: { is_kept: number } }).mail;
  await until(shown, ({ is_kept }) => is_kept === 1);
  t.equal(await mailAsSent(service, `/transactional/mail?utr=${utr}`), received()[0]?.raw.toString('latin1'));
});
