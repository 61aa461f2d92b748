/** Relays by clicking, in a real browser: what is wrong is named on the screen, and put right there. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import t from 'tap';
import {
  excessWidth,
  findBarriers,
  launch,
  openTab,
  RULES_OF_COLOURS,
  smallTargets,
} from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';
import { localhostCertificate } from '../support/smtp/certificate.ts';
import { followingCourier } from '../support/smtp/following-courier.ts';
import { skipWithout } from '../support/tools.ts';
import { PHONE } from '../support/walked-pages.ts';

const PASSWORD = 'right-canary';

t.test('a relay is added, tested, put right and used by clicking', { skip: skipWithout('chromium') }, async (t) => {
  let isSenderKnown = false;
  let received = 0;
  const server = new SMTPServer({
    ...localhostCertificate(),
    authOptional: true,
    onAuth: ({ password }, _session, done) =>
      password === PASSWORD ? done(null, { user: 'shop' }) : done(new Error('5.7.8 wrong password')),
    onMailFrom: (_address, _session, done) => done(isSenderKnown ? null : new Error('5.7.1 not your domain')),
    onData: (stream, _session, done) => {
      received++;
      stream.resume().on('end', () => done());
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;

  const browser = await launch(t);
  const { app, body } = await readyToSend(t, { SENDER_VERIFICATION: 'optional' }, followingCourier);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
  const { page, complaints } = await openTab(t, browser, origin, { cookie: cookieOf(app, addPerson(app)) });
  const desk = page.viewportSize() ?? { width: 1280, height: 800 };
  const look = async (name: string) => {
    for (const [size, viewport] of [
      ['phone', PHONE],
      ['desk', desk],
    ] as const) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const rules = colorScheme === 'dark' ? RULES_OF_COLOURS : undefined;
        t.strictSame(await findBarriers(page, rules), [], `${name} ${size} ${colorScheme}: axe finds nothing`);
      }
      t.ok((await excessWidth(page)) <= 0, `${name} ${size}: nothing sticks out`);
      t.strictSame(await smallTargets(page), [], `${name} ${size}: every control can be hit`);
    }
  };
  const testNow = async (found: string, reply = '') => {
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(found).waitFor();
    if (reply !== '') await page.getByText(reply).waitFor();
  };

  await page.goto(`${origin}/settings/senders`);
  await page.getByRole('link', { name: 'SMTP servers', exact: true }).click();
  await page.getByRole('link', { name: 'Add SMTP server' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Provider');
  await page.getByLabel('Server', { exact: true }).fill('localhost');
  await page.getByLabel('Port').fill(`${port}`);
  await page.getByLabel('User name').fill('shop');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('This is required.').waitFor();
  t.equal(await page.getByLabel('Server', { exact: true }).inputValue(), 'localhost', 'what was typed is kept');
  await page.getByLabel('Password').fill('wrong-canary');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('The SMTP server was added.').waitFor();
  t.notMatch(await page.content(), 'canary');
  await testNow('comes from an authority that Sendlark does not trust', 'self-signed certificate');
  await look('relay-certificate');

  await page.getByLabel('Encryption').selectOption('None: same server or private network only');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await testNow('The server refuses user name or password.', 'wrong password');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await testNow('does not accept mail from this sender', 'not your domain');
  await look('relay-sender');
  isSenderKnown = true;
  await testNow('The server would accept this e-mail.');

  await createSend(app, body);
  app.clock.advance(11_000);
  await app.background();
  t.equal(received, 3, 'mail goes through it');
  await page.getByRole('link', { name: 'SMTP servers', exact: true }).click();
  await page.getByText('Working', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Add SMTP server' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Another one with a long name '.repeat(4));
  await page.getByLabel('Server', { exact: true }).fill(`${'very-long-name.'.repeat(9)}example.com`);
  await look('relay-new');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('The SMTP server was added.').waitFor();
  await page.getByRole('link', { name: 'SMTP servers', exact: true }).click();
  await page.getByRole('button', { name: 'Move before Provider' }).waitFor();
  await look('relays');
  await page.getByRole('button', { name: 'Move before Provider' }).click();
  await page.getByText('The order was changed.').waitFor();
  t.match(await page.getByRole('rowheader').first().textContent(), /^Another/);
  await page.getByRole('link', { name: 'Provider' }).click();
  await page.getByRole('button', { name: 'Delete SMTP server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete SMTP server' }).click();
  await page.getByText('The SMTP server and its password were deleted').waitFor();
  const others = complaints.filter((complaint) => !complaint.includes('status of 422'));
  t.strictSame(others, [], 'the browser complains of nothing but the form that was refused');
});
