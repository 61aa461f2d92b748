/** A shop that uses every feature at once: what it does is asked of the API, and what leaves is noted by its relay. */
import type { Test } from 'tap';
import { randomOf } from '../../fixtures/random.ts';
import { type CallOptions, startApp, type TestApp } from '../support/app.ts';
import { rss, type Site, startSite } from '../support/feed-site.ts';
import { fieldsOf, flushHits } from '../support/recipient-links.ts';
import { type Left, relayOf } from './everything-relay.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** The agent of a person's mail program. */
const PERSON = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const MACHINE = { 'user-agent': 'python-requests/2.32.3' };

/** Where people are, by their domain, with the time in UTC at which it is 14:00 there in winter. */
export const HOMES = [
  { domain: 'gmail.com', country: 'Germany', at14: '13:00' },
  { domain: 'outlook.com', country: 'India', at14: '08:30' },
  // Its people have several zones, so that the account's holds.
  { domain: 'example.org', country: 'United States', at14: '14:00' },
] as const;

/** What a recipient or a machine did with a mail. */
interface Hit {
  mail: Left;
  isMachine: boolean;
  at: number;
}

export class Shop {
  readonly left: Left[] = [];
  readonly hits: Hit[] = [];
  /** When somebody left a group or all mail, by address. */
  readonly leavers = new Map<string, number>();
  /** The subjects of transactional mails by address. */
  readonly receipts: Pick<Left, 'to' | 'subject'>[] = [];
  /** Who agreed that their opens and clicks are recorded. */
  readonly allowed = new Set<string>();
  readonly random: () => number;
  readonly #people = new Set<string>();
  readonly #site: Site;
  readonly #published: number[] = [];
  #app: TestApp | null = null;

  constructor(seed: number, site: Site) {
    this.random = randomOf(seed);
    this.#site = site;
  }

