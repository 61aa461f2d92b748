/** Letting contacts enter an automation from the pages of a contact, a segment and the automation: counted before, and by editors only. */
import t from 'tap';
import { mailsInBrief, withPaths } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** A draft with three contacts in its target, of whom ann is in a segment; its pages as a user of a role. */
async function withPages(t: Parameters<typeof withPaths>[0]) {
  const world = await withPaths(t);
  const { app, join } = world;
  for (const name of ['ann', 'bob', 'cleo']) await join(name);
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const as = (role: 'editor' | 'viewer') => {
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, role, { accountId: 1, name: role })) };
    return {
      open: async (path: string) => {
        const { status, text } = await app.page('GET', path, { headers });
        return { status, text: text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '), html: text };
      },
      send: async (path: string, fields: Record<string, string> = {}) => {
        const { statusCode, headers: sent } = await app.fastify.inject({
          method: 'POST',
          url: path,
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams(fields).toString(),
        });
        return { status: statusCode, location: sent.location };
      },
    };
  };
  const got = async () => {
    await app.background();
    return mailsInBrief(app).map((mail) => mail.slice('01-15T09:00 '.length));
  };
  return { ...world, as, got };
}

t.test('the dialog that starts it leads to the number of those in it, and starts it with them', async (t) => {
  const { utr, as, got } = await withPages(t);
  const { open, send } = as('editor');
  t.match((await open(`/automations/${utr}`)).html, `href="/automations/${utr}/enter"`);
  const page = await open(`/automations/${utr}/enter`);
  t.match(page.text, /Will enter 3 .*Start, and add 3 contacts/);
  t.strictSame(await got(), [], 'looking starts nothing');
  t.equal((await send(`/automations/${utr}/enter`)).status, 303);
  t.strictSame(await got(), ['ann one', 'bob one', 'cleo one']);
  t.match((await open(`/automations/${utr}/enter`)).text, /Will enter 0 Already in the automation 3/);
});

t.test('while contacts enter in the background, the page says so, and an editor stops it', async (t) => {
  const { utr, as, got, live } = await withPages(t);
  const { open, send } = as('editor');
  await live();
  t.notMatch((await open(`/automations/${utr}`)).html, /enter\/stop/);
  await send(`/automations/${utr}/enter`);
  const about = /Contacts who were in the list or segment before are being added in the background\./;
  t.match((await open(`/automations/${utr}`)).text, about);
  const viewer = as('viewer');
  const seen = await viewer.open(`/automations/${utr}`);
  t.match(seen.text, about);
  t.notMatch(seen.html, /enter\/stop/);
  t.equal((await viewer.send(`/automations/${utr}/enter/stop`)).status, 403);
  await send(`/automations/${utr}/pause`);
  t.match((await open(`/automations/${utr}`)).text, /They enter when the automation resumes\. *Stop adding contacts/);
  t.equal((await send(`/automations/${utr}/enter/stop`)).status, 303);
  t.notMatch((await open(`/automations/${utr}`)).html, /enter\/stop/);
  await live();
  t.strictSame(await got(), []);
});

t.test('from the page of a segment its contacts enter a live automation', async (t) => {
  const { utr, as, got, live } = await withPages(t);
  const { open, send } = as('editor');
  t.match((await open('/contacts/segments/1')).html, 'href="/automations/enter?segment_id=1"');
  t.match((await open('/automations/enter?segment_id=1')).text, 'No automation is live');
  t.match((await open(`/automations/${utr}/enter?segment_id=1`)).text, 'The automation is not live. Start it first.');
  await live();
  t.match((await open('/automations/enter?segment_id=1')).text, /Anns .*Welcome .*Count first/);
  const { location } = await send('/automations/enter', { utr, segment_id: '1' });
  t.equal(location, `/automations/${utr}/enter?segment_id=1`);
  t.match((await open(String(location))).text, /All contacts of the segment “Anns”\. Will enter 1 .*Add 1 contact/);
  await send(`/automations/${utr}/enter`, { segment_id: '1' });
  t.strictSame(await got(), ['ann one']);
});

t.test('from the page of a contact the contact enters, and the page says what became of it', async (t) => {
  const { utr, as, got, live } = await withPages(t);
  await live();
  const { open, send } = as('editor');
  t.match((await open('/contacts/2')).html, 'href="/automations/enter?contact_id=2"');
  const { status, location } = await send('/automations/enter', { utr, contact_id: '2' });
  t.strictSame([status, location], [303, '/contacts/2']);
  t.strictSame(await got(), ['bob one']);
});

t.test('viewers see no button, page or form for it', async (t) => {
  const { utr, as, got, live } = await withPages(t);
  await live();
  const { open, send } = as('viewer');
  for (const path of [`/automations/${utr}`, '/contacts/2', '/contacts/segments/1'])
    t.notMatch((await open(path)).html, /automations\/(enter|[^/"]+\/enter)/, path);
  for (const path of [
    `/automations/${utr}/enter`,
    '/automations/enter?contact_id=2',
    '/automations/enter?segment_id=1',
  ])
    t.equal((await open(path)).status, 403, path);
  t.equal((await send(`/automations/${utr}/enter`)).status, 403);
  t.equal((await send('/automations/enter', { utr, contact_id: '2' })).status, 403);
  t.strictSame(await got(), []);
});
