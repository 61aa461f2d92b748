/** Only ASCII is sent: no character of any field can end a line, start another field or inject an SMTP command. */
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { asciiAddress } from '../../../src/audience/contacts/addresses.ts';
import { readConfig } from '../../../src/config.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { createDkimKey, createSigner } from '../../../src/delivery/mime/dkim.ts';
import { isMailText, MailData, MailForm } from '../../../src/delivery/mime/mail-data.ts';
import { prepare, type Recipient, render } from '../../../src/delivery/mime/message.ts';
import { SmtpPool } from '../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../src/delivery/transport/smtp/relay-urls.ts';
import { startApp } from '../../support/app.ts';
import { mustSucceed } from '../../support/campaign.ts';
import { type Sink, startSink } from '../../support/smtp/scripted-relay.ts';

/** Written as latin1, its low bytes are an end of data and MAIL FROM. */
const SMUGGLED = 'a@xľčĊčĊhičĊ.čĊMAILĠFROMĺļevilрexample.orgľčĊ.example';

// Letters whose low byte is CR or LF, every kind of line end, and any other code point.
const letter = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...'abc @.<>"\\,;:=?_-', '\r', '\n', '\r\n', '\0', '\u2028', 'č', 'Ċ', '\u010d\u010a'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '.čĊ',
      '\r\nBcc: evil@example.org\r\n',
      '\r\n.\r\nMAIL FROM:<>\r\n',
      '上海',
      '🎉',
      '\ud800',
    ),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
);
const anything = fc.string({ unit: letter, maxLength: 40 });

t.test('of all of Unicode, mail data accepts only printable ASCII and CRLF', async (t) => {
  const taken: number[] = [];
  for (let code = 0; code <= 0x10ffff; code++) if (isMailText(String.fromCodePoint(code))) taken.push(code);
  t.strictSame(
    taken,
    Array.from({ length: 0x7f - 0x20 }, (_, at) => 0x20 + at),
  );
  for (const text of ['\r', '\n', 'a\rb', 'a\nb', '\n\r', 'a\r\r\n', '\r\n\n', 'č', '\x7f', '\t']) {
    t.throws(() => MailData.of(text), TypeError, JSON.stringify(text));
    t.throws(() => MailData.filled(new MailForm(['a', ''], [0]), [text]), TypeError, JSON.stringify(text));
  }
  t.equal(MailData.of('a\r\nb\r\n').bytes.toString(), 'a\r\nb\r\n');
});

t.test('the address of the envelope and the header is ASCII whatever letter its domain holds', async (t) => {
  const wrong: number[] = [];
  // Of the planes without letters, every 61st code point.
  for (let code = 0x80; code <= 0x10ffff; code += code < 0x33000 ? 1 : 61) {
    const ascii = asciiAddress(`news@x${String.fromCodePoint(code)}y.example`);
    if (ascii !== null && !/^news@[a-z\d.-]+$/.test(ascii)) wrong.push(code);
  }
  t.strictSame(wrong, []);
  t.equal(asciiAddress('News@Čaj.example'), 'News@xn--aj-dma.example');
});

