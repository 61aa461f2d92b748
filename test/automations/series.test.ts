/** Mails of a live automation that are edited, fail or wait, and people who leave between them. */
import t from 'tap';
import { isoTimestamp } from '../../src/time/clock.ts';
import { ACCEPTED, DAY, HOUR, LATER, REFUSED, startSeries, startShop, UNKNOWN } from '../support/shop.ts';

t.test('a mail that was deleted never leaves, not to those queued either; what replaced it does', async (t) => {
  const shop = await startShop(t);
  const { pause, deleteMail, addMail, live, report } = await startSeries(shop, { one: 0, wrong: 1 });
  for (const name of ['ann', 'bob', 'cleo']) await shop.add(name);
  shop.relay.answer = (to) => (to.startsWith('ann') || shop.relay.handed.length < 3 ? ACCEPTED : LATER);
  await shop.pass(2 * HOUR);
  t.strictSame(
    shop.accepted().filter((mail) => mail.includes('wrong')),
    ['ann wrong'],
    'the others are queued',
  );
  await pause();
  await deleteMail('wrong');
  await addMail('right', 1);
  await live();
  await shop.app.background();
  t.match(await report(), {
    people: [
      { state: 'finished', count: 1 },
      { state: 'waiting', count: 2 },
    ],
    mails: [
      { subject: 'one', waiting: 0, delivered: 3 },
      { subject: 'wrong', utr: null, waiting: 0, delivered: 1 },
      { subject: 'right', waiting: 2 },
    ],
  });
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(DAY);
  t.strictSame(
    shop.accepted().filter((mail) => mail.includes('wrong')),
    ['ann wrong'],
  );
  t.strictSame(
    shop
      .accepted()
      .filter((mail) => mail.includes('right'))
      .sort(),
    ['bob right', 'cleo right'],
  );
  t.match(await report(), { people: [{ state: 'finished', count: 3 }] });
});

t.test('a mail that is redesigned goes in its new design to those queued too, tried already or not', async (t) => {
  const shop = await startShop(t);
  await startSeries(shop, { one: 0 });
  for (const name of ['ann', 'bob', 'cleo']) await shop.add(name);
  shop.relay.answer = (to) => (to.startsWith('ann') ? ACCEPTED : LATER);
  await shop.app.background();
  const { body } = await shop.app.one.call('GET', '/automations/schedule', {
    query: { utr: String(shop.app.db.prepare('SELECT utr FROM automations').pluck().get()) },
  });
  const { pathname } = new URL(body.message.automation_schedules[0].design_url);
  t.equal((await shop.app.page('POST', pathname, { json: { html: '<p>New design</p>' } })).status, 200);
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(DAY);
  const mails = shop.relay.handed.filter(({ isAccepted }) => isAccepted);
  t.strictSame(mails.map(({ to }) => to.slice(0, 3)).sort(), ['ann', 'bob', 'cle']);
  for (const { to, raw } of mails) t.equal(raw.includes('New design'), !to.startsWith('ann'), to);
  const idOf = (raw: string) => /^Message-ID: (.*)$/m.exec(raw)?.[1];
  for (const { to, raw } of shop.relay.handed)
    t.equal(idOf(raw), idOf(mails.find((mail) => mail.to === to)?.raw ?? ''), 'the Message-ID stays');
  t.equal(
    shop.app.db
      .prepare('SELECT count(*) FROM mailings WHERE finished_at IS NULL AND revision = 1 AND owner_kind = ?')
      .pluck()
      .get('schedule'),
    0,
  );
});

