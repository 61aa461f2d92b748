/** People and senders that change while a single send is running. */
import t, { type Test } from 'tap';
import { purge } from '../../src/database/purge.ts';
import { verifySenders } from '../support/sender.ts';
import { LATER, type Shop, startSend, startShop } from '../support/shop.ts';

const NAMES = Array.from({ length: 8 }, (_, at) => `r${at}`);

/** A send to eight people at two mails per second, after the first two were sent. */
async function halfway(t: Test, given: Record<string, unknown> = {}, settings: Record<string, string> = {}) {
  const shop = await startShop(t, { SEND_RATE: '2', ...settings });
  await shop.post('/contacts-type/add', { name: 'Others' });
  await shop.import(NAMES);
  const utr = await startSend(shop, given);
  const first = shop.accepted().length;
  if (first === 0 || first > 4) throw new Error(`${first} have it: not halfway`);
  return { ...shop, utr, first, id: (name: string) => findContactId(shop, name) };
}

/** Lets the seconds pass that the rest of the send takes. */
async function finish({ app }: Pick<Shop, 'app'>): Promise<void> {
  const unfinished = app.db.prepare('SELECT count(*) FROM mailings WHERE finished_at IS NULL').pluck();
  for (let second = 0; second < 40 && unfinished.get() !== 0; second++) {
    app.clock.advance(1000);
    await app.background();
  }
}

const findContactId = ({ app }: Pick<Shop, 'app'>, name: string) =>
  Number(app.db.prepare('SELECT max(id) FROM contacts WHERE email = ?').pluck().get(`${name}@example.org`));

/** Segment 1, of everybody. */
const storeSegment = ({ post }: Shop) =>
  post('/segment/store', {
    segment_name: 'All',
    contact_type_id: 1,
    select_field: ['email'],
    select_operator: ['contains'],
    value: ['example'],
  });

const removeFromSegment = async ({ get, remove }: Shop, name: string) => {
  const { contactEmails } = await get('/segment/email/list', { segment_id: 1 });
  const found = contactEmails.find(({ email }: { email: string }) => email === `${name}@example.org`);
  await remove('/segment/email/delete', { segment_recipient_id: found.id });
};

const to = (shop: Pick<Shop, 'accepted'>) => shop.accepted().map((mail) => mail.split(' ')[0]);

t.test('a person who is deleted while a send runs gets nothing more, whichever way they were deleted', async (t) => {
  const ways: Record<string, (shop: Awaited<ReturnType<typeof halfway>>) => Promise<unknown>> = {
    singly: ({ remove, id }) => Promise.all(NAMES.map((name) => remove('/contacts/delete', { contact_id: id(name) }))),
    'in bulk': ({ post, id }) => post('/contacts/bulk-delete', { strIds: NAMES.map(id) }),
    'with their contact type': ({ remove }) => remove('/contacts-type/delete', { contact_type_id: 1 }),
    'and purged': async ({ remove, app }) => {
      await remove('/contacts-type/delete', { contact_type_id: 1 });
      await purge(app.db, () => undefined);
    },
    'with their contact type, the send paused': async ({ remove, act, utr }) => {
      await act('/single/send/pause', { utr });
      await remove('/contacts-type/delete', { contact_type_id: 1 });
      await act('/single/send/resume', { utr });
    },
  };
  for (const [way, remove] of Object.entries(ways)) {
    t.test(way, async (t) => {
      const shop = await halfway(t);
      await remove(shop);
      await finish(shop);
      t.equal(shop.accepted().length, shop.first);
      const { report } = await shop.get('/single-send/report', { utr: shop.utr });
      t.match(report, {
        status: 3,
        reasons: [{ state: 'suppressed', reason: 'the contact was deleted', count: 8 - shop.first }],
      });
    });
  }
});

t.test('a person deleted and imported again while a send runs gets it once, with their new values', async (t) => {
  const shop = await halfway(t);
  await shop.post('/contacts/bulk-delete', { strIds: NAMES.map(shop.id) });
  await shop.import(NAMES);
  await finish(shop);
  t.strictSame(to(shop).sort(), NAMES);
  t.equal((await shop.mails()).filter(({ html }) => html.includes('Hello New r')).length, 8);
});

t.test('a person who is deleted from one target of a send and is in another gets it as that contact', async (t) => {
  const shop = await startShop(t, { SEND_RATE: '2' });
  await shop.post('/contacts-type/add', { name: 'Others' });
  await shop.import(NAMES);
  await shop.post('/contacts/add', { contact_type_id: 2, email: 'r7@example.org', first_name: 'Other', country: 1 });
  await startSend(shop, { recipient_id: ['contacts_1', 'contacts_2'] });
  await shop.remove('/contacts-type/delete', { contact_type_id: 1 });
  await finish(shop);
  t.match((await shop.mails()).at(-1), { to: 'r7@example.org', html: /Hello Other/ });
});

t.test(
  'an address corrected while a send runs: the new one gets it, the old one nothing, imported again or not',
  async (t) => {
    const shop = await halfway(t);
    await shop.correct(shop.id('r7'), 'corrected');
    await shop.import(['r7']);
    await finish(shop);
    t.strictSame(to(shop), [...NAMES.slice(0, 7), 'corrected']);
  },
);