t.test('any text in any field of a mail stays in its field, or the mail is refused', async (t) => {
  // One hostile value is enough to have a mail refused: usually the others are valid, so that most mails are made.
  const mostly = (valid: string, hostile = anything) =>
    fc.oneof({ weight: 7, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: hostile });
  const record = fc.record({
    from: anything,
    sender: mostly(
      'news@example.com',
      fc.oneof(
        anything,
        anything.map((text) => `news@${text}.example`),
      ),
    ),
    replyTo: fc.oneof(mostly('desk@example.com'), fc.constant(null)),
    listId: mostly('1.1.example.com'),
    feedbackId: mostly('1:1:sendlark'),
    messageId: mostly('1@example.com'),
    unsubscribe: mostly('https://example.com/u/1'),
    subject: anything,
    preheader: anything,
    value: anything,
    name: anything,
    address: mostly('jane@example.net'),
  });
  const usual = [
    'From',
    'To',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
  ];
  const names = [...usual, 'List-ID', 'Feedback-ID', 'MIME-Version', 'Content-Type'];
  let made = 0;
  await fc.assert(
    fc.asyncProperty(record, async (field) => {
      const content = await buildContent({
        template_json: null,
        template_html: `<p>((value)) ${field.value.replace(/[<>&]/g, '')}</p>`,
        subject: `${field.subject} ((value))`,
        preheader: field.preheader,
        tracking: true,
        footer: true,
      });
      const url = field.unsubscribe;
      const recipient: Recipient = {
        address: field.address,
        name: field.name,
        values: { value: field.value, sender_address: field.value },
        messageId: field.messageId,
        date: new Date('2026-03-01T08:09:10Z'),
        urls: { preferences: url, oneClick: url, webCopy: url, open: url, click: url },
      };
      const facts = {
        from: { name: field.from, address: field.sender },
        replyTo: field.replyTo,
        constants: { sender_name: field.from },
        bulk: { listId: field.listId, feedbackId: field.feedbackId },
      };
      const wire = mailOrNull(() => render(prepare(content, facts), recipient));
      if (wire === null) return;
      made++;
      if (!/^(?:[ -~]*\r\n)+$/.test(wire)) throw new Error('not ASCII in CRLF lines');
      const head = wire.slice(0, wire.indexOf('\r\n\r\n')).split(/\r\n(?! )/);
      const found = head.map((line) => line.slice(0, line.indexOf(':')));
      const wanted = names.filter((name) => name !== 'Reply-To' || field.replyTo);
      if (found.join() !== wanted.join()) throw new Error(`header fields: ${found}`);
    }),
    { numRuns: 600 },
  );
  t.ok(made > 100, `${made} were made`);
});

