/** Webhooks of an account to look at: one that works, one that was switched off, and what they were sent. */
import { sentence } from '../../../src/errors/sentences.ts';
import { stored } from '../../../src/errors/stored.ts';
import { disableEndpoint } from '../../../src/webhooks/endpoints.ts';
import type { TestApp } from '../app.ts';
import { addWebhook } from './dispatching.ts';

/** Adds them to account 1; gives the id of the one that was switched off. */
export async function addLoggedWebhooks({ one, db, clock }: TestApp): Promise<number> {
  const working = await addWebhook(one, 'https://shop.example.com/hooks/sendlark', ['contact.created', 'mail.bounced']);
  const failing = await addWebhook(one, `https://crm.example.net/${'long/'.repeat(40)}`, ['contact.unsubscribed']);
  const now = clock.now().getTime();
  const log = db.prepare(`
    INSERT INTO webhook_log (endpoint_id, event_id, type, attempt, is_success, status, reply, took_ms, at)
    VALUES (@endpoint, @event, @type, @attempt, @taken, @status, @reply, @took, @at)`);
  const { event_id: event } = (await one.call('POST', '/webhooks/test', { form: { id: working.id } })).body.message;
  for (let at = 0; at < 30; at++) {
    const taken = { attempt: 1, taken: 1, status: 204, reply: '', took: 12 };
    log.run({ endpoint: working.id, event, type: 'contact.created', at: now - at * 60_000, ...taken });
    const refused = { attempt: 1 + (at % 11), taken: 0, status: at % 2 === 0 ? 302 : 0, took: 15_000 };
    const reply = stored(sentence(at % 2 === 0 ? 'webhook_redirect' : 'webhook_silent'));
    log.run({ endpoint: failing.id, event: 9000 + at, type: 'contact.unsubscribed', at: now - at, reply, ...refused });
  }
  db.prepare('UPDATE webhook_endpoints SET succeeded_at = ? WHERE id = ?').run(now - 90_000, working.id);
  db.prepare('UPDATE webhook_endpoints SET failures = 11, failed_at = ?, note = ? WHERE id = ?').run(
    now,
    'CRM',
    failing.id,
  );
  disableEndpoint(db, failing.id, 'failing', clock.now());
  return failing.id;
}
