/** Steps of an owner with mail: single sends, automations, tests and transactional mail. */
import { isGone, type Target, TESTER } from './model.ts';
import type { Doing, People, Step } from './people.ts';

const TARGETS = ['segments_1', 'contacts_1', 'contacts_2'] as const;

export class MailSteps {
  readonly #people: People;
  #mails = 0;

  constructor(people: People) {
    this.#people = people;
  }

  readonly steps: Readonly<Record<string, Step>> = {
    'a single send': { share: 5, prepare: () => this.#send() },
    'pause, resume or cancel': { share: 4, prepare: () => this.#interrupt() },
    'a test mail': { share: 1, prepare: () => this.#test() },
    'a transactional mail': { share: 5, prepare: () => this.#receipt() },
    'pause an automation or set it live': { share: 1, prepare: () => this.#toggle() },
  };

  #send(): Doing | null {
    const targets = [...new Set([this.#target(), this.#target()])];
    const excluded = this.#people.world.between(1, 3) === 1 ? ([0] as Target[]) : [];
    const group = this.#people.world.between(1, 2);
    const subject = `Send ${++this.#mails}`;
    const at = new Date(this.#people.world.now + this.#people.world.between(1, 6) * 3_600_000).toISOString();
    const isLater = this.#people.world.between(1, 5) === 1;
    return async () => {
      const list = (name: string, of: Target[]) => of.map((target, index) => [`${name}[${index}]`, TARGETS[target]]);
      this.#people.model.launch(subject, { group, targets, excluded });
      const { message } = await this.#people.world.must('POST', '/single/send/create', {
        ...{ template_id: 1, template_html: '<p>Hello</p>', sender_id: 1, unsubscribe_group_id: group },
        ...{ single_send_name: subject, subject, preheader: 'p', schedule_type: isLater ? 1 : 0 },
        ...Object.fromEntries([...list('recipient_id', targets), ...list('exclude_specific_recipient_id', excluded)]),
        ...(isLater && { schedule_date: at.slice(0, 10), schedule_time: at.slice(11, 19) }),
      });
      // Of a send that waits for its time nobody is known who has to get it; of one without people none leaves.
      if (isLater) this.#people.model.campaigns.get(subject)?.must.clear();
      this.#people.world.sends.push({ utr: message.utr, subject });
    };
  }

  #target(): Target {
    return this.#people.world.pick([0, 1, 2] as const) ?? 1;
  }

  #interrupt(): Doing | null {
    const resumed = this.#people.world.paused.shift();
    if (resumed !== undefined)
      return async () => {
        this.#people.model.goOn(resumed.subject);
        await this.#people.world.call('POST', `/single/send/resume?utr=${resumed.utr}`);
      };
    const send = this.#people.world.sends.at(-1);
    if (send === undefined) return null;
    const isCancelled = this.#people.world.between(1, 2) === 1;
    return async () => {
      const { status } = await this.#people.world.call(
        'POST',
        `/single/send/${isCancelled ? 'cancel' : 'pause'}?utr=${send.utr}`,
      );
      if (status !== 200) return;
      this.#people.model.stop(send.subject);
      this.#people.world.sends.pop();
      if (isCancelled) this.#people.model.campaigns.get(send.subject)?.must.clear();
      else this.#people.world.paused.push(send);
    };
  }

  #test(): Doing | null {
    const [send, email] = [this.#people.world.sends.at(-1), this.#people.anybody()];
    if (send === undefined || email === undefined || isGone(email)) return null;
    return async () => {
      await this.#people.world.call('POST', '/single/send/test', { utr: send.utr, email_address: TESTER });
    };
  }

  #receipt(): Doing | null {
    const email = this.#people.anybody();
    if (email === undefined) return null;
    const subject = `Receipt ${++this.#mails}`;
    return async () => {
      await this.#people.world.call('POST', '/transactional/send', {
        sender_id: 1,
        email,
        subject,
        template_html: '<p>Thanks</p>',
      });
    };
  }

  #toggle(): Doing | null {
    const automation = this.#people.world.pick(this.#people.world.automations);
    if (automation === undefined) return null;
    const { utr, isLive } = automation;
    return async () => {
      await this.#people.world.must('GET', isLive ? '/automations/pause' : '/automations/set-live', { utr });
      automation.isLive = !isLive;
    };
  }
}
