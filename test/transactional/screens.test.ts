/** Transactional e-mail in the dashboard and in the timeline of a contact. */
import t from 'tap';
import { addPerson, cookieOf } from '../support/people.ts';
import { post, RECEIPT, sent, stateOf, withRelay } from '../support/transactional.ts';

const TAKEN = { kind: 'accepted', stage: 'data', code: 250, enhanced: '2.0.0', reply: '250 2.0.0 OK' } as const;
const HOSTILE = '"><script>alert(1)</script>';

t.test('transactional mails are listed by state and address, and each says what became of it', async (t) => {
  const { app } = await withRelay(t, () => TAKEN);
  const cookie = cookieOf(app, addPerson(app, 'viewer'));
  const open = (path: string) => app.page('GET', path, { headers: { cookie } });
  t.match((await open('/transactional')).text, 'No transactional e-mails yet');
  const utr = await sent(app, { ...RECEIPT, subject: `Order ${HOSTILE}`, name: HOSTILE });
  await post(app.one, { ...RECEIPT, email: 'bob@example.org' });
  await app.background();
  const { text } = await open('/transactional');
  t.match(text, /<bdi>bob@example\.org.*<bdi>ann@example\.org/is);
  t.notMatch(text, '<script>alert');
  const found = await open('/transactional?email=ann@example.org&state=accepted');
  t.match(found.text, /<bdi>ann@example\.org/i);
  t.notMatch(found.text, 'bob@example.org');
  for (const query of ['state=bounced', 'email=nobody@example.org', 'email=nonsense'])
    t.match((await open(`/transactional?${query}`)).text, 'No e-mail matches.', query);
  const page = await open(`/transactional/${utr}`);
  t.match(page.text, (await stateOf(app, utr)).message_id.split('@')[0]);
  t.match(page.text, '250 2.0.0 OK');
  t.notMatch(page.text, '<script>alert');
  const other = cookieOf(app, addPerson(app, 'owner', { accountId: 2 }));
  t.equal((await app.page('GET', `/transactional/${utr}`, { headers: { cookie: other } })).status, 404);
});

t.test('the timeline of a contact has the transactional mails to their address', async (t) => {
  const { app } = await withRelay(t, () => TAKEN);
  const { email, id: contact_id } = app.db.prepare('SELECT id, email FROM contacts').get() as {
    email: string;
    id: number;
  };
  const utr = await sent(app, { ...RECEIPT, email });
  await app.background();
  const { body } = await app.one.call('GET', '/contacts/timeline', { query: { contact_id } });
  t.match(
    body.message.moments.find(({ kind }: { kind: string }) => kind === 'transactional'),
    { utr, state: 'accepted', subject: 'Order 12 & 13' },
  );
});
