/** Error texts for the fields of a request, and the limit of a line of text. */
import { sentence } from './sentences.ts';

/** The maximum number of characters of one line of text. */
export const MAX_LINE_CHARACTERS = 255;

/** A field's name as shown in error texts: underscores and camel case become spaces (`strIds` → `str ids`). */
export function fieldLabel(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** The sentences about values that a custom field of a type does not accept. */
const VALUE_ERRORS: Readonly<Record<string, 'field_number' | 'field_date' | 'field_yearly_date'>> = {
  number: 'field_number',
  'datetime-local': 'field_date',
  'yearly-date': 'field_yearly_date',
};

/** The texts of field errors, by rule. */
export const messages = {
  required: (field: string) => sentence('field_required', { field: fieldLabel(field) }),
  selected: (field: string) => sentence('field_selected', { field: fieldLabel(field) }),
  value: (field: string, type: string) =>
    sentence(VALUE_ERRORS[type] ?? 'field_selected', { field: fieldLabel(field) }),
  gone: (field: string) => sentence('field_gone', { field: fieldLabel(field) }),
  email: (field: string) => sentence('field_email', { field: fieldLabel(field) }),
  integer: (field: string) => sentence('field_integer', { field: fieldLabel(field) }),
  string: (field: string) => sentence('field_string', { field: fieldLabel(field) }),
  array: (field: string) => sentence('field_array', { field: fieldLabel(field) }),
  json: (field: string) => sentence('field_json', { field: fieldLabel(field) }),
  taken: (field: string) => sentence('field_taken', { field: fieldLabel(field) }),
  erased: (field: string) => sentence('field_erased', { field: fieldLabel(field) }),
  oneLine: (field: string) => sentence('field_one_line', { field: fieldLabel(field) }),
  minimum: (field: string, count: number) => sentence('field_minimum', { field: fieldLabel(field), count }),
  maximum: (field: string, count: number) => sentence('field_maximum', { field: fieldLabel(field), count }),
  least: (field: string, count: number) => sentence('field_least', { field: fieldLabel(field), count }),
  most: (field: string, count: number) => sentence('field_most', { field: fieldLabel(field), count }),
  items: (field: string, count: number) => sentence('field_items', { field: fieldLabel(field), count }),
};
