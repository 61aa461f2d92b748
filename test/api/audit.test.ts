/** The audit log: every change that only owners may make, or people to their own sign-in, and every erasing, leaves an entry. */
import t from 'tap';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { addPasskey } from '../../src/users/passkeys/passkeys.ts';
import { type CallOptions, startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf, cookieOf } from '../support/people.ts';

const SENDER = {
  from_name: 'Shop',
  from_email: 'shop@example.com',
  reply_to_email: 'shop@example.com',
  country_id: 84,
  company_address: '1 Harbour St',
  nickname: 'Shop',
};

/** A request for each change, in an order that works, and the action that it leaves in the log. */
const CHANGES: Record<string, { action: string } & CallOptions> = {
  'POST /dkim/create': { form: { domain: 'example.com' }, action: 'dkim_key_made' },
  'POST /dkim/rotate': { form: { domain: 'example.com' }, action: 'dkim_key_made' },
  'DELETE /dkim/delete': { query: { id: 1 }, action: 'dkim_key_removed' },
  'POST /users/invite': { form: { email: 'ann@example.org', role: 'viewer' }, action: 'login_link_made' },
  'POST /users/update': { form: { id: 2, role: 'editor' }, action: 'user_changed' },
  'POST /users/link': { form: { id: 2 }, action: 'login_link_made' },
  'DELETE /users/delete': { query: { id: 2 }, action: 'user_removed' },
  'POST /me/update': { form: { language: 'de' }, action: 'settings_changed' },
  'DELETE /passkeys/delete': { query: { id: 1 }, action: 'passkey_removed' },
  'POST /keys/create': { form: { name: 'Shop', scopes: ['read'] }, action: 'key_made' },
  'DELETE /keys/delete': { query: { id: 1 }, action: 'key_revoked' },
  'POST /provider-events/create': { form: { provider: 'ses' }, action: 'provider_added' },
  'DELETE /provider-events/delete': { query: { id: 1 }, action: 'provider_removed' },
  'POST /relays/save': {
    form: { name: 'Relay', host: '127.0.0.1', port: 1, security: 'none' },
    action: 'relay_added',
  },
  'POST /relays/test': { form: { id: 1 }, action: 'relay_tested' },
  'POST /relays/order': { form: { strIds: ['1'] }, action: 'relays_ordered' },
  'POST /relays/delete': { form: { id: 1 }, action: 'relay_removed' },
  'POST /public-address/save': { form: { public_url: 'https://mail.example.com' }, action: 'public_address_changed' },
  'POST /sender/save': { form: SENDER, action: 'sender_added' },
  'POST /sender/update': { form: { ...SENDER, sender_id: 1, nickname: 'Store' }, action: 'sender_changed' },
  'POST /senders/warm-ups/save': { form: { domain: 'example.com', until_volume: 100 }, action: 'warm_up_saved' },
  'POST /senders/warm-ups/stop': { form: { domain: 'example.com' }, action: 'warm_up_stopped' },
  'DELETE /sender/delete': { query: { sender_id: 1 }, action: 'sender_removed' },
  'POST /webhooks/save': {
    form: { url: 'https://hooks.example.com/', events: ['contact.created'] },
    action: 'webhook_added',
  },
  'POST /webhooks/switch': { form: { id: 1, is_enabled: 0 }, action: 'webhook_switched' },
  'POST /webhooks/rotate-secret': { form: { id: 1 }, action: 'webhook_secret_rotated' },
  'POST /webhooks/delete': { form: { id: 1 }, action: 'webhook_removed' },
  'POST /archive/save': { form: { slug: 'shop' }, action: 'archive_changed' },
  'POST /sending/limits/save': { form: { auto_hold: 1 }, action: 'auto_hold_on' },
  'POST /sunset/save': { form: { is_on: 1, months: 12, least_mails: 5, action: 'stop' }, action: 'sunset_on' },
  'POST /sunset/lift-all': { action: 'sunset_lifted' },
  'POST /tracking/save': { form: { mode: 'totals' }, action: 'tracking_changed' },
  'POST /sending/mails/save': { form: { stops_errors: 1 }, action: 'mail_settings_changed' },
  'POST /sending/caps/save': { form: { caps: ['3/7'] }, action: 'mail_caps_changed' },
  'POST /sending/window/save': {
    form: { days: ['1'], opens: '09:00', closes: '18:00' },
    action: 'send_window_changed',
  },
  'POST /sending/release': { action: 'sending_released' },
  'POST /backups/restore': { action: 'restore_confirmed' },
  'POST /contacts/person/erase': { form: { contact_id: 1 }, action: 'person_erased' },
  'DELETE /sessions/delete': { query: { id: 4 }, action: 'session_ended' },
};

