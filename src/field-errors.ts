/** The texts of field errors: what is wrong with a field of a request, by rule. */

/** A field's name as error texts show it: underscores and camel case become spaces (`strIds` → `str ids`). */
export function fieldLabel(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** The texts of field errors, by rule. */
export const messages = {
  required: (field: string) => `The ${fieldLabel(field)} field is required.`,
  selected: (field: string) => `The selected ${fieldLabel(field)} is invalid.`,
  email: (field: string) => `The ${fieldLabel(field)} must be a valid email address.`,
  integer: (field: string) => `The ${fieldLabel(field)} must be an integer.`,
  string: (field: string) => `The ${fieldLabel(field)} must be a string.`,
  array: (field: string) => `The ${fieldLabel(field)} must be an array.`,
  minimum: (field: string, length: number) => `The ${fieldLabel(field)} must be at least ${length} characters.`,
  maximum: (field: string, length: number) => `The ${fieldLabel(field)} may not be greater than ${length} characters.`,
  least: (field: string, value: number) => `The ${fieldLabel(field)} must be at least ${value}.`,
  most: (field: string, value: number) => `The ${fieldLabel(field)} may not be greater than ${value}.`,
  items: (field: string, count: number) => `The ${fieldLabel(field)} may not have more than ${count} items.`,
  taken: (field: string) => `The ${fieldLabel(field)} has already been taken.`,
  erased: (field: string) => `The ${fieldLabel(field)} belongs to a person who was erased, and is not accepted again.`,
  oneLine: (field: string) => `The ${fieldLabel(field)} may not contain line breaks or control characters.`,
};
