/** Matches the characters that are left out of mails: control characters, and others that are no text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
export const LEFT_OUT = /[\0-\x08\v\f\x0e-\x1f\ufdd0-\ufdef\ufeff]/g;