t.test('after a sender is deleted and replaced, nothing leaves from the deleted one', async (t) => {
  const shop = await startShop(t);
  const { deleteMail, addMail, live, report } = await startSeries(shop, { one: 0 });
  await shop.add('ann');
  shop.relay.answer = () => LATER;
  await shop.pass(HOUR);
  shop.relay.answer = () => ACCEPTED;
  await shop.remove('/sender/delete', { sender_id: 1 });
  await shop.pass(HOUR);
  t.match(await report(), {
    status: 0,
    held_code: 'sender_deleted',
    held_reason: 'The sender of an e-mail of the automation was deleted',
  });
  await shop.post('/sender/save', { ...shop.sender, from_email: 'new@example.com', from_name: 'New' });
  await deleteMail('one');
  await addMail('again', 0, 2);
  await live();
  await shop.pass(HOUR);
  const mails = await shop.mails();
  t.match(mails, [{ subject: 'again', from: 'New <new@example.com>' }]);
  t.equal(mails.length, 1);
});

t.test('the report says when the first of the contacts who wait for an e-mail gets it', async (t) => {
  const shop = await startShop(t);
  const { report, pause, live } = await startSeries(shop, { one: 0, two: 24 });
  const dueTimes = async () =>
    (await report()).mails.map(({ next_due_at }: { next_due_at: string | null }) => next_due_at);
  const tomorrow = () => isoTimestamp(new Date(shop.app.clock.now().getTime() + DAY));
  t.strictSame(await dueTimes(), [null, null], 'nobody waits');
  await shop.add('ann');
  await shop.app.background();
  const dueOfAnn = tomorrow();
  await shop.pass(HOUR);
  await shop.add('bob');
  await shop.app.background();
  const dueOfBob = tomorrow();
  t.strictSame(await dueTimes(), [null, dueOfAnn], 'the earlier of two');
  await shop.post('/global-unsubscribes/save', { email_address: 'ann@example.org' });
  await shop.pass(DAY - HOUR);
  t.match(await report(), { people: [{ state: 'left' }, { state: 'waiting', count: 1 }] });
  t.strictSame(await dueTimes(), [null, dueOfBob], 'without those who exited');
  await pause();
  t.strictSame(await dueTimes(), [null, null], 'while it is paused');
  await live();
  t.strictSame(await dueTimes(), [null, dueOfBob]);
  shop.relay.answer = () => LATER;
  await shop.pass(HOUR);
  t.match(await report(), { mails: [{}, { waiting: 1, next_due_at: null }] }, 'not of an e-mail that is queued');
});

t.test('a person who is deleted and imported again between two mails goes on; one who is not leaves', async (t) => {
  const shop = await startShop(t);
  const { report } = await startSeries(shop, { one: 0, two: 24, three: 24 });
  const ids = [await shop.add('ann'), await shop.add('bob')];
  await shop.pass(HOUR);
  await shop.post('/contacts/bulk-delete', { strIds: ids });
  await shop.app.background();
  await shop.import(['ann']);
  await shop.pass(3 * DAY);
  t.strictSame(shop.accepted(), ['ann one', 'bob one', 'ann two', 'ann three']);
  const [last] = (await shop.mails()).slice(-1);
  t.match(last?.html, /Hello New ann/, 'as who they are now');
  t.match(await report(), {
    people: [
      { state: 'finished', count: 1 },
      { state: 'left', reason: 'the contact was deleted', count: 1 },
    ],
  });
});

t.test(
  'who is deleted while their mail waits for the relay gets nothing, who is imported again by then does',
  async (t) => {
    const shop = await startShop(t);
    await startSeries(shop, { one: 0, two: 24 });
    const ids = [await shop.add('ann'), await shop.add('bob'), await shop.add('cleo')];
    shop.relay.answer = () => LATER;
    await shop.app.background();
    await shop.post('/contacts/bulk-delete', { strIds: ids.slice(0, 2) });
    await shop.import(['bob']);
    shop.relay.answer = () => ACCEPTED;
    await shop.pass(2 * DAY);
    t.strictSame(shop.accepted().sort(), ['bob one', 'bob two', 'cleo one', 'cleo two']);
  },
);

t.test(
  'a person who leaves the target while their mail waits for the relay does not get it where leaving ends the series',
  async (t) => {
    const shop = await startShop(t);
    await shop.post('/contacts-type/add', { name: 'Others' });
    await startSeries(shop, { one: 0, two: 24 }, { exit_criteria: 1 });
    const ann = await shop.add('ann');
    shop.relay.answer = () => LATER;
    await shop.app.background();
    await shop.correct(ann, 'ann', 2);
    shop.relay.answer = () => ACCEPTED;
    await shop.pass(2 * DAY);
    t.strictSame(shop.accepted(), []);
  },
);

