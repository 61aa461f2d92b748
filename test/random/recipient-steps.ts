/** Steps of recipients and of their mail servers: leaving, subscribing, opening, bounces and complaints. */
import { solvedProof, TYPING_MS } from '../support/forms.ts';
import type { Arrived } from './model.ts';
import type { Doing, People, Step } from './people.ts';

export class RecipientSteps {
  readonly #people: People;
  /** Mails that have come back already. */
  readonly #returned = new Set<string>();
  readonly #confirmed = new Set<string>();

  constructor(people: People) {
    this.#people = people;
  }

  readonly steps: Readonly<Record<string, Step>> = {
    'unsubscribe by a link': { share: 6, prepare: () => this.#leave(), isRepeatable: true },
    'a mail bounces': { share: 4, prepare: () => this.#bounce() },
    'a complaint': { share: 3, prepare: () => this.#complain() },
    'fill in the form': { share: 3, prepare: () => this.#subscribe() },
    confirm: { share: 3, prepare: () => this.#confirm() },
    'open a mail': { share: 4, prepare: () => this.#open() },
  };

  /** A mail of a campaign that somebody has, old or new. */
  #mail(isFit: (mail: Arrived) => boolean = () => true): Arrived | undefined {
    const campaigns = this.#people.model.arrived.filter((mail) => this.#people.model.campaigns.has(mail.subject));
    const recent = this.#people.world.random() < 0.7 ? campaigns.slice(-200) : campaigns;
    return this.#people.world.pick(recent.filter(isFit));
  }

  #leave(): Doing | null {
    const mail = this.#mail();
    const path = /^List-Unsubscribe: <https?:\/\/[^/]+(\/u\/[^>]+)>/im.exec(
      mail?.raw.replace(/\r\n[ \t]+/g, ' ') ?? '',
    )?.[1];
    const campaign = this.#people.model.campaigns.get(mail?.subject ?? '');
    if (mail === undefined || path === undefined || campaign === undefined) return null;
    return async () => {
      const { status } = await this.#people.world.call('POST', `~${path.trim()}`, { 'List-Unsubscribe': 'One-Click' });
      if (this.#people.model.erased.has(mail.to)) return;
      if (status !== 200) throw new Error(`one-click of ${mail.to}: ${status}`);
      this.#people.model.leave(mail.to, campaign.group);
    };
  }

  #bounce(): Doing | null {
    const { bounced } = this.#people.model;
    const mail = this.#mail(({ returnPath }) => !this.#returned.has(returnPath) && !bounced.has(returnPath));
    if (mail === undefined) return null;
    this.#returned.add(mail.returnPath);
    const status = [
      'Reporting-MTA: dns; relay.example',
      '',
      `Final-Recipient: rfc822; ${mail.to}`,
      'Action: failed',
      'Status: 5.1.1',
    ];
    const said = `Diagnostic-Code: smtp; 550 5.1.1 <${mail.to}> unknown`;
    return async () => {
      const raw = report(
        'delivery-status',
        'message/delivery-status',
        [...status, said].join('\r\n'),
        'text/rfc822-headers',
        `To: ${mail.to}\r\n`,
      );
      if (await this.#people.world.comesBack(mail.returnPath, raw)) this.#people.model.suppress(mail.to);
    };
  }

  #complain(): Doing | null {
    const mail = this.#mail(({ returnPath }) => !this.#returned.has(returnPath));
    if (mail === undefined) return null;
    this.#returned.add(mail.returnPath);
    return async () => {
      const fields = `Feedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\nOriginal-Rcpt-To: ${mail.to}`;
      const raw = report('feedback-report', 'message/feedback-report', fields, 'message/rfc822', mail.raw);
      await this.#people.world.comesBack('fbl@returns.example.com', raw, 'fbl@mailbox.example');
      this.#people.model.suppress(mail.to);
    };
  }

  #subscribe(): Doing | null {
    const email =
      this.#people.world.random() < 0.5
        ? this.#people.newAddress()
        : (this.#people.anybody() ?? this.#people.newAddress());
    return async () => {
      const { id, path } = this.#people.world.form;
      const proof = await solvedProof(this.#people.world.tokens, id, this.#people.world.now - TYPING_MS);
      const network = `198.51.${this.#people.world.between(0, 255)}.${this.#people.world.between(1, 250)}`;
      await this.#people.world.call('POST', `~${path}`, { email, consent: 1, proof }, { 'x-forwarded-for': network });
    };
  }

  #confirm(): Doing | null {
    const asked = this.#people.model.arrived.filter(
      ({ subject, messageId }) => subject.startsWith('Please confirm') && !this.#confirmed.has(messageId),
    );
    const mail = this.#people.world.pick(asked.slice(-20));
    const path = /(\/f\/confirm\/[\w-]+)/.exec(mail?.raw.replace(/=\r\n/g, '') ?? '')?.[1];
    if (mail === undefined || path === undefined) return null;
    this.#confirmed.add(mail.messageId);
    return async () => {
      const { status, text } = await this.#people.world.call('POST', `~${path}`);
      if (status !== 200) return;
      const isTold = text.includes('suppression list');
      if (isTold !== this.#people.model.suppressed.has(mail.to))
        this.#people.model.problems.push(`${mail.to} is told suppressed: ${isTold}`);
      this.#people.model.comeBack(mail.to, 0);
      const query = { contact_type_id: 1, search: mail.to };
      const { contacts } = (await this.#people.world.must('GET', '/contacts/list', query)).message;
      for (const { id, email } of contacts)
        if (email === mail.to && !this.#people.model.contacts.has(id)) this.#people.joined(id, email, 1, false);
    };
  }

  #open(): Doing | null {
    const mail = this.#mail();
    const path = /(\/o\/[\w.~-]+\.gif)/.exec(mail?.raw.replace(/=\r\n/g, '') ?? '')?.[1];
    return path === undefined ? null : async () => void (await this.#people.world.call('GET', `~${path}`));
  }
}

/** A report with its part for programs and the mail that it is about. */
function report(kind: string, type: string, part: string, enclosedType: string, enclosed: string): string {
  return [
    'From: postmaster@mailbox.example',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${kind}; boundary="=_r"`,
    ...['', '--=_r', `Content-Type: ${type}`, '', part, ''],
    ...['--=_r', `Content-Type: ${enclosedType}`, '', enclosed, '--=_r--', ''],
  ].join('\r\n');
}