/** What needs no entry, with the reason. */
const WITHOUT_ENTRY: Record<string, string> = {
  'POST /webhooks/test': 'sends a test, and changes no webhook',
  'POST /webhooks/replay': 'sends an event once more, and changes no webhook',
  'POST /health/public-address': 'looks at the public address, and changes nothing',
  'POST /health/returned-mail': 'sends a test mail to the service itself, and changes nothing',
  'POST /backups/upload': 'changes nothing before it is confirmed',
  'POST /backups/upload/drop': 'changes nothing',
  'DELETE /role-mails/delete': 'removes a mail that an operator has read, and changes no setting',
  'POST /senders/checks/renew': 'asks the DNS, and changes no sender',
  'POST /senders': 'lists the senders, as its GET does',
  'GET /sender/resend-mail': 'sends the verification mail once more, and changes no sender',
};

t.test(
  'every change of users, keys, sessions, settings, senders and relays, and every erasing, is in the log',
  async (t) => {
    const app = await startApp(t, { PUBLIC_URL: '' });
    const [owner, editor, viewer, other] = [
      callerOf(app, addPerson(app)),
      callerOf(app, addPerson(app, 'editor')),
      callerOf(app, addPerson(app, 'viewer')),
      addPerson(app, 'owner', { name: 'Other' }),
    ];
    const changes: string[] = [];
    for (const { method, path } of operationsOf(await readDocument(app))) {
      const inApi = path.slice('/api'.length);
      if (method === 'GET' && !inApi.endsWith('/resend-mail')) continue;
      const isOwners = (await editor.call(method, inApi)).status === 403;
      const isEverybodys = (await viewer.call(method, inApi)).status !== 403;
      if (isOwners || isEverybodys || inApi.endsWith('/erase')) changes.push(`${method} ${inApi}`);
    }
    t.strictSame(
      changes.sort(),
      [...Object.keys(CHANGES), ...Object.keys(WITHOUT_ENTRY)].sort(),
      'each is tried below or named with the reason why not',
    );

    cookieOf(app, other);
    const passkey = { credentialId: 'x', publicKey: new Uint8Array([1]), counter: 0, transports: [] };
    addPasskey(app.drizzle, other, 'phone', passkey, COMMAND_LINE, app.clock.now());
    await owner.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    await owner.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename: 'readers.csv', content: 'email\nzoe@example.org\n' }],
      ],
    });
    const entries = () => app.db.prepare('SELECT actor, action FROM audit_log ORDER BY id').all();
    const { rawPayload: content } = await app.fastify.inject({ url: '/api/backups/download', headers: owner.headers });
    const multipart: CallOptions['multipart'] = [['file', { filename: 'backup.db', content }]];
    const { upload_id } = (await owner.call('POST', '/backups/upload', { multipart })).body.message.restore;
    holdSending(app.db, 'Held');
    for (const [change, { action, ...options }] of Object.entries(CHANGES)) {
      const [method = '', path = ''] = change.split(' ');
      const given = path === '/backups/restore' ? { form: { upload_id } } : options;
      const before = entries().length;
      const { status, text } = await owner.call(method, path, given);
      t.equal(status, 200, `${change}: ${text}`);
      t.match(entries().slice(before).at(-1), { actor: 'owner@example.org', action }, change);
    }
  },
);
