/** GET /api/health: what is well, what is not, and what to do. */
import { chmodSync } from 'node:fs';
import t, { type Test } from 'tap';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { RelayUse } from '../../src/delivery/queue/relay-use.ts';
import { recordBackup } from '../../src/installation/backups/last-backup.ts';
import type { Finding } from '../../src/installation/health-checks/finding.ts';
import { DAY_MS } from '../../src/units.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';

const RELAY = { SMTP_URL: 'smtp://user:canary-password@relay.example:587' };

/** The health of a started application, with its findings by name. */
async function examine(t: Test, app: TestApp) {
  const { status, text, body } = await app.one.call('GET', '/health');
  t.equal(status, 200, text);
  const { health } = body.message;
  const findings = new Map<string, Finding>(health.findings.map((finding: Finding) => [finding.name, finding]));
  return { health, findings, text };
}

t.test('where all is well every finding says so, and needs no advice', async (t) => {
  const app = await startApp(t, { ...RELAY, PUBLIC_URL: 'https://mail.example.com', TRUST_PROXY: '127.0.0.1' });
  chmodSync(app.db.name, 0o600);
  await app.background();
  recordBackup(app.db, new Date(app.clock.now().getTime() - DAY_MS).toISOString());
  const { health, findings, text } = await examine(t, app);
  for (const name of ['Settings', 'Clock', 'Sending', 'Background', 'SMTP server', 'Backup'])
    t.match(findings.get(name), { state: 'ok', advice: [] }, name);
  t.match(findings.get('Backup'), { found: 'the last backup is of 2026-01-14' });
  t.match(health, { courier: 'smtp', relays: ['relay.example:587'], now: /^2026-01-15T/, version: /^\d/ });
  t.ok(health.database_bytes > 0 && health.free_bytes > 0);
  t.notMatch(text, 'canary', 'no password is told');
});

t.test('what is wrong comes first, with what was found and what to do', async (t) => {
  const app = await startApp(t, { ...RELAY, PUBLIC_URL: '' });
  const now = app.clock.now().getTime();
  holdSending(app.db, 'Restored from a backup');
  const failure = { relay: 'relay.example:587', reply: '535 5.7.8 wrong password', at: now - 2 * 60_000 };
  new RelayUse(app.db).failed(failure);
  const { health, findings } = await examine(t, app);
  const states = health.findings.map(({ state }: Finding) => state);
  t.strictSame(
    states,
    [...states].sort((one, other) => 'fail warn ok'.indexOf(one) - 'fail warn ok'.indexOf(other)),
  );
  t.match(findings.get('Settings'), { state: 'fail', advice: [/PUBLIC_URL/] });
  t.match(findings.get('Background'), { state: 'fail', found: /stalled/, advice: [/restart/] });
  t.match(findings.get('Sending'), { state: 'warn', found: /Restored/, advice: [/sendlark release/] });
  t.match(findings.get('SMTP server'), { state: 'warn', found: 'failed 2 minutes ago: 535 5.7.8 wrong password' });
  t.match(findings.get('Backup'), { state: 'warn', advice: [/sendlark backup/] });
});

t.test('a failure of the relay is over after ten minutes, and of a storm of failures one is kept', async (t) => {
  const app = await startApp(t, RELAY);
  const at = app.clock.now().getTime();
  const relays = new RelayUse(app.db);
  for (let more = 0; more < 100; more++) relays.failed({ relay: 'relay.example:587', reply: `${more}`, at: at + more });
  t.match((await examine(t, app)).findings.get('SMTP server'), {
    state: 'warn',
    found: 'failed less than a minute ago: 0',
  });
  app.clock.advance(10 * 60_000);
  t.match((await examine(t, app)).findings.get('SMTP server'), { state: 'ok' });
});

t.test('only owners read it', async (t) => {
  const app = await startApp(t);
  for (const role of ['viewer', 'editor'] as const)
    t.equal((await callerOf(app, addPerson(app, role)).call('GET', '/health')).status, 403, role);
  t.equal((await callerOf(app, addPerson(app, 'owner')).call('GET', '/health')).status, 200);
});
