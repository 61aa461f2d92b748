/**
 * A newcomer's first six minutes: from an empty folder to a campaign that was received and an automation that is live, without
 * the command line, at the pace of a person.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { launch, openTab } from '../../support/dashboard/browser.ts';
import { type Hands, keyboard, mouse, timed } from '../../support/dashboard/hands.ts';
import { type Sink, startSink } from '../../support/service.ts';
import { skipWithout } from '../../support/tools.ts';
import { until } from '../../support/until.ts';

/** Where recipients would reach the service; what a link in a mail leads to is opened on this machine instead. */
const PUBLIC = 'https://mail.shop.example';
const PEOPLE = 'email,first_name,city\nann@example.org,Ann,Kiel\nbob@example.org,Bob,Bonn\n';
const LATER = 'email,first_name,city\nzoe@example.org,Zoë,Rome\n';
/** Sending and verifying take moments; a busy machine takes longer. */
const PATIENCE_MS = 60_000;
/** The time of a person from the sign-in link to the campaign and the automation. */
const MOST_SECONDS = 6 * 60;
/** Of that, outside the dashboard: to open the sign-in link, the confirmation mail, its link, and the dashboard again. */
const OUTSIDE_SECONDS = 4 * 2;

/** Starts the built program in an empty folder; gives the link for signing in. */
async function started(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-newcomer-'));
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    RECALL_SECONDS: '2',
    LOG_LEVEL: 'error',
  };
  const child: ChildProcess = spawn(process.execPath, [resolve('dist/cli.js'), 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.teardown(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });
  // Without a terminal the link is in a file that only its owner can read.
  const keys = join(folder, 'first-sign-in.txt');
  await until(() => existsSync(keys) && /\/welcome\S+\n/.test(readFileSync(keys, 'utf8')));
  return /^http\S+\/welcome\S+$/m.exec(readFileSync(keys, 'utf8'))?.[0] ?? '';
}

/** What is received for this address with this subject, as soon as it is. */
async function received(page: Page, sink: Sink, address: string, subject: string): Promise<string> {
  for (let waited = 0; waited < PATIENCE_MS; waited += 100) {
    for (const { to, raw } of sink.mails) {
      const mail = await PostalMime.parse(raw);
      if (to === address && mail.subject === subject) return mail.text ?? '';
    }
    await page.waitForTimeout(100);
  }
  const got = await Promise.all(sink.mails.map(async ({ to, raw }) => [to, (await PostalMime.parse(raw)).subject]));
  throw new Error(`no mail “${subject}” for ${address}, only ${JSON.stringify(got)}`);
}

