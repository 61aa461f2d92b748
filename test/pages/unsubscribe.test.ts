/** One click to unsubscribe, and links that serve one person for one purpose. */
import fc from 'fast-check';
import t from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../support/campaign.ts';
import { countersOf, flushHits, groupsLeft, sendAgain, sentCampaign, stateOf } from '../support/recipient-links.ts';

t.test('one click leaves the group, in any encoding, again and again', async (t) => {
  const { app, mail, u } = await sentCampaign(t);
  t.match(mail.raw, `List-Unsubscribe: <http://mail.example.com${u}>`);
  const boundary = 'x';
  const bodies: [string, string | undefined, string | undefined][] = [
    ['urlencoded', 'List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded'],
    [
      'multipart',
      `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
      `multipart/form-data; boundary=${boundary}`,
    ],
    ['a body without a type', 'List-Unsubscribe=One-Click', undefined],
    ['no body', undefined, undefined],
    ['a type nobody knows', 'x', 'application/x-odd'],
  ];
  for (const [name, payload, type] of bodies) {
    app.db.exec('DELETE FROM unsubscribers');
    for (const round of ['once', 'again']) {
      const answer = await app.fastify.inject({
        method: 'POST',
        url: u,
        headers: type === undefined ? {} : { 'content-type': type },
        ...(payload !== undefined && { payload }),
      });
      t.equal(answer.statusCode, 200, `${name}, ${round}`);
      t.notOk(answer.headers.location ?? answer.headers['set-cookie']);
      t.strictSame(groupsLeft(app), [1]);
    }
  }
  t.equal(countersOf(app).unsubscribes, 1, 'and counts the person once');
});

t.test('GET and HEAD of every link change nothing, however often', async (t) => {
  const html = '<a href="https://shop.example/new">news</a> <a href="((web_copy))">View in browser</a>';
  const { app, u, c, o, mail } = await sentCampaign(t, {}, { html });
  const { w = '' } = mail.paths;
  const before = stateOf(app);
  const visit = async (method: string, path: string, expected: number) => {
    const statuses = new Set<number>();
    for (let visits = 0; visits < 100; visits++) statuses.add((await app.page(method, path)).status);
    t.strictSame([...statuses], [expected], `${method} ${path}`);
  };
  for (const method of ['GET', 'HEAD']) {
    await visit(method, u, 200);
    await visit(method, w, 200);
    await visit(method, `${u}x`, 404);
  }
  await visit('HEAD', c, 302);
  await visit('HEAD', o, 200);
  flushHits(app);
  t.equal(stateOf(app), before);
  await visit('GET', c, 302);
  await visit('GET', o, 200);
  flushHits(app);
  t.strictSame(groupsLeft(app), [], 'opens and clicks are counted, and take nobody off');
  t.equal(countersOf(app).unsubscribes, 0);
});

t.test('a token serves one person and purpose; one changed character and it is refused', async (t) => {
  const { app, u, o, c } = await sentCampaign(t);
  const token = u.slice(3);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (at, letter) => {
      fc.pre(token[at] !== letter);
      const { status } = await app.page('POST', `/u/${token.slice(0, at)}${letter}${token.slice(at + 1)}`);
      return status === 404;
    }),
    { numRuns: 200 },
  );
  for (const other of [o.slice(3).replace('.gif', ''), c.split('/')[2]]) {
    t.equal((await app.page('POST', `/u/${other}`)).status, 404);
    t.equal((await app.page('GET', `/u/${other}`)).status, 404);
  }
  t.strictSame(groupsLeft(app), []);
});

t.test('links outlive the contact and the campaign', async (t) => {
  const { app, utr, u, c } = await sentCampaign(t);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  t.equal((await app.page('GET', u)).status, 200);
  t.equal((await app.page('POST', u)).status, 200);
  t.strictSame(groupsLeft(app), [1]);
  t.equal(
    (await app.page('GET', c)).headers.location,
    'https://shop.example/new?for=',
    'values are gone, the link leads on',
  );
});

t.test('a person who unsubscribed by the page gets no more mail, whatever the spelling of their address', async (t) => {
  const { app, u } = await sentCampaign(t, {}, { people: [{ email: 'Anna@Example.org' }] });
  await app.page('POST', u, { form: { form: 'none' } });
  const { body } = await app.one.call('GET', '/global-unsubscribes');
  t.match(body.message.unSubscribers, [{ email_address: 'anna@example.org', unsubscribe_groups_id: null }]);
});

t.test('a person who unsubscribes by the page while the next send runs is left out of its next claim', async (t) => {
  const people = [{ email: 'anna@example.org' }, { email: 'bo@example.org' }, { email: 'cy@example.org' }];
  const app = await startApp(t, { SEND_RATE: '1' });
  const { utr } = await sendCampaign(t, app, { people });
  const goOn = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      app.clock.advance(1000);
      await app.background();
    }
  };
  await goOn(5);
  const all = await readOutbox(app);
  t.strictSame(
    all.map(({ to }) => to),
    people.map(({ email }) => email),
  );
  const next = await sendAgain(t, app, utr);
  await goOn(11);
  const begun = (await readOutbox(app)).length;
  t.ok(begun > 3 && begun < 6, 'the second send has begun and is not through');
  const last = all.at(-1);
  await app.page('POST', last?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  await goOn(5);
  t.notOk((await readOutbox(app)).slice(begun).some(({ to }) => to === last?.to));
  const { body } = await app.one.call('GET', '/single-send/recipients', {
    query: { utr: next, email: 'cy@example.org' },
  });
  t.match(body.message.recipients, [{ state: 'suppressed', attempts: 0, reply: /unsubscribed/ }]);
});

t.test('whoever unsubscribed, in any spelling of their address, is left out of every kind of target', async (t) => {
  const { app, utr, u } = await sentCampaign(t, {}, { people: [{ email: 'Anna@Bücher.example' }] });
  await app.page('POST', u, { form: { form: 'none' } });
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Others' });
  const other = { contact_type_id: 2, first_name: 'Anna', country: 1, email: ' ANNA@xn--bcher-kva.example ' };
  await must('/contacts/add', other);
  const rule = { segment_name: 'Annas', contact_type_id: 2, 'select_field[0]': 'first_name' };
  await must('/segment/store', { ...rule, 'select_operator[0]': 'is', 'value[0]': 'Anna' });
  await must('/segment/store', { ...rule, 'select_operator[0]': 'is', 'value[0]': 'Nobody' });
  await must('/segment/email/store', { segment_id: 2, first_name: 'A', last_name: 'B', email: 'anna@BÜCHER.example' });
  for (const target of ['contacts_1', 'contacts_2', 'segments_1', 'segments_2']) {
    const next = await sendAgain(t, app, utr, { recipient_id: [target] });
    app.clock.advance(11_000);
    await app.background();
    const { body } = await app.one.call('GET', '/single-send/report', { query: { utr: next } });
    t.match(body.message.report, { status: 0, held_reason: /everybody in it is unsubscribed/ }, target);
  }
  t.equal((await readOutbox(app)).length, 1);
});

t.test('an owner who takes somebody off the list leaves the record of who left, when and how', async (t) => {
  const { app, u } = await sentCampaign(t);
  await app.page('POST', u, { form: { form: 'none' } });
  const log = () =>
    app.db
      .prepare(
        'SELECT consent_log.id, normalized_email, action, source, created_at FROM consent_log JOIN addresses ON addresses.id = address_id ORDER BY 1',
      )
      .all();
  const before = log();
  t.match(before, [
    { normalized_email: 'anna@example.org', action: 'unsubscribed', source: 'page', created_at: /^2026/ },
  ]);
  const { body } = await app.one.call('GET', '/global-unsubscribes');
  await app.one.call('DELETE', '/global-unsubscribes/delete', { query: { id: body.message.unSubscribers[0].id } });
  t.strictSame(groupsLeft(app), []);
  t.match(log(), [...before, { action: 'resubscribed', source: 'api' }]);
});