  /** Starts the service with a sender, a group, a contact type and the first people. */
  static async open(t: Test, seed: number, people: number): Promise<Shop> {
    const shop = new Shop(seed, await startSite(t));
    // Without the seconds in which a send can be recalled, it begins before readers open anything else.
    const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow', RECALL_SECONDS: '0' }, () =>
      relayOf(shop.left, () => app.clock.now().getTime()),
    );
    shop.#app = app;
    // Nothing is killed here, and a month has thousands of transactions.
    app.db.pragma('synchronous = OFF');
    await shop.post('/contacts-type/add', { name: 'Readers' });
    await shop.post('/unsubscribes-groups/save', { group_name: 'News', description: 'All', is_display: 1 });
    for (const from_email of ['lark@example.com', 'lark@new.example'])
      await shop.post('/sender/save', {
        ...{ from_name: 'Lark', from_email, reply_to_email: from_email },
        ...{ country_id: 1, company_address: '1 Harbour St', nickname: from_email },
      });
    await app.background();
    shop.left.length = 0;
    await shop.import(people);
    return shop;
  }

  get app(): TestApp {
    if (this.#app === null) throw new Error('the shop is not open');
    return this.#app;
  }

  get now(): number {
    return this.app.clock.now().getTime();
  }

  get people(): string[] {
    return [...this.#people];
  }

  async call(method: string, path: string, options: CallOptions = {}) {
    const answer = await this.app.one.call(method, path, options);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.message;
  }

  post(path: string, form: Record<string, unknown>) {
    return this.call('POST', path, { form });
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.between(0, from.length - 1)];
    if (one === undefined) throw new Error('there is nothing to pick');
    return one;
  }

  /** Imports new people of three domains and countries into a contact type; the address of one in forty leads nowhere. */
  async import(count: number, contactType = 1): Promise<void> {
    const lines = Array.from({ length: count }, (_, at) => {
      const number = this.#people.size + at;
      const name = number % 40 === 39 ? `gone${number}` : `p${number}`;
      const { domain, country } = HOMES[number % HOMES.length] ?? HOMES[0];
      return `${name}@${domain},${country}`;
    });
    for (const line of lines) this.#people.add(line.slice(0, line.indexOf(',')));
    await this.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', `${contactType}`],
        ['file', { filename: 'people.csv', content: `email,country\n${lines.join('\n')}` }],
      ],
    });
  }

  /** Sends at once, unless other fields say more; gives the utr. */
  async send(subject: string, more: Record<string, unknown> = {}): Promise<string> {
    const { utr } = await this.post('/single/send/create', {
      ...{ template_id: 1, sender_id: 1, unsubscribe_group_id: 1, single_send_name: subject, subject, preheader: 'p' },
      ...{ template_html: '<p><a href="https://shop.example/offer">Offer</a></p>', schedule_type: 0 },
      recipient_id: ['contacts_1'],
      ...more,
    });
    return utr;
  }

  /** Makes a draft to those who did not open a single send, and sends it. */
  async sendAgain(utr: string, subject: string): Promise<void> {
    const draft = await this.post('/single/send/resend', { utr, subject });
    const { singleSend } = await this.call('GET', '/single-send/details', { query: { utr: draft.utr } });
    const targets = singleSend[0].recipient_id.map(({ id, table }: { id: string; table: string }) => `${table}_${id}`);
    await this.post('/single/send/update', { ...fieldsOf(singleSend[0]), utr: draft.utr, recipient_id: targets });
  }

  /** Sends a transactional mail to anybody, whether they left the list or not. */
  async sendReceipt(): Promise<void> {
    const receipt = { to: this.pick(this.people), subject: `Receipt ${this.receipts.length}` };
    const json = { sender_id: 1, email: receipt.to, subject: receipt.subject, template_html: '<p>Thank you</p>' };
    await this.call('POST', '/transactional/send', { json });
    this.receipts.push(receipt);
  }

  /** Makes an automation for new readers live, with mails so many days apart. */
  async openSeries(subjects: readonly string[], days: number): Promise<void> {
    const { utr } = await this.post('/automations/create', {
      ...{ type: 'welcome', automation_for: 'contacts_1', automation_name: 'Series', unsubscribe_group_id: 1 },
    });
    for (const [at, subject] of subjects.entries())
      await this.post('/automations/schedule/create', {
        ...{ utr, subject, sender_id: 1, template_id: 1, preview_img: 'b.png', template_html: '<p>Welcome</p>' },
        ...(at === 0
          ? { waiting_type: 'instantly', waiting_period: 1 }
          : { waiting_type: 'days', waiting_period: days }),
      });
    await this.call('GET', '/automations/set-live', { query: { utr } });
  }

  /** From now on only those are measured who agree, which every fourth person does. */
  async askForConsent(): Promise<void> {
    await this.post('/tracking/save', { mode: 'consent' });
    const contacts = this.app.db.prepare<[], { id: number; email: string }>(
      'SELECT id, email FROM contacts ORDER BY id',
    );
    for (const { id: contact_id, email } of contacts.all().filter(({ id }) => id % 4 === 0)) {
      await this.post('/contacts/tracking/save', { contact_id, is_allowed: 1, consent_text: 'Yes' });
      this.allowed.add(email);
    }
  }

  /** Sends each new item of the shop's blog as a mail. */
  openFeed(): Promise<unknown> {
    return this.post('/feeds/save', {
      ...{ feed_name: 'Blog', url: this.#site.url, sender_id: 1, unsubscribe_group_id: 1 },
      ...{ recipient_id: ['contacts_1'], subject: '((item_title))', rhythm: 'item' },
    });
  }

  /** Adds "Item N" to the shop's blog. */
  async publish(item: number): Promise<void> {
    this.#published.unshift(item);
    this.#site.answer = (reply) => reply.end(rss(this.#published));
  }

  /** What anybody can read of a single send that is in the archive. */
  async archived(utr: string): Promise<string> {
    const { archived } = await this.call('GET', '/single-send/archive', { query: { utr } });
    const { status, text } = await this.app.page('GET', new URL(archived.url).pathname);
    if (status !== 200) throw new Error(`${archived.url}: ${status}`);
    return text;
  }

  /** Whom the sunset rule stopped, with when it was and since when they had done nothing. */
  stopped(): Map<string, { at: number; since: number }> {
    const rows = this.app.db
      .prepare<[], { email: string; at: string; since: number }>(
        'SELECT normalized_email AS email, created_at AS at, cutoff AS since FROM sunset_people s JOIN addresses a ON a.id = s.address_id',
      )
      .all();
    return new Map(rows.map(({ email, at, since }) => [email, { at: Date.parse(at), since }]));
  }

  /** Opens or clicks in a mail, if it is counted at all. */
  async visit(mail: Left, isMachine: boolean): Promise<void> {
    const [pixel] = /http:\/\/mail\.example\.com\/o\/[^"]+/.exec(mail.html) ?? [];
    const [link] = /http:\/\/mail\.example\.com\/c\/[^"]+/.exec(mail.html) ?? [];
    const url = isMachine || this.random() < 0.6 ? pixel : link;
    if (url === undefined) return;
    await this.app.page('GET', new URL(url).pathname, { headers: isMachine ? MACHINE : PERSON });
    this.hits.push({ mail, isMachine, at: this.now });
  }

  /** Leaves the list by the link of a mail, as mail programs do (RFC 8058). */
  async leave(mail: Left): Promise<void> {
    const [url] = /http:\/\/mail\.example\.com\/u\/[^"\s]+/.exec(mail.html) ?? [];
    if (url === undefined) throw new Error(`"${mail.subject}" has no link to unsubscribe`);
    const { status } = await this.app.page('POST', new URL(url).pathname, {
      form: { 'List-Unsubscribe': 'One-Click' },
    });
    if (status !== 200) throw new Error(`${url}: ${status}`);
    this.leavers.set(mail.to, this.now);
  }

  /** Lets an hour pass: after the first half readers open, click and leave, and in the second the background runs so many times. */
  async hour(runs: number): Promise<void> {
    const recent = this.left.filter(({ at }) => at > this.now - 2 * DAY);
    this.app.clock.advance(HOUR / 2);
    for (const mail of recent) {
      const drawn = this.random();
      // Every third person opens nothing all month.
      const reads = Number(/\d+/.exec(mail.to)?.[0]) % 3 > 0;
      if (drawn < 0.008 && reads) await this.visit(mail, false);
      else if (drawn < 0.012) await this.visit(mail, true);
      else if (drawn < 0.0125 && !mail.subject.startsWith('Receipt') && !this.leavers.has(mail.to))
        await this.leave(mail);
    }
    // The background finds what readers did, however fast the hours of this test pass.
    flushHits(this.app);
    for (let run = 0; run < runs; run++) {
      this.app.clock.advance(HOUR / 2 / runs);
      await this.app.background();
    }
  }
}
