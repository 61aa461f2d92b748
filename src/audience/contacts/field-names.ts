/** Names of custom fields that are made from the names of columns. */

const MAX_LENGTH = 64;

/** The name of a field for a column: letters, digits and underscores, as in a placeholder. `Straße (privat)` gives `strasse_privat`. */
export function fieldNameFor(column: string, number: number): string {
  const name = column
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, MAX_LENGTH);
  return name === '' ? `column_${number}` : name;
}
