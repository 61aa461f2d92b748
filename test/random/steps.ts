/** The random steps: each is a valid operation of an owner, a recipient or a mail server, and tells the model what was answered. */
import { ContactSteps } from './contact-steps.ts';
import { MailSteps } from './mail-steps.ts';
import { People, type Step } from './people.ts';
import { RecipientSteps } from './recipient-steps.ts';
import type { World } from './world.ts';

/** One step in so many ends with a kill. */
const STEPS_A_KILL = 100;

export class Steps {
  readonly #world: World;
  readonly #steps: [name: string, step: Step][];

  constructor(world: World) {
    this.#world = world;
    const people = new People(world);
    const kinds = [new ContactSteps(people), new MailSteps(people), new RecipientSteps(people)];
    this.#steps = kinds.flatMap(({ steps }) => Object.entries(steps));
  }

  /** Does one step; gives its name. A kill cuts off a step that can be repeated, and comes after any other. */
  async step(): Promise<string> {
    const [name, { prepare, isRepeatable }] = this.#draw();
    const doing = prepare();
    if (doing === null) return `${name}: nothing to do`;
    if (this.#world.random() * STEPS_A_KILL >= 1) {
      await doing();
      return name;
    }
    if (!isRepeatable) await doing();
    await this.#world.kill(isRepeatable ? doing : undefined);
    return `${name}, killed`;
  }

  #draw(): [name: string, step: Step] {
    let drawn = this.#world.random() * this.#steps.reduce((sum, [, { share }]) => sum + share, 0);
    for (const one of this.#steps) {
      drawn -= one[1].share;
      if (drawn < 0) return one;
    }
    throw new Error('no step was drawn');
  }
}
