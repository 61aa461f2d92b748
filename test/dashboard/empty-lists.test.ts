/** Empty lists of the dashboard: each leads on. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, cookieOf } from '../support/people.ts';

t.test('each empty list has a next step that leads to a page', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  const check = async (path: string) => {
    const { status, text } = await app.page('GET', path, { headers: { cookie } });
    t.equal(status, 200, path);
    const [, action] = /<div class="empty">.+?<\/p>(?:<div[^>]*>)?<a [^>]*href="([^"]+)"/s.exec(text) ?? [];
    t.ok(action, `${path} has a next step`);
    const next = await app.page('GET', action ?? '', { headers: { cookie } });
    t.ok([200, 303].includes(next.status), `${path} leads to ${action}`);
  };
  for (const path of ['/campaigns', '/contacts', '/contacts/segments', '/automations', '/forms', '/transactional'])
    await check(path);
  for (const path of ['/templates', '/settings/audit?before=1', '/settings/nodes']) await check(path);
  const draft = await mustSucceed(t, app.one)('/single/send/draft', { single_send_name: 'Spring' });
  await check(`/campaigns/${(draft as { utr: string }).utr}/links`);
});
