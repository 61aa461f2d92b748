/** The fields that a form may have, and the values that visitors submit for them. */
import { isLineField, type LineName } from '../audience/contacts/contact-fields.ts';
import {
  type CustomField,
  FIELD_TYPES,
  type FieldType,
  isValidValue,
  listCustomFields,
} from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import type { FormField } from '../database/schema/index.ts';

/** The maximum number of fields of a form. */
export const MAX_FIELDS = 20;
/** The maximum length of a value, in characters. */
export const MAX_VALUE_CHARACTERS = 255;
/** Begins the key of a custom field. */
const CUSTOM = 'custom-';
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** A field as the page shows it. */
export interface AskedField {
  /** Its key among the values of a request: the name of a reserved field, or `custom-` and the id of a custom field. */
  key: string;
  /** The field's name in the API. */
  name: string;
  /** The owner's label; empty: the field's usual name. */
  label: string;
  required: boolean;
  type: FieldType;
}

/** Returns the field with this name as a form stores it; undefined if the account has none that a form may have. */
export function findField(db: Db, accountId: number, name: string): FormField['field'] | undefined {
  // A contact gets the language of the form.
  if (isLineField(name) && name !== 'language') return name;
  return listCustomFields(db, accountId).find((field) => field.field_name === name)?.id;
}

/** Returns the fields of a form, without custom ones that were deleted since. */
export function askedFields(db: Db, accountId: number, fields: readonly FormField[]): AskedField[] {
  const custom = new Map(listCustomFields(db, accountId).map((field) => [field.id, field]));
  return fields.flatMap(({ field, label, required }): AskedField[] => {
    const common = { label, required: required === 1 };
    const key = keyOf(field);
    if (typeof field === 'string') return [{ ...common, key, name: field, type: 'text' }];
    const own = custom.get(field);
    return own === undefined ? [] : [{ ...common, key, name: own.field_name, type: typeOf(own) }];
  });
}

/** Returns the fields that a request has values for: the fields of its form, and others that the API's caller gave. */
export function filledFields(
  db: Db,
  form: { user_id: number; fields: readonly FormField[] },
  input: Readonly<Record<string, string>>,
): AskedField[] {
  const asked = new Set(form.fields.map(({ field }) => keyOf(field)));
  const others = Object.keys(input).filter((key) => !asked.has(key));
  const known = others.map((key) => ({
    field: isLineField(key) ? key : Number(key.slice(CUSTOM.length)),
    label: '',
    required: 0 as const,
  }));
  return askedFields(db, form.user_id, [...form.fields, ...known]).filter(({ key }) => input[key] !== undefined);
}

/** Returns the key of a field among the values of a request. */
export function keyOf(field: FormField['field']): string {
  return typeof field === 'string' ? field : `${CUSTOM}${field}`;
}

function typeOf({ field_type: type }: CustomField): FieldType {
  return FIELD_TYPES.find((one) => one === type) ?? 'text';
}

/** Returns the fault of a value for a field; null if it is valid. */
export function valueFault({ required, type }: AskedField, value: string): 'required' | 'invalid' | 'long' | null {
  if (value === '') return required ? 'required' : null;
  if (value.length > MAX_VALUE_CHARACTERS) return 'long';
  return CONTROL.test(value) || !isValidValue(type, value) ? 'invalid' : null;
}

/** Returns the values for a contact: its columns and its custom fields by name, without empty ones. `language` is that of the form. */
export function contactValues(
  fields: readonly AskedField[],
  input: Readonly<Record<string, string>>,
  language: string,
): { columns: Partial<Record<LineName, string>>; custom: Record<string, string> } {
  const columns: Partial<Record<LineName, string>> = { language };
  const custom: Record<string, string> = Object.create(null);
  for (const { key, name } of fields) {
    const value = input[key];
    if (value === undefined || value === '') continue;
    if (isLineField(key)) columns[key] = value;
    else custom[name] = value;
  }
  return { columns, custom };
}
