/** Limits of mails per person in the built service as a process that is killed. Run `npm run build` before. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../../src/database/open.ts';
import { SENDER } from '../../support/sender.ts';
import { Service, startSink } from '../../support/service.ts';

const PEOPLE = 120;
const SETTINGS = { SENDER_VERIFICATION: 'optional', SHUTDOWN_SECONDS: '2', RECALL_SECONDS: '0' };

const messageId = (raw: Buffer) => /^Message-ID: (\S+)/im.exec(String(raw))?.[1] ?? '';

t.test(
  'of three mailings at once each person gets one, also when the service is killed with kill -9 in between',
  async (t) => {
    const sink = await startSink(t);
    const service = new Service(t, { ...SETTINGS, SMTP_URL: sink.url });
    await service.start();
    await service.post('/sender/save', { ...SENDER, country_id: '1' });
    await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: '1' });
    await service.post('/contacts-type/add', { name: 'Everybody' });
    await service.post('/sending/caps/save', { 'caps[0]': '1/1' });
    const db = connect(join(service.folder, 'test.db'));
    t.teardown(() => db.$client.close());
    db.$client.exec(`
    INSERT INTO addresses (user_id, normalized_email)
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${PEOPLE}) SELECT 1, 'p' || at || '@example.org' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
      SELECT 1, 1, id, 'P', normalized_email, 1, '', '' FROM addresses WHERE normalized_email GLOB 'p*@example.org' ORDER BY id`);
    const before = sink.mails.length;
    sink.allow(before + 20);
    for (const name of ['one', 'two', 'three'])
      await service.post('/single/send/create', {
        template_id: '1',
        template_html: '<p>Hello</p>',
        sender_id: '1',
        unsubscribe_group_id: '1',
        single_send_name: name,
        subject: name,
        preheader: 'x',
        'recipient_id[0]': 'contacts_1',
        schedule_type: '0',
      });
    // The relay takes more texts than it answers, so that the kill comes between hand-offs and their results.
    for (const allowed of [50, 90, Number.POSITIVE_INFINITY]) {
      const taken = sink.mails.length;
      while (sink.mails.length < Math.max(taken + 1, before + 25)) await pause(5);
      await service.end('SIGKILL');
      sink.allow(before + allowed);
      await service.start();
    }
    const open = db.$client
      .prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'single' AND finished_at IS NULL")
      .pluck();
    while (open.get() !== 0) await pause(20);
    const counts = db.$client
      .prepare(
        "SELECT state, count(*) AS people FROM deliveries WHERE mailing_id IN (SELECT id FROM mailings WHERE owner_kind = 'single') GROUP BY state",
      )
      .all();
    t.strictSame(counts, [
      { state: 2, people: PEOPLE },
      { state: 5, people: 2 * PEOPLE },
    ]);
    const had = new Map<string, Set<string>>();
    const toPeople = sink.mails.filter(({ to }) => to.startsWith('p'));
    for (const { to, raw } of toPeople) had.set(to, (had.get(to) ?? new Set()).add(messageId(raw)));
    t.equal(had.size, PEOPLE);
    t.ok(
      [...had.values()].every(({ size }) => size === 1),
      'one mail each; what is repeated after a kill is the same mail',
    );
  },
);
