/** Compares texts regardless of case. SQLite's own lower() changes ASCII letters only. */

/**
 * Returns the form in which a text is compared: Unicode lower case, composed (NFC). In SQL, every connection has it as the function `fold`.
 */
export function fold(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
