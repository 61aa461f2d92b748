/** The people of the random steps: contacts by chance, new addresses, and who joins a type. */
import { isGone } from './model.ts';
import type { World } from './world.ts';

/** Changes something, and tells the model. Where a step can be repeated it changes the same, done or not. */
export type Doing = () => Promise<void>;

/**
 * A step of the random run: how often it is drawn, what it will do (null: nothing to do it with), and whether it can be
 * cut off and repeated.
 */
export interface Step {
  share: number;
  prepare(): Doing | null;
  isRepeatable?: true;
}

export class People {
  readonly world: World;
  #count = 0;
  /** Who was in a type at any time: an automation takes a person once. */
  readonly known = new Set<string>();

  constructor(world: World) {
    this.world = world;
  }

  get model() {
    return this.world.model;
  }

  anybody(): string | undefined {
    return this.world.pick([...this.model.contacts.values()])?.email;
  }

  /** A contact and its id, by chance. */
  one() {
    return this.world.pick([...this.model.contacts]);
  }

  newAddress(): string {
    return `${this.world.between(1, 25) === 1 ? 'gone' : 'p'}${++this.#count}@example.org`;
  }

  async put(email: string, type: number, isVip: boolean): Promise<void> {
    const form = { contact_type_id: type, email, country: 1, first_name: isVip ? 'Vip' : 'Ann' };
    const { location } = await this.world.must('POST', '/contacts/add', form);
    this.joined(Number(location.split('=').at(-1)), email, type, isVip);
  }

  /** A contact is new in a type: whoever is new in the target of a live automation has to get its mails. */
  joined(id: number, email: string, type: number, isVip: boolean): void {
    this.model.touch(email);
    this.model.put(id, { email, type, isVip, former: [] });
    for (const { subjects, isLive, target, group } of this.world.automations)
      for (const subject of subjects) {
        const series = this.model.campaigns.get(subject);
        const isFirst = !this.known.has(`${target} ${email}`);
        if (isLive && target === type && isFirst && this.model.mayGet(email, group) && !isGone(email))
          series?.must.add(email);
      }
    this.known.add(`${type} ${email}`);
  }
}
