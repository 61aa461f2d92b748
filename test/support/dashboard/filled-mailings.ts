/** Mailings in the states that an owner looks at: opened and clicked, under way, and held. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { recountReasons } from '../../../fixtures/mailing-counters.ts';
import { releaseSending } from '../../../src/delivery/queue/holds.ts';
import { HOUR_MS } from '../../../src/units.ts';
import type { TestApp } from '../app.ts';
import { mustSucceed, readOutbox } from '../campaign.ts';
import { flushHits } from '../recipient-links.ts';
import type { Naming } from './filled-account.ts';
import { fillTrials, TRIALS } from './filled-trials.ts';

const READERS = 12;
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140' };
const PHONE = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/15E148' };
const SCANNER = { 'user-agent': 'a scanner bot' };
const DESIGN = new URL('../../../data/templates/newsletter.html', import.meta.url);

/** Adds the mailings to an account that `fillAccount` has filled. Returns their utrs by what they show. */
export async function fillMailings(
  t: Test,
  app: TestApp,
  naming: Naming,
): Promise<Record<'opened' | 'sending' | 'held' | keyof typeof TRIALS, string>> {
  // A month without the background is taken for a clock that went wrong, until somebody says that it is right.
  releaseSending(app.db, app.clock.now().getTime());
  const opened = await create(t, app, 'Saturday workshop');
  app.clock.advance(11_000);
  await app.background();
  await visit(app);
  await mustSucceed(t, app.one)('/single/send/archive', { utr: opened, is_archived: 1 });
  await mustSucceed(t, app.one)('/archive/save', { slug: 'lark-books', title: 'Lark Books' });
  const [tested, won] = [await create(t, app, TRIALS.tested), await create(t, app, TRIALS.won)];
  const undecided = await create(t, app, TRIALS.undecided);
  const [waiting, stopped] = [await create(t, app, TRIALS.waiting), await create(t, app, TRIALS.stopped)];
  const sending = await create(t, app, 'Winter opening hours');
  app.clock.advance(11_000);
  await app.background();
  const trials = { tested, won, undecided, waiting, stopped };
  fillTrials(app, naming, trials);
  app.db
    .prepare(`UPDATE mailings SET state = 'sending', finished_at = NULL, recipients = 48210, delivered = 31102, bounces = 214, failed = 3,
      suppressed = 77 WHERE owner_kind = 'single' AND owner_id = (SELECT id FROM single_sends WHERE utr = ?)`)
    .run(sending);
  app.db.prepare('UPDATE single_sends SET status = 2 WHERE utr = ?').run(sending);
  const held = app.db
    .prepare<[], string>("SELECT utr FROM single_sends WHERE single_send_name = 'Held for want of people'")
    .pluck()
    .get();
  if (held === undefined) throw new Error('the account has no held mailing');
  return { opened, sending, held, ...trials };
}

async function create(t: Test, app: TestApp, name: string): Promise<string> {
  const { utr } = (await mustSucceed(t, app.one)('/single/send/create', {
    template_id: 1,
    template_html: readFileSync(DESIGN, 'utf8'),
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: name,
    subject: `${name}, ((first_name|you))`,
    preheader: 'News',
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  })) as { utr: string };
  return utr;
}

/** Some of the readers open and click over a day, a scanner opens everything for one of them, one leaves, and two mails come back. */
async function visit(app: TestApp): Promise<void> {
  const mails = (await readOutbox(app)).slice(-READERS);
  for (const [at, { html, paths }] of mails.entries()) {
    app.clock.advance(HOUR_MS * (at % 3));
    const links = [...html.matchAll(/http:\/\/mail\.example\.com(\/c\/[^"]+)/g)].map(([, path = '']) => path);
    const headers = at === 0 ? SCANNER : at % 5 === 1 ? PHONE : BROWSER;
    if (at % 4 === 3) continue;
    await app.page('GET', paths.o ?? '', { headers });
    const clicked = at === 0 ? links : links.slice(0, at % 3);
    for (const link of clicked) await app.page('GET', link, { headers });
    if (at === 5) await app.page('POST', paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  }
  flushHits(app);
  await app.background();
  const mailing = "(SELECT max(id) FROM mailings WHERE owner_kind = 'single')";
  const fromLast = (at: number) =>
    `(SELECT id FROM deliveries WHERE mailing_id = ${mailing} ORDER BY id DESC LIMIT 1 OFFSET ${at})`;
  app.db.exec(`
    UPDATE deliveries SET state = 3, reply = '550 5.1.1 No such user here' WHERE id = ${fromLast(0)};
    UPDATE deliveries SET state = 4, reply = '451 4.7.1 Greylisted, please try again later' WHERE id = ${fromLast(1)};
    UPDATE mailings SET delivered = delivered - 2, bounces = bounces + 1, failed = failed + 1 WHERE id = ${mailing}`);
  recountReasons(app.db);
}
