/** A controller as a process, a campaign it has sent, and nodes that serve the pages of its recipients. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import { fetch } from 'undici';
import { type NatsCluster, startNats } from '../../fixtures/nats.ts';
import { readConfig } from '../../src/config.ts';
import { linkSecrets } from '../../src/delivery/links/secrets.ts';
import { createLinkTokens, openTokens, type Purpose } from '../../src/delivery/links/tokens.ts';
import { connectNats } from '../../src/nodes/connection.ts';
import { followLinks } from '../../src/nodes/link-secrets.ts';
import { NodeMetrics } from '../../src/nodes/node/node-metrics.ts';
import { servePublicPages } from '../../src/nodes/public/server.ts';
import { STREAM } from '../../src/nodes/streams.ts';
import { systemClock } from '../../src/time/clock.ts';
import { SHOP_FORM } from '../support/sender.ts';
import { Service } from '../support/service.ts';
import { countersOf, until } from '../support/service-campaign.ts';

const HTML = `<p>Hello ((first_name|you)), <a href="https://shop.example/new?u=((first_name|none))">new</a>
<a href="https://shop.example/plain">plain</a> <a href="((web_copy))">in the browser</a></p>`;
const READERS = 12;
const SETTINGS = { SENDER_VERIFICATION: 'optional', PUBLIC_URL: 'http://mail.example.com' };

export interface World {
  nats: NatsCluster;
  brain: Service;
  /** The database of the controller, read only. */
  read<T>(sql: string, ...values: unknown[]): T[];
  /** The token of the reader with this number, with their sealed address as in mails of nodes, or without it. */
  token(reader: number, purpose: Purpose, isSealed?: boolean | 'short'): string;
}

/** The databases of controllers that have sent the campaign, by its HTML. Sending it takes a second of CPU time, so later worlds get copies. */
const sentCampaigns = new Map<string, Buffer>();

/** NATS, the controller, and a campaign to the readers that is written to the outbox. */
export async function startWorld(t: Test, html = HTML): Promise<World> {
  const nats = await startNats(t);
  const brain = new Service(t, { ...SETTINGS, NATS_URL: nats.urls });
  const path = join(brain.folder, 'test.db');
  const database = sentCampaigns.get(html) ?? (await sendCampaign(t, html));
  sentCampaigns.set(html, database);
  writeFileSync(path, database);
  const read = <T>(sql: string, ...values: unknown[]): T[] => {
    const client = new Database(path, { readonly: true });
    try {
      return client.prepare<unknown[], T>(sql).all(...values);
    } finally {
      client.close();
    }
  };
  await brain.start();
  // Before the service has reached NATS it does not record which changes are to be published.
  const applied = `applied_${STREAM.consents}`;
  await until(
    () => read<{ made: string }>("SELECT value ->> 'made' AS made FROM installation WHERE name = ?", applied),
    ([place]) => (place?.made ?? '') !== '',
  );
  const token = (reader: number, purpose: Purpose, isSealed: boolean | 'short' = true) => {
    const email = `reader${reader}@example.org`;
    const client = new Database(path);
    const ids = client
      .prepare<[string], { delivery: number; mailing: number; address: number }>(
        `SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address FROM deliveries d
         JOIN addresses a ON a.id = d.address_id WHERE a.normalized_email = ?`,
      )
      .get(email);
    if (ids === undefined) throw new Error(`no delivery to ${email}`);
    const secrets = linkSecrets(client);
    const short = openTokens(client).recipient({ ...ids, group: 1, user: 1, email })[purpose];
    client.close();
    if (isSealed === 'short') return short;
    const unsigned = { deliveries: 0, mailings: 0, addresses: 0 };
    const tokens = createLinkTokens(secrets, { findEmail: () => undefined, unsigned, sealsAddress: isSealed });
    return tokens.recipient({ ...ids, group: 1, user: 1, email })[purpose];
  };
  return { nats, brain, read, token };
}

/** The database of a service that has sent the campaign by itself, without nodes. */
async function sendCampaign(t: Test, html: string): Promise<Buffer> {
  const service = new Service(t, SETTINGS);
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  const lines = Array.from({ length: READERS }, (_, at) => `reader${at}@example.org,Reader${at}`);
  await service.upload(1, ['email,first_name', ...lines].join('\n'));
  for (const name of ['News', 'Offers']) {
    await service.post('/unsubscribes-groups/save', {
      group_name: name,
      description: `About ${name}`,
      is_display: '1',
    });
  }
  await service.post('/sender/save', SHOP_FORM);
  const answer = await service.post('/single/send/create', {
    template_id: '1',
    template_html: html,
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'News',
    subject: 'News',
    preheader: 'News',
    'recipient_id[0]': 'contacts_1',
    schedule_type: '0',
  });
  const { utr } = answer.message as { utr: string };
  await until(
    () => countersOf(service, utr),
    ({ delivered }) => delivered === READERS,
  );
  await service.end('SIGTERM');
  return readFileSync(join(service.folder, 'test.db'));
}

/** A node's public pages in this process; gives their origin. */
export async function startPages(t: Test, { nats }: Pick<World, 'nats'>): Promise<string> {
  const config = readConfig({ NATS_URL: nats.urls, PORT: '0', LOG_LEVEL: 'fatal', SHUTDOWN_SECONDS: '0' });
  const ending = new AbortController();
  const options = { name: 'node test', signal: ending.signal, log: () => undefined };
  const connection = await connectNats(config, options);
  const links = followLinks(connection, ending.signal);
  const metrics = new NodeMetrics();
  const pages = await servePublicPages({ config, clock: systemClock, metrics });
  pages.use({ connection, links });
  t.teardown(async () => {
    ending.abort();
    await pages.close();
    metrics.close();
    await connection.close();
  });
  await until(() => links.isKnown(), Boolean);
  return pages.origin;
}

export interface Page {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Opens a page without following where it leads. */
export async function open(address: string, form?: Record<string, string>): Promise<Page> {
  const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
  const answer = await fetch(address, { redirect: 'manual', ...init });
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !CHANGING.includes(name)));
  return { status: answer.status, headers, text: await answer.text() };
}

/** Headers that differ between two answers of one page. */
const CHANGING = ['date', 'connection', 'keep-alive'];