/** Does it all, with these hands. */
async function walk(page: Page, hands: Hands, welcome: string, sink: Sink): Promise<void> {
  page.setDefaultTimeout(PATIENCE_MS);
  const link = (name: string | RegExp) => page.getByRole('link', { name, exact: true }).first();
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const field = (label: string | RegExp) => page.getByLabel(label, { exact: true });
  const home = () => hands.press(link('Home'));
  const importPeople = async (csv: string, type: string | null) => {
    await hands.press(link('Contacts'));
    await hands.press(link('Import contacts'));
    await hands.hand(page.locator('input[type=file]'), {
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv),
    });
    await hands.press(button('Upload file'));
    if (type !== null) await hands.type(field('Name of a new list'), type);
    await hands.press(button('Preview import'));
    await hands.press(button(/^Import: add \d+$/));
    await page.getByText('Done.', { exact: true }).waitFor();
  };

  // The first sign-in.
  await page.goto(welcome);
  await hands.type(field('Your name'), 'Olive');
  await hands.type(field('E-mail address'), 'olive@shop.example');
  await hands.type(page.getByLabel('New password'), 'four words that differ');
  await hands.press(button('Save and sign in'));

  // A relay.
  await hands.press(link('Connect an SMTP server'));
  await hands.type(field('Web address for links, images and unsubscribe pages'), PUBLIC);
  await hands.press(button('Save tracking domain'));
  await hands.press(link('Add SMTP server'));
  const { hostname, port } = new URL(sink.url);
  await hands.type(field('Name'), 'Provider');
  await hands.type(field('Server'), hostname);
  await hands.pick(field('Encryption'), 'None: same server or private network only');
  await hands.type(field('Port'), port);
  await hands.press(button('Add'));

  // A sender, verified by the link in its mail.
  await hands.press(link('Senders'));
  await hands.press(link('Add sender'));
  await hands.type(field('From name'), 'Olive’s shop');
  await hands.type(field('From address'), 'olive@shop.example');
  await hands.type(field('Reply-to address'), 'olive@shop.example');
  await hands.type(field('Internal name'), 'Shop');
  await hands.type(field('Postal address'), '1 Harbour St');
  await hands.pick(field('Country'), 'Germany');
  await hands.press(button('Add'));
  // The mail may be there before the page that follows.
  await page.waitForURL(({ pathname }) => pathname === '/settings/senders');
  const confirmation = await received(page, sink, 'olive@shop.example', 'Confirm olive@shop.example');
  await page.goto(
    new URL(/(?<=https:\/\/mail\.shop\.example)\/verify\/\S+/.exec(confirmation)?.[0] ?? '', welcome).href,
  );
  await hands.press(button('Yes, confirm this address'));
  await page.getByRole('heading', { name: 'Address confirmed' }).waitFor();
  await page.goto(new URL('/', welcome).href);

  await importPeople(PEOPLE, 'Readers');

  // A campaign.
  await home();
  await hands.press(link('New campaign'));
  await hands.type(field('Internal name'), 'Spring');
  await hands.press(button('Create draft'));
  await hands.type(page.getByLabel('Name of the topic'), 'Newsletter');
  await hands.press(button('Create and choose'));
  await hands.tick(field('Send to Readers'));
  await page.getByText('Goes to 2 contacts').waitFor();
  await hands.press(button('Save and continue'));
  await hands.type(field('Subject'), 'Spring, ((first_name))');
  await hands.type(field('Preview text'), 'New things');
  await hands.press(link('Choose a template'));
  await hands.press(button('Use Plain letter'));
  await hands.press(link('Check'));
  await page.getByText('Audience, sender, topic and content are set.').waitFor();
  await hands.press(button('Send the test'));
  await received(page, sink, 'olive@shop.example', 'Spring,');
  await hands.press(link('Schedule'));
  await hands.press(button('Send to 2 contacts'));
  await received(page, sink, 'ann@example.org', 'Spring, Ann');
  await received(page, sink, 'bob@example.org', 'Spring, Bob');
  await page.locator('.badge', { hasText: 'Sent' }).waitFor();

  // An automation.
  await hands.press(link('Automations'));
  await hands.press(link('New automation'));
  await hands.type(field('Internal name'), 'Welcome');
  await hands.pick(field('Trigger'), 'Readers (list, 2 contacts)');
  await hands.press(button('Create automation'));
  await hands.press(link('Add an e-mail'));
  await hands.type(field('Subject'), 'Welcome, ((first_name))');
  await hands.pick(field('Start with'), 'Plain letter');
  await hands.press(button('Add an e-mail'));
  await hands.press(link('Back to all e-mails'));
  await hands.press(link('Back to the automation'));
  await hands.press(button('Start').first());
  await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Start' }));
  await page.getByText('The automation is live.', { exact: true }).waitFor();
  await importPeople(LATER, null);
  await received(page, sink, 'zoe@example.org', 'Welcome, Zoë');
}

t.test(
  'a newcomer comes from an empty folder to a received campaign and a live automation',
  { skip: skipWithout('chromium') },
  async (t) => {
    const browser = await launch(t);
    for (const name of ['mouse', 'keyboard'] as const) {
      t.test(`with the ${name} alone`, async (t) => {
        const sink = await startSink(t);
        const welcome = await started(t);
        const { page, complaints, outside } = await openTab(t, browser, new URL(welcome).origin, {
          reducedMotion: name === 'mouse' ? 'no-preference' : 'reduce',
        });
        const { hands, seconds } = timed(name === 'mouse' ? mouse() : keyboard(page));
        await walk(page, hands, welcome, sink);
        const taken = Math.round(OUTSIDE_SECONDS + seconds());
        t.comment(`${taken} seconds of a person, without waiting for pages`);
        t.ok(taken < MOST_SECONDS);
        t.strictSame(complaints, []);
        t.strictSame(outside, []);
      });
    }
  },
);
