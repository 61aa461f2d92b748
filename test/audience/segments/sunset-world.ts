/** People who got mails for months, most of whom did nothing, and what tests of the sunset rule ask and do. */
import type { Test } from 'tap';
import { DAY } from '../../support/automations.ts';
import { mustAnswer } from '../../support/segments.ts';
import { act, join, newWorld, PERSON_AGENT, pass, SETTLED, send, type World } from './engagement-world.ts';

export const STOP = { months: 1, least_mails: 3, action: 'stop' };

/** p0 opens every mail; p1, p2 … get them and do nothing. All have been there for more than a month. */
export async function readersAsleep(t: Test, people = 4): Promise<World> {
  const world = await newWorld(t);
  for (let person = 0; person < people; person++) await join(world);
  await pass(world, 40 * DAY);
  for (let mail = 0; mail < 3; mail++) {
    await send(world, mail);
    await pass(world, DAY);
    open(world, 'p0');
  }
  world.app.clock.advance(SETTLED);
  await world.app.background();
  return world;
}

/** Somebody opens their newest mail, as `agent`. */
export function open(world: World, name: string, agent = PERSON_AGENT, url: string | null = null): void {
  const reader = world.readers.get(name);
  const mail = reader?.mails.at(-1);
  if (reader === undefined || mail === undefined) throw new Error(`${name} has no mail`);
  act(world, reader, mail, agent, world.app.clock.now().getTime(), url);
}

export const readSunset = async ({ app }: World) => (await mustAnswer(app, 'GET', '/sunset')).body.message.sunset;
export const preview = async ({ app }: World, query: object) =>
  (await mustAnswer(app, 'GET', '/sunset/preview', { query: { ...query } })).body.message;
export async function switchOn(world: World, form: object = STOP): Promise<void> {
  await mustAnswer(world.app, 'POST', '/sunset/save', { form: { is_on: 1, ...form } });
  await world.app.background();
}
export const kindsOf = async ({ app }: World, contact_id: number) =>
  (await mustAnswer(app, 'GET', '/contacts/timeline', { query: { contact_id } })).body.message.moments.map(
    ({ kind, state }: { kind: string; state: string }) => `${kind} ${state}`,
  );

/** Lets a person get mail again, over the API; gives the status of the answer. */
export async function lift({ app }: World, email: string, caller = app.one): Promise<number> {
  const { people } = (await mustAnswer(app, 'GET', '/sunset/people', { query: { email } })).body.message;
  return (await caller.call('POST', '/sunset/lift', { form: { id: people[0]?.id ?? 0 } })).status;
}
