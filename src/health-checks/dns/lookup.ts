/** How the checks of a domain ask the DNS. */

/** The TXT records at a name. Throws the error of node:dns when the lookup fails. */
export type Lookup = (name: string) => Promise<string[]>;
