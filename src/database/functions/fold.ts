/** Comparing texts regardless of case. SQLite's own lower() changes ASCII letters only. */

/** A text in the form in which it is compared: Unicode lower case, composed (NFC). Every connection has it as the SQL function `fold`. */
export function fold(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
