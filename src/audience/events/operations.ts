/** The operation with which other programs report events about contacts, such as a purchase. */
import Type from 'typebox';
import { isOwned } from '../../database/ownership.ts';
import { contacts } from '../../database/schema/index.ts';
import { integer, line, optionalIdentifier, optionalReference } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { hasContactType } from '../contacts/contacts.ts';
import { MAX_EVENTS, MAX_PROPERTIES, readEvents } from './read-events.ts';
import { recordEvents } from './record-events.ts';

/** Returns the schema of a value that `readEvents` checks. */
const checked = (description: string, ...examples: unknown[]) =>
  Type.Optional(Type.Unsafe<unknown>({ description, ...(examples.length > 0 && { examples }) }));

/** The fields of an event, with what they mean. */
const FIELDS = {
  contact_id: 'Id of the contact, unless `email` names the contact.',
  email: "The contact's address.",
  name: 'What happened, such as purchase: at most 64 characters, without @ = < > !',
  at: 'When the event happened, in ISO 8601 with the zone; at most a day ahead. If absent: now.',
  key: 'Your own id of the event. An event whose key was recorded before is not recorded again.',
  value: 'A number, such as the total of an order.',
  currency: 'The currency of the value, three letters such as EUR.',
  properties: `Further values by name: texts, numbers, true or false; at most ${MAX_PROPERTIES}.`,
};

const EVENT = {
  contact_id: optionalIdentifier(FIELDS.contact_id),
  email: Type.Optional(Type.String({ maxLength: 255, description: FIELDS.email, examples: ['zoe@example.com'] })),
  name: Type.Optional(Type.String({ maxLength: 255, description: FIELDS.name, examples: ['purchase'] })),
  at: Type.Optional(line({ description: FIELDS.at })),
  key: Type.Optional(line({ description: FIELDS.key })),
  value: checked(FIELDS.value, 49.9),
  currency: Type.Optional(line({ description: FIELDS.currency })),
  properties: checked(FIELDS.properties),
};

export const reportEvents = operation({
  name: 'Record events of contacts, one or up to 1 000 (addition)',
  description:
    'The request has either the fields of one event or, in JSON, `events`: a list of objects with these fields. All of them are recorded, or none if one has an error. With `contact_type_id`, contacts with an unknown address are added to that list. The indices of events whose contact stays unknown are in `unknown`. A single event with an unknown `contact_id` is refused.',
  role: 'editor',
  input: Type.Object({
    ...EVENT,
    events: Type.Optional(
      Type.Unsafe<unknown[]>({
        type: 'array',
        minItems: 1,
        maxItems: MAX_EVENTS,
        items: {
          type: 'object',
          properties: {
            ...Object.fromEntries(Object.entries(FIELDS).map(([name, description]) => [name, { description }])),
            contact_id: EVENT.contact_id,
          },
        },
        description: `At most ${MAX_EVENTS} events.`,
      }),
    ),
    contact_type_id: optionalReference('The list to which unknown contacts are added.'),
  }),
  output: Type.Object({
    recorded: integer({ description: 'The number of events recorded.' }),
    repeated: integer({ description: 'The number of events whose key was recorded before.' }),
    created: integer({ description: 'The number of contacts added.' }),
    unknown: Type.Array(integer(), { description: 'The indices of events of unknown contacts, from 0.' }),
  }),
  async check({ db, accountId, clock }, input, errors) {
    const { contact_type_id: list } = input;
    if (list) errors.reference('contact_type_id', () => hasContactType(db, accountId, list));
    const { contact_id, events } = input;
    if (events === undefined && contact_id)
      errors.reference('contact_id', () => isOwned(db, contacts, contact_id, accountId));
    if (!errors.has('events')) errors.addAll((await eventsOf({ clock }, input)).errors);
  },
  async run({ db, clock, accountId, wake }, input) {
    const { events } = await eventsOf({ clock }, input);
    const recorded = await recordEvents(db, clock, accountId, events, input.contact_type_id || null);
    wake();
    return recorded;
  },
});

/** The result of `readEvents` by list of events, because both `check` and `run` of the operation need it. */
const readLists = new WeakMap<object, ReturnType<typeof readEvents>>();

function eventsOf({ clock }: Pick<Context, 'clock'>, input: { events?: unknown[] }): ReturnType<typeof readEvents> {
  const { events } = input;
  const now = clock.now().getTime();
  if (events === undefined) return readEvents([input], false, now);
  const read = readLists.get(events) ?? readEvents(events, true, now);
  readLists.set(events, read);
  return read;
}