t.test('an address corrected to one that the send goes to as well: one mail', async (t) => {
  const shop = await startShop(t, { SEND_RATE: '2' });
  await shop.post('/contacts-type/add', { name: 'Others' });
  await shop.import(NAMES);
  await shop.add('other', 2);
  const utr = await startSend(shop, { recipient_id: ['contacts_1', 'contacts_2'] });
  await shop.correct(findContactId(shop, 'r7'), 'other');
  await finish(shop);
  t.strictSame(to(shop), [...NAMES.slice(0, 7), 'other']);
  const { report } = await shop.get('/single-send/report', { utr });
  t.match(report, { status: 3, reasons: [{ reason: 'the address was changed', count: 1 }] });
});

t.test('an address corrected to one that the send excludes gets nothing', async (t) => {
  const shop = await startShop(t, { SEND_RATE: '2' });
  await shop.post('/contacts-type/add', { name: 'Staff' });
  await shop.import(NAMES);
  await shop.add('boss', 2);
  await startSend(shop, { exclude_specific_recipient_id: ['contacts_2'] });
  await shop.correct(findContactId(shop, 'r7'), 'boss');
  await finish(shop);
  t.strictSame(to(shop), NAMES.slice(0, 7));
});

t.test(
  'a person who is moved to another type while a send runs still gets it; one who is removed from its segment by hand does not',
  async (t) => {
    const shop = await startShop(t, { SEND_RATE: '2' });
    await shop.post('/contacts-type/add', { name: 'Others' });
    await storeSegment(shop);
    await shop.import(NAMES);
    await startSend(shop, { recipient_id: ['segments_1'] });
    await shop.correct(findContactId(shop, 'r6'), 'r6', 2);
    await removeFromSegment(shop, 'r7');
    await finish(shop);
    t.strictSame(to(shop), NAMES.slice(0, 7));
  },
);

t.test('a person who is removed from a segment by hand and is in another target gets it as that contact', async (t) => {
  const shop = await startShop(t, { SEND_RATE: '2' });
  await storeSegment(shop);
  await shop.import(NAMES);
  await startSend(shop, { recipient_id: ['segments_1', 'contacts_1'] });
  await removeFromSegment(shop, 'r7');
  await finish(shop);
  t.strictSame(to(shop), NAMES);
});

t.test('a sender that is edited while a send runs is on every mail claimed from then on', async (t) => {
  const shop = await halfway(t);
  await shop.post('/sender/update', {
    sender_id: 1,
    ...shop.sender,
    from_name: 'Swift',
    from_email: 'swift@example.com',
    reply_to_email: 'answers@example.com',
    company_address: '2 Quay St',
  });
  await finish(shop);
  const mails = await shop.mails();
  t.equal(mails.length, 8);
  for (const [at, mail] of mails.entries()) {
    if (at < shop.first) t.match(mail, { from: 'Lark <lark@example.com>', html: /1 Harbour St/ });
    else {
      t.match(mail, { from: 'Swift <swift@example.com>', replyTo: 'answers@example.com', html: /2 Quay St/ });
      t.notMatch(mail.html, /1 Harbour St/);
    }
  }
});

t.test('a mail that is tried again after its sender was edited keeps its Message-ID', async (t) => {
  const shop = await startShop(t);
  await shop.add('ann');
  shop.relay.answer = () => LATER;
  await startSend(shop);
  await shop.post('/sender/update', { sender_id: 1, ...shop.sender, from_email: 'swift@other.example.com' });
  shop.app.clock.advance(60_000);
  await shop.app.background();
  t.equal(shop.relay.handed.length, 2);
  t.match(shop.relay.handed[1]?.raw, /^From: .*swift@other\.example\.com/m);
  t.equal(new Set(shop.relay.handed.map(({ raw }) => /^Message-ID: .*$/m.exec(raw)?.[0])).size, 1);
});

t.test('where senders must be verified, a new address of one holds its running sends until it is', async (t) => {
  const shop = await startShop(t, { SEND_RATE: '2', SENDER_VERIFICATION: 'required' });
  verifySenders(shop.app);
  await shop.import(NAMES);
  const utr = await startSend(shop);
  const first = shop.accepted().length;
  await shop.post('/sender/update', { sender_id: 1, ...shop.sender, from_email: 'swift@example.com' });
  await finish(shop);
  t.equal(shop.accepted().length, first);
  t.match(await shop.get('/single-send/report', { utr }), {
    report: { held_reason: 'The sender is not verified yet' },
  });
  const content = String(
    shop.app.db.prepare("SELECT content FROM mailings WHERE owner_kind = 'system' ORDER BY id DESC").pluck().get(),
  );
  const [, path = ''] = /http:\/\/mail\.example\.com(\/verify\/[\w.-]+)/.exec(content) ?? [];
  t.equal((await shop.app.page('POST', path, { form: {} })).status, 200);
  await finish(shop);
  t.equal(shop.accepted().length, 8);
});

t.test(
  'nothing leaves from a sender that was deleted while its send runs: the send is held and can be cancelled',
  async (t) => {
    const shop = await halfway(t);
    await shop.remove('/sender/delete', { sender_id: 1 });
    await finish(shop);
    t.equal(shop.accepted().length, shop.first);
    const { utr } = shop;
    t.match(await shop.get('/single-send/report', { utr }), {
      report: { status: 2, held_reason: 'The sender was deleted' },
    });
    t.match(await shop.app.one.call('POST', '/single/send/resume', { query: { utr } }), {
      status: 409,
      body: { errors: 'The sender was deleted: the single send can only be cancelled' },
    });
    shop.app.restartBackground();
    await finish(shop);
    t.match(await shop.get('/single-send/report', { utr }), {
      report: { status: 2, held_reason: 'The sender was deleted' },
    });
    await shop.act('/single/send/cancel', { utr });
    await finish(shop);
    t.match(await shop.get('/single-send/report', { utr }), { report: { status: 3 } });
  },
);
