/** Reads a submitted form. Anyone can send anything, so every value is limited and checked. */
import { type Address, parseAddress } from '../../audience/contacts/addresses.ts';
import { writtenValue } from '../../audience/fields/custom-fields.ts';
import { valueFault } from '../../forms/fields.ts';
import type { FilledForm } from '../../forms/requests.ts';
import type { ShownForm } from '../../forms/shown-form.ts';
import type { Fault, Faults, Filled } from '../../http/pages/form-markup.tsx';
import { type FormBody, textList } from '../../http/requests/form-fields.ts';

/** When the form is shown again, longer values are cut off. */
const MAX_SHOWN_CHARACTERS = 500;

interface ReadForm {
  values: Filled;
  /** Null if the submitted address is not valid. */
  address: Address | null;
  faults: Faults;
}

/** Returns the submitted values of a form and their faults. Fields that the form does not have are ignored. */
export function readFilled({ fields }: ShownForm, body: FormBody): ReadForm {
  const faults = new Map<string, Fault>();
  const email = typeof body.email === 'string' ? body.email.trim() : '';
  const address = parseAddress(email);
  if (address === null) faults.set('email', email === '' ? 'required' : 'email');
  const submitted = typeof body.value === 'object' && !Array.isArray(body.value) ? body.value : {};
  const values: Record<string, string> = {};
  for (const field of fields) {
    const value = writtenValue(field.type, (submitted[field.key] ?? '').trim());
    const fault = valueFault(field, value);
    if (fault !== null) faults.set(field.key, fault);
    values[field.key] = value.slice(0, MAX_SHOWN_CHARACTERS);
  }
  const isTicked = (name: string) => body[name] === '1' || body[name] === 'on';
  const consent = isTicked('consent');
  if (!consent) faults.set('consent', 'consent');
  const chosen = new Set((textList(body.group) ?? []).map(Number));
  return {
    values: { email: email.slice(0, MAX_SHOWN_CHARACTERS), values, chosen, consent, tracking: isTicked('tracking') },
    address,
    faults,
  };
}

/** Returns a submitted form without faults as the input of `takeRequest`. If no groups were offered for choice, all are chosen. */
export function filledForm(
  address: Address,
  { values, chosen, tracking }: Filled,
  { form, groups, trackingText }: ShownForm,
  network: string,
  proof: FilledForm['proof'],
): FilledForm {
  const isChosen = (id: number): 0 | 1 => (chosen === null || chosen.has(id) ? 1 : 0);
  return {
    address,
    values: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
    groups: Object.fromEntries(groups.map(({ id }) => [id, isChosen(id)])),
    consentText: form.consent_text,
    source: '',
    trackingText: tracking && trackingText !== null ? trackingText : '',
    network,
    proof,
  };
}
