/** Transactional mails in several states, for the pages that show them. */
import { randomUUID } from 'node:crypto';
import { DELIVERY_STATE, type DeliveryState } from '../../../src/database/schema/index.ts';
import { sentence } from '../../../src/errors/sentences.ts';
import { stored } from '../../../src/errors/stored.ts';
import type { TestApp } from '../app.ts';
import type { Naming } from './filled-account.ts';

const REPLIES: readonly (readonly [DeliveryState, string])[] = [
  ['accepted', '250 2.0.0 OK'],
  ['suppressed', stored(sentence('suppressed_bounce'))],
  ['bounced', '550 5.1.1 No such user here'],
];

/** Adds the mails to the first account. Returns the utr of one that bounced. */
export function fillTransactional(app: TestApp, naming: Naming): string {
  const add = app.db.prepare(`
    INSERT INTO transactional_mails (utr, user_id, sender_id, address_id, email, name, subject, attachments, size, message_key,
      message_domain, state, attempt, reply, created_at)
    SELECT @utr, 1, 1, id, normalized_email, @name, @subject, '[{"file_name":"1.pdf","type":"application/pdf","size":21000}]', 1, 'key',
      'example.com', @state, 1, @reply, @at FROM addresses WHERE user_id = 1 ORDER BY id LIMIT 1`);
  const at = app.clock.now().getTime();
  const given = { name: naming('Ann Lee'), subject: naming('Your order 4711'), at };
  const utrs = REPLIES.map(([state, reply]) => {
    const utr = randomUUID();
    add.run({ ...given, utr, state: DELIVERY_STATE[state], reply });
    return utr;
  });
  return utrs.at(-1) ?? '';
}
