/** The `email_address` parameter, which accepts a comma-separated list. */
import Type from 'typebox';
import { type Address, parseAddressList } from '../../audience/contacts/addresses.ts';
import { messages } from '../../errors/field-errors.ts';
import { MAX_ARRAY_ITEMS } from './schemas.ts';
import type { FieldErrorCollector } from './validation.ts';

export const AddressList = Type.String({ description: 'One address, or several separated by commas.' });

/** How many invalid addresses an error lists at most, and how many characters of each. */
const MAX_LISTED = 20;
const MAX_LISTED_CHARACTERS = 260;

/**
 * Adds a field error if a list has too many addresses, none, or invalid ones, which the error names. Does nothing if there is no list.
 */
export async function checkAddressList(list: string | undefined, errors: FieldErrorCollector): Promise<void> {
  if (list === undefined) return;
  const parsed = await parseAddressList(list, MAX_ARRAY_ITEMS);
  if (!('bad' in parsed)) return;
  if (parsed.tooMany) {
    errors.add('email_address', messages.items('email_address', MAX_ARRAY_ITEMS));
    return;
  }
  const invalid = parsed.bad.slice(0, MAX_LISTED).map((address) => address.slice(0, MAX_LISTED_CHARACTERS));
  // The list of addresses replaces the full stop.
  const text = String(messages.email('email_address')).slice(0, -1);
  errors.add(
    'email_address',
    invalid.length > 0 ? `${text}: ${invalid.join(', ')}` : messages.required('email_address'),
  );
}

/** Parses the addresses of a list that has passed `checkAddressList`. */
export async function readAddressList(list: string): Promise<Address[]> {
  const parsed = await parseAddressList(list, MAX_ARRAY_ITEMS);
  return 'bad' in parsed ? [] : parsed.addresses;
}

/** The maximum number of addresses to which a test is sent at once. */
export const MAX_TEST_ADDRESSES = 10;

/** Adds the field errors for the addresses of a test mail. At most ten addresses are allowed. */
export async function checkTestAddresses(list: string | undefined, errors: FieldErrorCollector): Promise<void> {
  await checkAddressList(list, errors);
  if (list === undefined || errors.has('email_address')) return;
  if ((await readAddressList(list)).length > MAX_TEST_ADDRESSES)
    errors.add('email_address', messages.items('email_address', MAX_TEST_ADDRESSES));
}
