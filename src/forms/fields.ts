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
/** The beginning of the key of a custom field. */
const CUSTOM_PREFIX = 'custom-';
const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029]/u;

/** A field that a form asks for. */
export interface AskedField {
  /** The key of the field's value in a request: the name of a reserved field, or `custom-` and the id of a custom field. */
  key: string;
  /** The field's name in the API. */
  name: string;
  /** The label that the owner has chosen; empty for the usual name of the field. */
  label: string;
  /** True if the visitor must fill in the field. */
  required: boolean;
  type: FieldType;
}

/** Returns the field with this name as it is stored; undefined if forms of the account cannot have such a field. */
export function findField(db: Db, accountId: number, name: string): FormField['field'] | undefined {
  // Forms do not ask for the language, because contacts get the language of the form.
  if (isLineField(name) && name !== 'language') return name;
  return listCustomFields(db, accountId).find((field) => field.field_name === name)?.id;
}

/** Returns the fields of a form, without custom fields that have been deleted. */
export function askedFields(db: Db, accountId: number, fields: readonly FormField[]): AskedField[] {
  const customFields = new Map(listCustomFields(db, accountId).map((field) => [field.id, field]));
  return fields.flatMap(({ field, label, required }): AskedField[] => {
    const common = { label, required: required === 1 };
    const key = keyOf(field);
    if (typeof field === 'string') return [{ ...common, key, name: field, type: 'text' }];
    const custom = customFields.get(field);
    return custom === undefined ? [] : [{ ...common, key, name: custom.field_name, type: typeOf(custom) }];
  });
}

/** Returns the fields for which a request has values. Requests made with the API may have values for fields that the form lacks. */
export function filledFields(
  db: Db,
  form: { user_id: number; fields: readonly FormField[] },
  values: Readonly<Record<string, string>>,
): AskedField[] {
  const formKeys = new Set(form.fields.map(({ field }) => keyOf(field)));
  const otherKeys = Object.keys(values).filter((key) => !formKeys.has(key));
  const otherFields = otherKeys.map((key) => ({
    field: isLineField(key) ? key : Number(key.slice(CUSTOM_PREFIX.length)),
    label: '',
    required: 0 as const,
  }));
  return askedFields(db, form.user_id, [...form.fields, ...otherFields]).filter(({ key }) => values[key] !== undefined);
}

/** Returns the key of a field's value in a request. */
export function keyOf(field: FormField['field']): string {
  return typeof field === 'string' ? field : `${CUSTOM_PREFIX}${field}`;
}

function typeOf({ field_type: type }: CustomField): FieldType {
  return FIELD_TYPES.find((known) => known === type) ?? 'text';
}

/** Returns what is wrong with the value of a field; null if the value is valid. */
export function valueFault({ required, type }: AskedField, value: string): 'required' | 'invalid' | 'long' | null {
  if (value === '') return required ? 'required' : null;
  if (value.length > MAX_VALUE_CHARACTERS) return 'long';
  return CONTROL_CHARACTER.test(value) || !isValidValue(type, value) ? 'invalid' : null;
}

/** Returns the submitted values, without empty ones, by column and by custom field of the contact. `language` is the language of the form. */
export function contactValues(
  fields: readonly AskedField[],
  values: Readonly<Record<string, string>>,
  language: string,
): { columns: Partial<Record<LineName, string>>; custom: Record<string, string> } {
  const columns: Partial<Record<LineName, string>> = { language };
  const custom: Record<string, string> = Object.create(null);
  for (const { key, name } of fields) {
    const value = values[key];
    if (value === undefined || value === '') continue;
    if (isLineField(key)) columns[key] = value;
    else custom[name] = value;
  }
  return { columns, custom };
}