t.test('a wait runs from the moment the relay accepted the mail before: an outage breaks no order', async (t) => {
  const shop = await startShop(t);
  const { preview } = await startSeries(shop, { one: 0, two: 24, three: 0 });
  await shop.add('ann');
  shop.relay.answer = () => LATER;
  await shop.pass(2 * DAY);
  t.match(await preview('ann'), { mails: [{ sent_at: null }, { sent_at: null }, { sent_at: null }] });
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(3 * DAY);
  const mails = await shop.mails();
  t.strictSame(
    mails.map(({ subject }) => subject),
    ['one', 'two', 'three'],
  );
  const [one, two, three] = mails.map(({ at }) => Date.parse(`2026-${at}Z`));
  t.equal(Number(two) - Number(one), DAY);
  t.equal(three, two, 'an instant mail follows at once');
});

t.test('under a domain rate nobody gets the second mail before the first', async (t) => {
  const shop = await startShop(t, { SEND_RATE_PER_DOMAIN: '1' });
  await startSeries(shop, { one: 0, two: 0, three: 0 });
  await shop.import(Array.from({ length: 30 }, (_, at) => `r${at}`));
  for (let second = 0; second < 120; second++) {
    shop.app.clock.advance(1000);
    await shop.app.background();
  }
  const mails = shop.accepted();
  t.equal(mails.length, 90);
  for (let at = 0; at < 30; at++)
    t.strictSame(
      mails.filter((mail) => mail.startsWith(`r${at} `)),
      ['one', 'two', 'three'].map((mail) => `r${at} ${mail}`),
    );
});

t.test('after a mail that failed the wait for the next begins; after a bounce the person leaves', async (t) => {
  const shop = await startShop(t);
  const { report } = await startSeries(shop, { one: 0, two: 24 });
  await shop.add('ann');
  await shop.add('bob');
  const answers: Record<string, typeof ACCEPTED> = { 'ann@example.org': REFUSED, 'bob@example.org': UNKNOWN };
  shop.relay.answer = (to) => answers[to] ?? ACCEPTED;
  await shop.pass(HOUR);
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(2 * DAY);
  t.strictSame(shop.accepted(), ['ann two']);
  t.match(await report(), {
    people: [{ state: 'finished' }, { state: 'left', reason: 'suppressed after an earlier bounce' }],
  });
});

t.test('a person who unsubscribes while their mail waits for the relay leaves the series', async (t) => {
  const shop = await startShop(t);
  const { report } = await startSeries(shop, { one: 0, two: 24 });
  await shop.add('ann');
  shop.relay.answer = () => LATER;
  await shop.app.background();
  await shop.post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'ann@example.org' });
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(2 * DAY);
  t.strictSame(shop.accepted(), []);
  t.match(await report(), { people: [{ state: 'left', reason: 'unsubscribed from this group', count: 1 }] });
});

t.test('a sender that is edited while the series is live is on every mail from then on', async (t) => {
  const shop = await startShop(t);
  await startSeries(shop, { one: 0, two: 24 });
  await shop.add('ann');
  await shop.pass(HOUR);
  await shop.post('/sender/update', {
    sender_id: 1,
    ...shop.sender,
    from_name: 'Swift',
    from_email: 'swift@example.com',
    reply_to_email: 'answers@example.com',
    company_address: '2 Quay St',
  });
  await shop.pass(DAY);
  t.match(await shop.mails(), [
    { subject: 'one', from: 'Lark <lark@example.com>', html: /1 Harbour St/ },
    {
      subject: 'two',
      from: 'Swift <swift@example.com>',
      envelopeFrom: 'swift@example.com',
      replyTo: 'answers@example.com',
      html: /2 Quay St/,
    },
  ]);
});
