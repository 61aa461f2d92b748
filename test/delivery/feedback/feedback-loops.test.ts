/** Complaints to the fixed addresses of feedback loops, abuse and postmaster, over SMTP. */
import nodemailer from 'nodemailer';
import t, { type Test } from 'tap';
import { startBounceIntake } from '../../../src/delivery/feedback/bounces/intake.ts';
import { startApp } from '../../support/app.ts';
import { mustSucceed } from '../../support/campaign.ts';
import { addPerson, callerOf } from '../../support/people.ts';
import { SHOP_SENDER } from '../../support/sender.ts';

const DOMAIN = 'returns.example.com';

/** A mail as Ann and Bob got it, and a listener; `header` is that of Ann's mail. */
async function sent(t: Test) {
  const app = await startApp(t, { BOUNCE_LISTEN: '127.0.0.1:2525', BOUNCE_DOMAIN: DOMAIN, RECALL_SECONDS: '0' });
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  for (const name of ['ann', 'bob'])
    await must('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, country: 1 });
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await must('/sender/save', SHOP_SENDER);
  await must('/single/send/create', {
    template_id: 1,
    template_html: '<p>Hello</p>',
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: 's',
    subject: 's',
    preheader: 'p',
    'recipient_id[0]': 'contacts_1',
    schedule_type: 0,
  });
  await app.background();
  const listener = await startBounceIntake(app.drizzle, app.clock, { host: '127.0.0.1', port: 0, domain: DOMAIN });
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  t.teardown(async () => {
    transport.close();
    await listener.close();
  });
  const own = app.db
    .prepare<[], { envelope_from: string; raw: Buffer }>(
      "SELECT envelope_from, raw FROM outbox WHERE envelope_to = 'ann@example.org'",
    )
    .get();
  if (own === undefined) throw new Error('no mail');
  const operator = callerOf(app, addPerson(app));
  return {
    app,
    port: listener.port,
    path: own.envelope_from,
    raw: own.raw.toString('latin1'),
    header: own.raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '',
    arrives: (raw: string, to = `fbl@${DOMAIN}`, from = 'fbl@mailbox.example') =>
      transport.sendMail({ envelope: { from, to: [to] }, raw }),
    suppressed: async () =>
      (await app.one.call('GET', '/suppressions/list')).body.message.suppressions.map(
        ({ email_address, kind }: Record<string, string>) => `${email_address} ${kind}`,
      ),
    complaints: () => app.db.prepare("SELECT count(*) FROM events WHERE kind = 'complaint'").pluck().get(),
    kept: async () => (await operator.call('GET', '/role-mails')).body.message.mails,
    operator,
  };
}

/** A report as RFC 5965 has it; `enclosed` is the mail or its header. */
const report = (enclosed: string, { type = 'message/rfc822', fields = ['Feedback-Type: abuse'] } = {}) =>
  [
    'From: <fbl@mailbox.example>',
    'Subject: FW: s',
    'Precedence: bulk',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="=_b"',
    '',
    '--=_b',
    'Content-Type: text/plain',
    '',
    'This is a complaint.',
    '--=_b',
    'Content-Type: message/feedback-report',
    '',
    ...fields,
    'User-Agent: Mailbox/1',
    'Version: 1',
    '',
    '--=_b',
    `Content-Type: ${type}`,
    '',
    enclosed,
    '--=_b--',
    '',
  ].join('\r\n');

/** The field of a header with this name and its folded lines. */
const without = (header: string, ...names: string[]) =>
  header.replace(new RegExp(`^(?:${names.join('|')}):.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'gim'), '');
const redacted = (text: string) => text.replaceAll('ann@example.org', 'redacted@example.org');

for (const [what, enclose, type] of [
  ['the whole mail', ({ raw }: { raw: string }) => raw, 'message/rfc822'],
  ['its header alone', ({ header }: { header: string }) => `${header}\r\n`, 'text/rfc822-headers'],
  [
    'a redacted header with the Message-ID',
    ({ header }: { header: string }) => `${without(redacted(header), 'List-Unsubscribe', 'Return-Path')}\r\n`,
    'text/rfc822-headers',
  ],
  [
    'a redacted mail with the link to unsubscribe',
    ({ raw }: { raw: string }) => without(redacted(raw), 'Message-ID', 'Return-Path'),
    'message/rfc822',
  ],
  [
    'a redacted header with the return path',
    ({ header, path }: { header: string; path: string }) =>
      `Return-Path: <${path}>\r\n${without(redacted(header), 'Message-ID', 'List-Unsubscribe')}\r\n`,
    'text/rfc822-headers',
  ],
] as const) {
  t.test(`a complaint that encloses ${what} suppresses its recipient and counts once`, async (t) => {
    const mail = await sent(t);
    const enclosed = enclose(mail);
    for (const to of [`fbl@${DOMAIN}`, `ABUSE@${DOMAIN.toUpperCase()}`])
      await mail.arrives(report(enclosed, { type }), to);
    t.strictSame(await mail.suppressed(), ['ann@example.org complaint']);
    t.equal(mail.complaints(), 1);
    t.strictSame(await mail.kept(), []);
  });
}

t.test(
  'a complaint that only names a person, or encloses a forged mail, suppresses nobody and is kept to be read',
  async (t) => {
    const mail = await sent(t);
    const fields = [
      'Feedback-Type: abuse',
      'Original-Rcpt-To: <ann@example.org>',
      'Original-Mail-From: <hello@example.com>',
    ];
    await mail.arrives(report('Subject: s\r\nTo: ann@example.org\r\nMessage-ID: <1@example.com>\r\n', { fields }));
    const [, key = '', id = ''] = /^Message-ID: <([0-9a-f]{18})\.(\d+)@/im.exec(mail.header) ?? [];
    t.ok(id);
    const forged = mail.header.replace(`${key}.`, `${'0'.repeat(18)}.`).replace(/(\/u\/\S{5})\S/, '$1!');
    await mail.arrives(
      report(`Return-Path: <${mail.path.replace(/\.\w/, (start) => (start === '.7' ? '.8' : '.7'))}>\r\n${forged}\r\n`),
    );
    t.strictSame(await mail.suppressed(), []);
    t.match(await mail.kept(), [
      { mailbox: 'fbl' },
      { mailbox: 'fbl', subject: 'FW: s', text: /This is a complaint\..*Original-Rcpt-To: ‹ann@example\.org›/s },
    ]);
  },
);

t.test(
  'a feedback loop that forwards the mail without a report is a complaint; to abuse it is mail for a person',
  async (t) => {
    const mail = await sent(t);
    const forward = (enclosed: string) =>
      [
        'From: staff@mailbox.example',
        'Subject: complaint',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary="=_c"',
        '',
        '--=_c',
        'Content-Type: message/rfc822',
        '',
        enclosed,
        '--=_c--',
        '',
      ].join('\r\n');
    await mail.arrives(forward(mail.raw), `abuse@${DOMAIN}`);
    t.strictSame(await mail.suppressed(), []);
    t.match(await mail.kept(), [{ mailbox: 'abuse', subject: 'complaint' }]);
    await mail.arrives(forward(mail.raw));
    t.strictSame(await mail.suppressed(), ['ann@example.org complaint']);
  },
);

t.test(
  'automatic replies, reports that a mail is no spam and returned mail to these addresses suppress nobody',
  async (t) => {
    const mail = await sent(t);
    const reply = (...fields: string[]) =>
      [...fields, 'From: a@b.example', 'Subject: Away', '', 'I am away.', ''].join('\r\n');
    await mail.arrives(reply('Auto-Submitted: auto-replied'));
    await mail.arrives(reply('X-Autoreply: yes'), `abuse@${DOMAIN}`);
    await mail.arrives(reply(), `postmaster@${DOMAIN}`, '');
    t.strictSame(await mail.kept(), [], 'nobody has to read them');
    await mail.arrives(report(mail.raw, { fields: ['Feedback-Type: not-spam'] }));
    t.strictSame(await mail.suppressed(), []);
    t.equal(mail.complaints(), 0);
  },
);

t.test('other mail is kept as plain text, bounded in size and number, for operators alone', async (t) => {
  const mail = await sent(t);
  const write = (subject: string, body: string, to = `postmaster@${DOMAIN}`) =>
    mail.arrives(['From: "<b>Clerk</b>" <clerk@quay.example>', `Subject: ${subject}`, '', body, ''].join('\r\n'), to);
  await write('Your code', `<script>alert(1)</script> \u001b[31m 4711\r\n${'x'.repeat(50)} `.repeat(500));
  const [first] = await mail.kept();
  t.match(first, { mailbox: 'postmaster', subject: 'Your code', text: /4711/ });
  t.ok(first.text.length <= 4000, `${first.text.length} characters`);
  t.notMatch(JSON.stringify(first), /[<>]|\\u001b/);
  const db = mail.app.db;
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO role_mails (mailbox, created_at) SELECT 'abuse', '' FROM n`);
  await write('Newest', 'x');
  const kept = await mail.kept();
  t.equal(kept.length, 200);
  t.equal(kept[0].subject, 'Newest');
  t.equal((await mail.app.one.call('GET', '/role-mails')).status, 403, 'keys are no operator');
  t.equal((await callerOf(mail.app, addPerson(mail.app, 'editor')).call('GET', '/role-mails')).status, 403);
  t.equal((await mail.operator.call('DELETE', '/role-mails/delete', { query: { id: kept[0].id } })).status, 200);
  t.equal((await mail.operator.call('DELETE', '/role-mails/delete', { query: { id: kept[0].id } })).status, 404);
});

t.test('who is erased is in no kept mail, earlier or later', async (t) => {
  const mail = await sent(t);
  const write = () =>
    mail.arrives(
      'From: ANN@example.org\r\nSubject: me\r\n\r\nI am Ann@Example.org, bob@example.org knows.\r\n',
      `abuse@${DOMAIN}`,
    );
  await write();
  t.equal((await mail.kept()).length, 1);
  await mustSucceed(t, mail.app.one)('/contacts/person/erase', { contact_id: 1 });
  t.strictSame(await mail.kept(), []);
  await write();
  t.match(await mail.kept(), [{ sender: '…', text: 'I am …, bob@example.org knows.' }]);
});

t.test('who is erased is in no kept mail in whatever form their international address is written', async (t) => {
  const mail = await sent(t);
  const must = mustSucceed(t, mail.app.one);
  await must('/contacts/add', { contact_type_id: 1, email: 'zoe+x@b\u00fccher.example', country: 1 });
  const forms = [
    'Zoe+x@B\u00dcCHER.example',
    'zoe+x@bu\u0308cher.example',
    'zoe+x@xn--bcher-kva.example',
    'https://quay.example/u?who=zoe%2Bx%40b%C3%BCcher.example&x=1',
    'https://quay.example/u/zoe+x@xn--bcher-kva.example/x',
    '=?us-ascii?q?zoe+x=40xn--bcher-kva.example?',
    'zoe=2Bx=40b=C3=BCcher.example',
  ];
  const other = 'joe@b\u00fccher.example and who=joe%40b%C3%BCcher.example';
  const write = async (text: string) => {
    const header = ['From: x@example.org', 'Subject: me', 'Content-Type: text/plain; charset=utf-8', ''];
    await mail.arrives([...header, text, ''].join('\r\n'), `abuse@${DOMAIN}`);
  };
  for (const form of [...forms, other]) await write(`I am ${form}!`);
  t.equal((await mail.kept()).length, forms.length + 1);
  await must('/contacts/person/erase', { contact_id: 3 });
  const { text: kept } = (await mail.kept())[0];
  t.equal((await mail.kept()).length, 1, 'only the mail of somebody else is there');
  t.match(kept, 'joe%40b');
  for (const form of forms) {
    for (const sentence of [`I am ${form} .`, `I am *${form}*.`, `I am ${form}!`]) {
      await write(sentence);
      const [{ text }] = await mail.kept();
      t.notMatch(text, /zoe|cher/i, text);
    }
  }
  await write(other);
  t.equal((await mail.kept())[0].text, kept.slice('I am '.length, -1));
});

t.test('no other address is taken, and the postmaster also without a domain', async (t) => {
  const mail = await sent(t);
  await mail.arrives('Subject: x\r\n\r\nx', 'Postmaster');
  t.match(await mail.kept(), [{ mailbox: 'postmaster' }]);
  for (const to of [`info@${DOMAIN}`, `fbl@other.example`, 'abuse'])
    await t.rejects(mail.arrives('x', to), /550|501|553/);
});
