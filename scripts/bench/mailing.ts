/** A database file with a launched mailing in it, for benches and the crash test: N contacts, the content compiled. */
import { createAccount } from '../../src/database/accounts.ts';
import { type Db, migrateAndSeed } from '../../src/database/open.ts';
import { buildContent } from '../../src/delivery/mime/build.ts';
import type { FrozenContent } from '../../src/delivery/queue/mailings.ts';

const MOMENT = '2026-01-01T00:00:00.000000Z';
const CELL = 'style="padding:12px 24px;font-family:Arial,Helvetica,sans-serif;font-size:14px;color:#222222"';
const PROSE = 'Ordinary prose of the kind that newsletters hold, long enough to be read. ';
const PLACES = ['first_name|Reader', 'last_name', 'full_name', 'city', 'country', 'email', 'state', 'postal_code'];

/** HTML of about so many bytes once encoded, with three links, personalised in twelve places (the footer and the preferences are two of them). */
export function sampleHtml(bytes: number): string {
  const row = `<tr><td align="left" ${CELL}>${PROSE}</td></tr>\n`;
  const rows = Array.from({ length: Math.max(10, Math.round(bytes / (row.length * 1.5))) }, (_, at) =>
    at < 10 ? row.replace('prose', `prose ((${PLACES[at % PLACES.length]}))`) : row,
  );
  return `<!doctype html><html><body><table role="presentation" width="600">${rows.join('')}</table>
    <p><a href="https://shop.example/spring">Spring</a> <a href="https://shop.example/sale">Sale</a>
    <a href="https://shop.example/?for=((first_name))">For you</a></p>
    <p>((sender_address)) <a href="((unsubscribe_preferences))">Preferences</a></p></body></html>`;
}

/** Brings the schema up, adds contacts reader0@… to reader(N−1)@… and a single send to all of them that is to be laid out. */
export async function launchMailing(db: Db, people: number, html: string): Promise<void> {
  migrateAndSeed(db);
  const user = createAccount(db, { now: () => new Date(MOMENT), monotonic: () => 0 }, 'Main');
  const client = db.$client;
  client
    .prepare("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (?, 'Readers', ?, ?)")
    .run(user, MOMENT, MOMENT);
  const numbers = 'WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 < @people)';
  client.transaction(() => {
    client
      .prepare(`INSERT INTO addresses (user_id, compared_email)
        ${numbers} SELECT @user, printf('reader%07d@example.org', at) FROM n`)
      .run({ people, user });
    client
      .prepare(`
        INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, last_name, email, country_id, state, city,
          postal_code, created_at, updated_at)
        SELECT @user, 1, id, 'Zoë ' || id, 'Reader', compared_email, 1, 'Somewhere', 'Köln', '50667', @moment, @moment
        FROM addresses`)
      .run({ user, moment: MOMENT });
  })();
  const content = await buildContent({
    template_json: null,
    template_html: html,
    subject: 'News for ((first_name|you)) in ((city))',
    preheader: 'What happened this spring',
    tracking: true,
    footer: true,
  });
  const frozen: FrozenContent = {
    content,
    from_email: 'news@example.com',
    reply_to: 'news@example.com',
    sender_name: 'Example',
    sender_address: 'Example Ltd, 1 High Street, London',
    message_key: 'c0ffee',
  };
  const targets = [{ table: 'contacts', id: '1' }];
  client
    .prepare(`INSERT INTO senders (user_id, from_name, from_email, reply_to_email, country_id, company_address, nickname, is_verified,
        utr, send_at, created_at, updated_at)
      VALUES (?, 'Example', 'news@example.com', 'news@example.com', 1, 'Example Ltd, 1 High Street, London', 'e', 1, 'u', '', ?, ?)`)
    .run(user, MOMENT, MOMENT);
  client
    .prepare(`INSERT INTO single_sends (user_id, template_id, recipient_id, exclude_specific_recipient_id, sender_id,
        unsubscribe_group_id, single_send_name, from_sender, reply_to, subject, preheader, schedule_type, schedule_date, schedule_time,
        status, utr, sent_at, starts_at, created_at, updated_at)
      VALUES (?, 1, ?, '[]', 1, 0, 'News', '', '', '', '', 0, '', '', 2, 'u', '', 0, ?, ?)`)
    .run(user, JSON.stringify(targets), MOMENT, MOMENT);
  client
    .prepare(`INSERT INTO mailings (user_id, owner_kind, owner_id, sender_id, content, state, layout, created_at)
      VALUES (?, 'single', 1, 1, ?, 'layout', ?, ?)`)
    .run(user, JSON.stringify(frozen), JSON.stringify({ targets, excluded: [], target: 0, after: 0 }), MOMENT);
  const link = client.prepare('INSERT INTO links (mailing_id, number, url) VALUES (1, ?, ?)');
  content.links.forEach((url, number) => {
    link.run(number, url);
  });
}
