/** How texts are compared regardless of case. SQLite's own lower() knows ASCII only. */

/** A text as it is compared: Unicode lower case, composed (NFC). In SQL it is the function `fold`, on every connection. */
export function fold(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
