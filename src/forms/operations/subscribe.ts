/**
 * The operation with which other programs ask somebody for a subscription. The mail, the page and the limits are the
 * same as those of a form.
 */
import { isIP } from 'node:net';
import Type, { type Static } from 'typebox';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import { type Address, parseAddress } from '../../audience/contacts/addresses.ts';
import { TEXT_COLUMNS } from '../../audience/contacts/contact-fields.ts';
import { languageCode } from '../../audience/contacts/contact-languages.ts';
import { NewContact } from '../../audience/contacts/operations.ts';
import { listUnsubscriptions } from '../../audience/unsubscribes.ts';
import type { Db } from '../../database/open.ts';
import { isOwned, recordId } from '../../database/ownership.ts';
import { unsubscribeGroups } from '../../database/schema/index.ts';
import { writeAndWake } from '../../database/transaction.ts';
import { conflict, Failure } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { choice, line, optionalReference, stringList, text } from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { networkOf } from '../../users/throttle.ts';
import { isMember } from '../confirm.ts';
import { askedFields, findField, keyOf, MAX_FIELDS, valueFault } from '../fields.ts';
import { type Form, findForm, formOffCode, formsOf } from '../forms.ts';
import { isBlocked, takeRequest, takeUnsent, wasAskedToday } from '../requests.ts';
import { MAX_TEXT } from './form-input.ts';
import { OFF_REASONS } from './forms.ts';

const MAX_GROUPS = 50;
const TOO_MANY_REQUESTS = 429;
const STATES = ['asked', 'subscribed', 'suppressed'] as const;
type State = (typeof STATES)[number];

const {
  email,
  contact_type_id: _list,
  country: _country,
  alt_email: _second,
  custom_field,
  ...lines
} = NewContact.properties;

const Subscription = Type.Object({
  email,
  form_id: optionalReference('The form whose e-mail and page ask for the confirmation.'),
  contact_type_id: Type.Optional(
    Type.Unsafe<number>({
      ...optionalReference('In place of form_id: the first form of this list that takes subscriptions.'),
      examples: [1],
    }),
  ),
  ...lines,
  custom_field,
  group_ids: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: MAX_GROUPS,
        description: 'The topics (unsubscribe groups) that were chosen. If absent, nothing is said about topics.',
        documented: { items: { type: 'integer' } },
      }),
      empty: [],
    }),
  ),
  consent_text: Type.Optional(
    text({ maxLength: MAX_TEXT, description: 'What the person agreed to; the text of the form if absent.' }),
  ),
  source: Type.Optional(
    line({ description: 'Where the person agreed, such as Checkout; the name of the form if absent.' }),
  ),
  ip: Type.Optional(
    line({
      description:
        'The IP address of the person. Its network is kept as proof of consent, and every request from it counts towards the limits, so that strangers cannot find out which addresses are known.',
    }),
  ),
});
type SubscriptionInput = Static<typeof Subscription>;

export const subscribeContact = operation({
  name: 'Ask for a subscription with confirmation by mail (addition)',
  description:
    'The e-mail, the page that its link leads to and the limits are those of a form of the list. Nobody becomes a contact or gets mail before they confirm. It can be repeated: an address gets one such mail a day. The state is for your program; whoever typed the address must not see it, because it tells what is known about the address.',
  role: 'editor',
  input: Subscription,
  output: Type.Object({
    state: {
      ...choice(...STATES),
      description:
        'asked: an e-mail asks for the confirmation, or one was sent to this mailbox within a day. subscribed: confirmed before, and on the list. suppressed: the address gets no mail, because it bounced, complained or was deleted permanently.',
    },
  }),
  check: ({ db, accountId, config }, input, errors) => {
    const { contact_type_id: list, group_ids = [], ip } = input;
    if (input.form_id) errors.reference('form_id', () => chosenForm({ db, accountId, config }, input) !== undefined);
    else if (!list) errors.addAll([['form_id', messages.required('form_id')]]);
    else if (chosenForm({ db, accountId, config }, input) === undefined)
      errors.addAll([['contact_type_id', sentence('list_without_form')]]);
    if (!group_ids.every((id) => isOwned(db, unsubscribeGroups, id, accountId)))
      errors.add('group_ids', messages.selected('group_ids'));
    if (input.language && languageCode(input.language) === null) errors.add('language', messages.selected('language'));
    if (ip && isIP(ip) === 0) errors.add('ip', messages.selected('ip'));
    checkCustomFields(db, accountId, input.custom_field ?? {}, errors);
  },
  run(context, input) {
    const { config, db, clock } = context;
    const form = chosenForm(context, input);
    const address = parseAddress(input.email);
    if (form === undefined || address === null) throw new Error('a subscription reached its run unchecked');
    const off = formOffCode(db.$client, config, form);
    if (off !== null) throw conflict(OFF_REASONS[off]);
    const now = clock.now();
    const groups = groupsOf(form, input);
    return writeAndWake(context, (): { state: State } => {
      const busy = () => new Failure(TOO_MANY_REQUESTS, sentence('form_busy'));
      const settled = settledState(db, form, address, groups, now);
      if (settled !== null) {
        // With the address of a visitor's machine, known and unknown addresses meet the same limits.
        if (input.ip && takeUnsent(db, form, networkOf(input.ip), now) !== 'taken') throw busy();
        return { state: settled };
      }
      const outcome = takeRequest(
        context,
        form,
        {
          address,
          given: valuesOf(db, form.user_id, input),
          groups,
          consentText: input.consent_text || form.consent_text,
          source: input.source ?? '',
          trackingText: '',
          network: input.ip ? networkOf(input.ip) : '',
          proof: { kind: 'key' },
        },
        now,
      );
      if (outcome !== 'taken') throw busy();
      return { state: 'asked' };
    });
  },
});

