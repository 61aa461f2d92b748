/** Steps of an owner with contacts, lists and suppressions. */

import { isGone } from './model.ts';
import type { Doing, People, Step } from './people.ts';

const MAX_CONTACTS = 400;

export class ContactSteps {
  readonly #people: People;

  constructor(people: People) {
    this.#people = people;
  }

  readonly steps: Readonly<Record<string, Step>> = {
    'add a contact': { share: 16, prepare: () => this.#add() },
    'add somebody known': { share: 4, prepare: () => this.#addAgain() },
    'import a file': { share: 2, prepare: () => this.#import(), isRepeatable: true },
    'change a contact': { share: 6, prepare: () => this.#change() },
    'correct an address': { share: 5, prepare: () => this.#correct() },
    'delete a contact': { share: 5, prepare: () => this.#remove(), isRepeatable: true },
    'erase a person': { share: 4, prepare: () => this.#erase(), isRepeatable: true },
    'add somebody erased': { share: 2, prepare: () => this.#addErased() },
    'unsubscribe by the API': { share: 5, prepare: () => this.#unsubscribe(), isRepeatable: true },
    'come back to a list': { share: 4, prepare: () => this.#comeBack() },
    'a bounce by the API': { share: 2, prepare: () => this.#report(), isRepeatable: true },
    'lift a suppression': { share: 3, prepare: () => this.#lift() },
  };

  #add(): Doing | null {
    if (this.#people.model.contacts.size >= MAX_CONTACTS) return null;
    const [email, type, isVip] = [
      this.#people.newAddress(),
      this.#people.world.between(1, 2),
      this.#people.world.between(1, 3) === 1,
    ];
    return () => this.#people.put(email, type, isVip);
  }

  #addAgain(): Doing | null {
    const known = [...this.#people.model.left[0], ...this.#people.model.suppressed, this.#people.anybody()].filter(
      (one) => one !== undefined,
    );
    const email = this.#people.world.pick(known);
    const type = this.#people.world.between(1, 2);
    if (email === undefined || this.#people.model.erased.has(email)) return null;
    const present = this.#people.model.of(email).find(([, contact]) => contact.type === type);
    if (present === undefined) return () => this.#people.put(email, type, false);
    return async () => {
      const { status, location } = await this.#people.world.call('POST', '/contacts/add', {
        contact_type_id: type,
        email,
        country: 1,
      });
      if (status !== 422 || !location.endsWith(`=${present[0]}`))
        this.#people.model.problems.push(`${email} twice: ${status} ${location}`);
    };
  }

  #import(): Doing | null {
    if (this.#people.model.contacts.size >= MAX_CONTACTS) return null;
    const type = this.#people.world.between(1, 2);
    const fresh = Array.from({ length: this.#people.world.between(3, 15) }, () => this.#people.newAddress());
    const erased = [...this.#people.model.erased].slice(-2);
    return async () => {
      await this.#people.world.upload(type, ['email', ...fresh, ...erased].join('\n'));
      const { contacts } = (await this.#people.world.must('GET', '/contacts/list', { contact_type_id: type })).message;
      for (const { id, email } of contacts)
        if (!this.#people.model.contacts.has(id)) this.#people.joined(id, email, type, false);
    };
  }

  #change(): Doing | null {
    const [id, contact] = this.#people.one() ?? [];
    if (id === undefined || contact === undefined) return null;
    const isVip = !contact.isVip;
    return async () => {
      const form = { contact_id: id, contact_type_id: contact.type, email: contact.email, country: 1 };
      await this.#people.world.must('POST', '/contacts/update', { ...form, first_name: isVip ? 'Vip' : 'Ann' });
      this.#people.model.put(id, { ...contact, isVip });
      this.#people.model.touch(contact.email);
    };
  }

  #correct(): Doing | null {
    const [id, contact] = this.#people.one() ?? [];
    if (id === undefined || contact === undefined || this.#people.model.of(contact.email).length > 1) return null;
    const email = this.#people.newAddress();
    return async () => {
      const form = { contact_id: id, contact_type_id: contact.type, email, country: 1 };
      await this.#people.world.must('POST', '/contacts/update', form);
      this.#people.model.remove(id);
      this.#people.known.add(`${contact.type} ${email}`);
      this.#people.model.put(id, { ...contact, email, former: [...contact.former, contact.email] });
      // The person keeps their place in what is on the way.
      for (const { may } of this.#people.model.campaigns.values()) if (may.has(contact.email)) may.add(email);
    };
  }

  #remove(): Doing | null {
    const id = this.#people.one()?.[0];
    if (id === undefined) return null;
    return async () => {
      const { status, text } = await this.#people.world.call('POST', '/contacts/bulk-delete', { 'strIds[0]': id });
      if (status !== 200 && status !== 404) throw new Error(text);
      this.#people.model.remove(id);
    };
  }

  #erase(): Doing | null {
    const [id, contact] = this.#people.one() ?? [];
    if (id === undefined || contact === undefined) return null;
    return async () => {
      const { status, text } = await this.#people.world.call('POST', '/contacts/person/erase', { contact_id: id });
      // 409: a mail to them is being handed over.
      if (status === 409) return;
      if (status !== 200 && status !== 404) throw new Error(text);
      this.#people.model.erase(contact.email);
    };
  }

  #addErased(): Doing | null {
    const email = this.#people.world.pick([...this.#people.model.erased]);
    if (email === undefined) return null;
    return async () => {
      const { status } = await this.#people.world.call('POST', '/contacts/add', {
        contact_type_id: 1,
        email,
        country: 1,
      });
      if (status !== 422) this.#people.model.problems.push(`${email} was erased and could be added: ${status}`);
    };
  }

  #unsubscribe(): Doing | null {
    const email = this.#people.anybody();
    const group = this.#people.world.between(0, 2);
    if (email === undefined) return null;
    return async () => {
      const form = { email_address: email, ...(group > 0 && { unsubscribe_groups_id: group }) };
      await this.#people.world.must(
        'POST',
        group === 0 ? '/global-unsubscribes/save' : '/unsubscribes-groups/manually-add',
        form,
      );
      this.#people.model.leave(email, group);
    };
  }

  #comeBack(): Doing | null {
    const group = this.#people.world.between(0, 2);
    return async () => {
      const { message } = await (group === 0
        ? this.#people.world.must('GET', '/global-unsubscribes')
        : this.#people.world.must('GET', '/unsubscribes-groups/recipients-list', { groupId: group }));
      const entry = this.#people.world.pick(group === 0 ? message.unSubscribers : message.recipients);
      if (entry === undefined) return;
      await this.#people.world.must(
        'DELETE',
        group === 0 ? '/global-unsubscribes/delete' : '/unsubscribes-groups/recipients-delete',
        { id: entry.id },
      );
      this.#people.model.comeBack(entry.email_address, group);
    };
  }

  #report(): Doing | null {
    const address = this.#people.anybody();
    if (address === undefined) return null;
    return async () => {
      const diagnostic = `550 5.1.1 <${address}> unknown`;
      await this.#people.world.must('POST', '/bounces', { address, kind: 'bounce', diagnostic });
      this.#people.model.bounceOfAny(address);
    };
  }

  #lift(): Doing | null {
    return async () => {
      const { suppressions } = (await this.#people.world.must('GET', '/suppressions/list')).message;
      const entry = this.#people.world.pick(suppressions);
      if (entry === undefined || isGone(entry.email_address)) return;
      await this.#people.world.must('DELETE', '/suppressions/delete', { id: entry.id });
      this.#people.model.lift(entry.email_address);
    };
  }
}