/** The message, or null if it is refused with the expected error. */
function mailOrNull(make: () => MailData): string | null {
  try {
    return make().bytes.toString('latin1');
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

t.test('any text as an address or our name either is refused or stands in one command', async (t) => {
  const sink = await startSink(t);
  const message = MailData.of('Subject: x\r\n\r\nHello\r\n');
  await fc.assert(
    fc.asyncProperty(anything, anything, anything, async (from, to, name) => {
      const pool = new SmtpPool(parseRelays(sink.url), { connections: 1, name: () => name });
      await pool.send({ from, to, start: () => message });
      await pool.close(1000);
    }),
    { numRuns: 200 },
  );
  const allowed =
    /^(EHLO (\[127\.0\.0\.1\]|([a-z\d-]+\.)+[a-z][a-z\d-]*)|MAIL FROM:<[!-~]*> SIZE=21|RCPT TO:<[!-~]+>|DATA|QUIT|RSET)$/i;
  t.strictSame(
    sink.commands.filter((line) => !allowed.test(line)),
    [],
  );
  t.ok(sink.received.every(({ message: got }) => got.equals(message.bytes)));
});

t.test('RFC 6376 3.5: a domain or selector that would break out of its tag is refused', async (t) => {
  const key = createDkimKey('ed25519');
  const message = MailData.of('From: a@example.com\r\n\r\nHello\r\n');
  fc.assert(
    fc.property(anything, anything, (domain, selector) => {
      const field = mailOrNull(() =>
        message.withField(createSigner(domain, selector, key).sign(message.bytes, new Date())),
      );
      return field === null || /^DKIM-Signature: (?:[^\r\n]|\r\n )*\r\nFrom: a@example.com\r\n/.test(field);
    }),
  );
  t.match(createSigner('xn--aj-dma.example', 's1', key).sign(message.bytes, new Date()), 'd=xn--aj-dma.example;');
});

t.test('BOUNCE_DOMAIN may be given as people write it and is used in ASCII form', async (t) => {
  t.equal(readConfig({ BOUNCE_DOMAIN: 'zpět.Čaj.example' }).BOUNCE_DOMAIN, 'xn--zpt-1ra.xn--aj-dma.example');
  fc.assert(
    fc.property(anything, (text) => {
      try {
        return /^[a-z\d.-]*$/.test(readConfig({ BOUNCE_DOMAIN: `${text}.example` }).BOUNCE_DOMAIN);
      } catch (error) {
        return error instanceof Error && error.message.startsWith('BOUNCE_DOMAIN is invalid');
      }
    }),
  );
  t.pass();
});

/** An application that sends its mail through this relay. */
function startSending(t: Test, sink: Sink) {
  return startApp(
    t,
    { SENDER_VERIFICATION: 'optional' },
    () => new SmtpPool(parseRelays(sink.url), { connections: 2, onRelayFailure: () => undefined }),
  );
}

t.test('a sender address cannot smuggle a second mail into its verification mail', async (t) => {
  const sink = await startSink(t);
  const app = await startSending(t, sink);
  await mustSucceed(t, app.one)('/sender/save', senderOf(SMUGGLED));
  await app.background();
  t.strictSame(
    sink.commands.filter((line) => line.startsWith('MAIL')),
    [`MAIL FROM:<${asciiAddress(SMUGGLED)}> SIZE=${sink.received[0]?.message.length}`],
  );
  t.equal(sink.received.length, 1);
  t.ok(isMailText(String(sink.received[0]?.message.toString('latin1'))));
});

for (const domain of ['čaj.example', '上海.example']) {
  t.test(`a sender of ${domain} works end to end: verification, test mail, campaign`, async (t) => {
    const sink = await startSink(t);
    const app = await startSending(t, sink);
    const ascii = asciiAddress(`news@${domain}`) ?? '';
    const host = ascii.slice(ascii.indexOf('@') + 1);
    const must = mustSucceed(t, app.one);
    await must('/unsubscribes-groups/save', { group_name: '新闻 čtení', description: 'Zprávy', is_display: 1 });
    await must('/contacts-type/add', { name: 'Readers' });
    await must('/contacts/add', {
      contact_type_id: 1,
      first_name: 'Žofie',
      country: 1,
      email: 'zofie@bücher.example',
    });
    await must('/sender/save', senderOf(`news@${domain}`));
    const { utr } = (await must('/single/send/create', {
      template_id: 1,
      template_html: '<p>Dobrý den ((first_name))</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: 'Čaj',
      subject: 'Nový čaj pro ((first_name))',
      preheader: '上海',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
    })) as { utr: string };
    await must('/single/send/test', { utr, email_address: 'try@example.net' });
    app.clock.advance(11_000);
    await app.background();

    t.strictSame(new Set(sink.received.map(({ from }) => from)), new Set([ascii]));
    t.strictSame(
      sink.received.map(({ to }) => to).sort(),
      [ascii, 'try@example.net', 'zofie@xn--bcher-kva.example'].sort(),
    );
    for (const { to, message } of sink.received) {
      t.ok(isMailText(message.toString('latin1')), to);
      const mail = await PostalMime.parse(message);
      t.equal(mail.from?.address, ascii);
      t.ok(mail.messageId?.endsWith(`@${host}>`), 'the Message-ID ends with the domain in ASCII form');
      if (to === ascii) t.match(mail.text, `mail from news@${domain} with`, 'people read the address as they wrote it');
      if (!to.startsWith('zofie')) continue;
      t.equal(mail.subject, 'Nový čaj pro Žofie');
      t.equal(mail.from?.name, 'Čajovna 上海');
      t.equal(mail.headers.find(({ key }) => key === 'list-id')?.value, `<1.1.${host}>`);
    }
  });
}

function senderOf(email: string): Record<string, unknown> {
  return {
    from_name: 'Čajovna 上海',
    from_email: email,
    reply_to_email: email,
    country_id: 1,
    company_address: 'Náměstí 1',
    nickname: 'Čaj',
  };
}