/** Returns the state of an address that needs no mail now; null if it needs one. */
function settledState(db: Db, form: Form, address: Address, groups: Record<string, 0 | 1>, now: Date): State | null {
  const known = findAddressId(db, form.user_id, address);
  if (isBlocked(db.$client, form.user_id, address, known)) return 'suppressed';
  if (known === undefined) return null;
  if (isSubscribed(db, form, known, groups)) return 'subscribed';
  return wasAskedToday(db.$client, form.id, known, now.getTime()) ? 'asked' : null;
}

/** Returns the form that a request names, or the first of its list that takes subscriptions; undefined if there is none. */
function chosenForm(
  { db, accountId, config }: Pick<Context, 'db' | 'accountId' | 'config'>,
  { form_id: id, contact_type_id: list }: Partial<SubscriptionInput>,
): Form | undefined {
  if (id) {
    const form = findForm(db, accountId, id);
    return list && form?.contact_type_id !== list ? undefined : form;
  }
  return formsOf(db, accountId).find(
    (form) => form.contact_type_id === list && formOffCode(db.$client, config, form) === null,
  );
}

/** Adds an error for custom fields that do not exist or do not accept their value, as with a form. */
function checkCustomFields(
  db: Db,
  accountId: number,
  values: Readonly<Record<string, string>>,
  errors: FieldErrorCollector,
): void {
  const entries = Object.entries(values);
  if (entries.length > MAX_FIELDS) errors.addAll([['custom_field', messages.items('custom_field', MAX_FIELDS)]]);
  const isFaulty = ([name, value]: [string, string]) => {
    const field = findField(db, accountId, name);
    if (typeof field !== 'number') return true;
    const [asked] = askedFields(db, accountId, [{ field, label: '', required: 0 }]);
    return asked === undefined || valueFault(asked, value) !== null;
  };
  const faulty = entries.slice(0, MAX_FIELDS).find(isFaulty);
  if (faulty !== undefined) errors.addAll([['custom_field', messages.selected(faulty[0])]]);
}

/** Returns the values of a request by the keys of their fields, without empty ones. */
function valuesOf(db: Db, accountId: number, input: SubscriptionInput): Record<string, string> {
  const reserved = TEXT_COLUMNS.map((name) => [name, input[name]?.trim() ?? ''] as const);
  const own = Object.entries(input.custom_field ?? {}).flatMap(([name, value]) => {
    const field = findField(db, accountId, name);
    return field === undefined ? [] : [[keyOf(field), value.trim()] as const];
  });
  return Object.fromEntries([...reserved, ...own].filter(([, value]) => value !== ''));
}

/**
 * Returns the groups of the form and the chosen groups, each with whether it was chosen; none if the request names
 * none.
 */
function groupsOf(form: Form, { group_ids: chosen }: SubscriptionInput): Record<string, 0 | 1> {
  if (chosen === undefined) return {};
  const ids = new Set(chosen.map(recordId));
  return Object.fromEntries([...form.group_ids, ...ids].map((id) => [id, ids.has(id) ? 1 : 0]));
}

/** Returns true if an address confirmed a subscription and confirming once more would change nothing. */
function isSubscribed(db: Db, form: Form, address: number, groups: Readonly<Record<string, 0 | 1>>): boolean {
  const row = db.$client
    .prepare<[number, number, number], { one: 1 }>(`
       SELECT 1 AS one FROM contacts WHERE contact_type_id = ? AND address_id = ? AND deleted_at IS NULL
       AND EXISTS (SELECT 1 FROM consent_log WHERE address_id = ? AND action = 'subscribed')`)
    .get(form.contact_type_id, address, address);
  const isJoining = form.segment_id !== null && !isMember(db.$client, form.segment_id, address);
  const left = listUnsubscriptions(db.$client, form.user_id, address);
  return (
    row !== undefined &&
    !isJoining &&
    !left.some(({ unsubscribe_groups_id: group }) => group === null || groups[group] === 1)
  );
}
