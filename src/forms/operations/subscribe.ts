/**
 * The operation by which other programs ask somebody to subscribe. The confirmation mail, the page and the limits are those of a form.
 */
import { isIP } from 'node:net';
import Type, { type Static } from 'typebox';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import { type Address, parseAddress } from '../../audience/contacts/addresses.ts';
import { LINE_COLUMNS } from '../../audience/contacts/contact-fields.ts';
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
import { isErasedOrSuppressed, takeRequest, takeUnsent, wasAskedToday } from '../requests.ts';
import { MAX_TEXT } from './form-input.ts';
import { OFF_REASONS } from './forms.ts';

const MAX_GROUPS = 50;
const STATES = ['asked', 'subscribed', 'suppressed'] as const;
type State = (typeof STATES)[number];

const {
  email,
  contact_type_id: _list,
  country: _country,
  alt_email: _second,
  custom_field,
  ...textFields
} = NewContact.properties;

const Subscription = Type.Object({
  email,
  form_id: optionalReference('The form whose e-mail and page ask for the confirmation.'),
  contact_type_id: Type.Optional(
    Type.Unsafe<number>({
      ...optionalReference('Instead of form_id: the list whose first form that takes subscriptions is used.'),
      examples: [1],
    }),
  ),
  ...textFields,
  custom_field,
  group_ids: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: MAX_GROUPS,
        description: 'The topics (unsubscribe groups) that the person chose; absent: the person was not asked.',
        documented: { items: { type: 'integer' } },
      }),
      empty: [],
    }),
  ),
  consent_text: Type.Optional(
    text({ maxLength: MAX_TEXT, description: 'The text that the person agreed to; the text of the form by default.' }),
  ),
  source: Type.Optional(
    line({ description: 'Where the person agreed, such as Checkout; the name of the form by default.' }),
  ),
  ip: Type.Optional(
    line({
      description:
        'The IP address of the person. Its network is stored as proof of consent. Every request from this network counts towards the limits, so that strangers cannot find out which addresses are known.',
    }),
  ),
});
type SubscriptionInput = Static<typeof Subscription>;

export const subscribeContact = operation({
  name: 'Ask for a subscription with confirmation by mail (addition)',
  description:
    'The e-mail, the page that its link opens and the limits are those of a form of the list. Nobody becomes a contact or gets other mail before they confirm. Requests can be repeated: an address gets one such e-mail a day. Do not show the state to the person who typed the address, because it tells what is known about the address.',
  role: 'editor',
  input: Subscription,
  output: Type.Object({
    state: {
      ...choice(...STATES),
      description:
        'asked: an e-mail asks for the confirmation, or such an e-mail was sent to this mailbox within a day. subscribed: the address is on the list and was confirmed before. suppressed: the address gets no mail, because of a bounce or a complaint, or because it was deleted permanently.',
    },
  }),
  check: ({ db, accountId, config }, input, errors) => {
    const { contact_type_id: listId, group_ids = [], ip } = input;
    if (input.form_id) errors.reference('form_id', () => chosenForm({ db, accountId, config }, input) !== undefined);
    else if (!listId) errors.addAll([['form_id', messages.required('form_id')]]);
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
    const offCode = formOffCode(db.$client, config, form);
    if (offCode !== null) throw conflict(OFF_REASONS[offCode]);
    const now = clock.now();
    const groups = groupsOf(form, input);
    return writeAndWake(context, (): { state: State } => {
      const busyFailure = () => new Failure(429, sentence('form_busy'));
      const settled = settledState(db, form, address, groups, now);
      if (settled !== null) {
        // Requests of a visitor meet the same limits whether or not the address is known.
        if (input.ip && takeUnsent(db, form, networkOf(input.ip), now) !== 'taken') throw busyFailure();
        return { state: settled };
      }
      const outcome = takeRequest(
        context,
        form,
        {
          address,
          values: valuesOf(db, form.user_id, input),
          groups,
          consentText: input.consent_text || form.consent_text,
          source: input.source ?? '',
          trackingText: '',
          network: input.ip ? networkOf(input.ip) : '',
          proof: { kind: 'key' },
        },
        now,
      );
      if (outcome !== 'taken') throw busyFailure();
      return { state: 'asked' };
    });
  },
});

/** Returns the state of an address to which no mail is sent now; null if a mail is sent. */
function settledState(db: Db, form: Form, address: Address, groups: Record<string, 0 | 1>, now: Date): State | null {
  const addressId = findAddressId(db.$client, form.user_id, address);
  if (isErasedOrSuppressed(db.$client, form.user_id, address, addressId)) return 'suppressed';
  if (addressId === undefined) return null;
  if (isSubscribed(db, form, addressId, groups)) return 'subscribed';
  return wasAskedToday(db.$client, form.id, addressId, now.getTime()) ? 'asked' : null;
}

/** Returns the form that a request names, or the first form of its list that takes subscriptions; undefined if there is none. */
function chosenForm(
  { db, accountId, config }: Pick<Context, 'db' | 'accountId' | 'config'>,
  { form_id: id, contact_type_id: listId }: Partial<SubscriptionInput>,
): Form | undefined {
  if (id) {
    const form = findForm(db, accountId, id);
    return listId && form?.contact_type_id !== listId ? undefined : form;
  }
  return formsOf(db, accountId).find(
    (form) => form.contact_type_id === listId && formOffCode(db.$client, config, form) === null,
  );
}

/** Adds an error if a custom field does not exist or does not accept its value. The rules are those of forms. */
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

/** Returns the values of a request, without empty ones, by the keys of their fields. */
function valuesOf(db: Db, accountId: number, input: SubscriptionInput): Record<string, string> {
  const reserved = LINE_COLUMNS.map((name) => [name, input[name]?.trim() ?? ''] as const);
  const custom = Object.entries(input.custom_field ?? {}).flatMap(([name, value]) => {
    const field = findField(db, accountId, name);
    return field === undefined ? [] : [[keyOf(field), value.trim()] as const];
  });
  return Object.fromEntries([...reserved, ...custom].filter(([, value]) => value !== ''));
}

/**
 * Returns the ids of the form's groups and of the chosen groups, with 1 for a chosen group and 0 for another; empty if the person was
 * not asked.
 */
function groupsOf(form: Form, { group_ids: chosen }: SubscriptionInput): Record<string, 0 | 1> {
  if (chosen === undefined) return {};
  const ids = new Set(chosen.map(recordId));
  return Object.fromEntries([...form.group_ids, ...ids].map((id) => [id, ids.has(id) ? 1 : 0]));
}

/** Returns true if an address has confirmed a subscription and a further confirmation would change nothing. */
function isSubscribed(db: Db, form: Form, addressId: number, groups: Readonly<Record<string, 0 | 1>>): boolean {
  const row = db.$client
    .prepare<[number, number, number], { one: 1 }>(`
       SELECT 1 AS one FROM contacts WHERE contact_type_id = ? AND address_id = ? AND deleted_at IS NULL
       AND EXISTS (SELECT 1 FROM consent_log WHERE address_id = ? AND action = 'subscribed')`)
    .get(form.contact_type_id, addressId, addressId);
  const isJoining = form.segment_id !== null && !isMember(db.$client, form.segment_id, addressId);
  const unsubscriptions = listUnsubscriptions(db.$client, form.user_id, addressId);
  return (
    row !== undefined &&
    !isJoining &&
    !unsubscriptions.some(({ unsubscribe_groups_id: groupId }) => groupId === null || groups[groupId] === 1)
  );
}
