import type { CDPSession, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { freePort } from '../../fixtures/free-ports.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { findBarriers, holdAnswers, launch, openTab, settled } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf, PASSWORD } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

const skip = skipWithout('chromium');

/** A service at an address of which browsers take passkeys, with an owner who has a password. */
async function start(t: Test) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const app = await startApp(t, { PUBLIC_URL: origin });
  const person = addPerson(app, 'owner', { name: 'Ada' });
  await app.fastify.listen({ host: '127.0.0.1', port });
  return { app, person, origin };
}

/** Gives a tab a device that keeps passkeys and recognizes its person, or fails to. */
async function addDevice(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    recognizes: (isUserVerified: boolean) => cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

/** Adds a passkey on the page of the account. */
async function addPasskey(page: Page, origin: string, name: string, password = PASSWORD): Promise<void> {
  await page.goto(`${origin}/settings/account`);
  const form = page.locator('form[action="/settings/passkeys/new"]');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Current password').fill(password);
  await form.getByRole('button', { name: 'Add a passkey' }).click();
}

const actions = (app: TestApp) =>
  app.db.prepare<[], string>("SELECT action || ' ' || subject FROM audit_log ORDER BY id").pluck().all();

t.test(
  'a passkey is added with the password, signs in without it and leads back, and is removed',
  { skip },
  async (t) => {
    const browser = await launch(t);
    const { app, person, origin } = await start(t);
    const { page, outside, complaints } = await openTab(t, browser, origin, { cookie: cookieOf(app, person) });
    // Without the offer in the field of the address, which the device would take before the button is clicked.
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    const device = await addDevice(page);
    await addPasskey(page, origin, 'Phone', 'wrong horse battery');
    await page.getByText('This is not your password.').waitFor();
    await addPasskey(page, origin, 'Phone');
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
    t.strictSame(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The passkey was added.').waitFor();
    t.equal((await device.credentials()).length, 1);
    t.match(await device.credentials(), [{ isResidentCredential: true, rpId: 'localhost' }]);

    await page.context().clearCookies();
    await page.goto(`${origin}/contacts?search=ann`);
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.waitFor();
    t.strictSame(await findBarriers(page), []);
    await button.click();
    await page.waitForURL(`${origin}/contacts?search=ann`);
    t.match(app.db.prepare('SELECT last_used_at, counter > 0 AS counted FROM passkeys').get(), {
      last_used_at: /^2026-01-15/,
      counted: 1,
    });

    await page.goto(`${origin}/settings/account`);
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page
      .getByRole('dialog', { name: 'Remove the passkey “Phone”?' })
      .getByRole('button', { name: 'Remove …' })
      .click();
    await page.getByText('The passkey was removed.').waitFor();
    await page.context().clearCookies();
    await page.goto(`${origin}/login`);
    await button.waitFor();
    await button.click();
    await page.getByText('This passkey is not known here').waitFor();
    t.strictSame(
      actions(app).filter((action) => /passkey|sign/.test(action)),
      [
        'sign_in_failed ',
        'passkey_added Phone',
        'signed_in passkey Phone',
        'passkey_removed ada@example.org: Phone',
        'sign_in_failed ',
      ],
    );
    t.strictSame(outside, []);
    t.strictSame(
      complaints.filter((text) => !/status of 4(22|01)/.test(text)),
      [],
    );
  },
);

t.test('a browser offers the passkey in the field of the address', { skip }, async (t) => {
  const browser = await launch(t);
  const { app, person, origin } = await start(t);
  const { page } = await openTab(t, browser, origin, { cookie: cookieOf(app, person) });
  await addDevice(page);
  const { promise: mayCome, resolve: letCome } = Promise.withResolvers<void>();
  await page.route(/passkey-new/, (route) => mayCome.then(() => route.continue()));
  await addPasskey(page, origin, 'Phone');
  const goOn = page.getByRole('button', { name: 'Continue' });
  t.ok(await goOn.isDisabled(), 'nobody can send the form before its script is there');
  letCome();
  await goOn.click();
  await page.getByText('The passkey was added.').waitFor();
  await page.context().clearCookies();
  await page.goto(`${origin}/login`);
  // The virtual device takes the offer at once.
  await page.waitForURL(`${origin}/`);
  t.match(actions(app).at(-1), 'signed_in passkey Phone');
});

t.test('an offer that comes after a click on the button does not end what the click began', { skip }, async (t) => {
  const browser = await launch(t);
  const { origin } = await start(t);
  const { page } = await openTab(t, browser, origin);
  await page.addInitScript(`{
    PublicKeyCredential.isConditionalMediationAvailable = async () => true;
    window.asked = [];
    navigator.credentials.get = ({ mediation = 'button' }) => { asked.push(mediation); return new Promise(() => {}); };
  }`);
  const offer = await holdAnswers(page, '**/login/passkey/request', () => offer.asked.length === 0);
  await page.goto(`${origin}/login`);
  await until(() => offer.asked.length === 1);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await until(() => page.evaluate('asked.length === 1'));
  await offer.release();
  await settled(page);
  t.strictSame(await page.evaluate('asked'), ['button']);
});
