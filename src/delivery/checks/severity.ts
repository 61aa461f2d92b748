/** How bad each finding of a check is, and where it is mended. */
import type { ContentFinding } from './content-checks.ts';
import type { HeaderFinding } from './header-checks.ts';
import type { Finding } from './mail-checks.ts';
import type { ReadingFinding } from './reading-checks.ts';
import type { RecipientFinding } from './recipients-check.ts';

/**
 * How bad a finding is: an error is wrong in every mail, a warning may keep the mail from arriving or from being read, and a note is worth a
 * look.
 */
export type Severity = 'error' | 'warning' | 'note';

/** A check of the mail itself, as opposed to a check for each recipient. */
export type FoundCheck = (Finding | ContentFinding | ReadingFinding | HeaderFinding)['check'];

/** Where a finding is mended: in the content as a whole, at the texts or links that the finding names, at the sender, or at a contact. */
export type Place = 'content' | 'text' | 'sender' | 'contact';

interface Judgement {
  readonly severity: Severity;
  readonly place: Place;
}

const OF_MAIL = {
  leave: { severity: 'error', place: 'content' },
  address: { severity: 'error', place: 'sender' },
  addressLacks: { severity: 'warning', place: 'sender' },
  urls: { severity: 'error', place: 'text' },
  foreign: { severity: 'error', place: 'text' },
  unknown: { severity: 'warning', place: 'content' },
  sample: { severity: 'warning', place: 'text' },
  values: { severity: 'note', place: 'content' },
  size: { severity: 'warning', place: 'content' },
  attachments: { severity: 'note', place: 'content' },
  unsubscribe: { severity: 'warning', place: 'content' },
  plainText: { severity: 'warning', place: 'content' },
  language: { severity: 'note', place: 'content' },
  images: { severity: 'warning', place: 'content' },
  links: { severity: 'warning', place: 'content' },
  contrast: { severity: 'warning', place: 'content' },
  clippedUnsubscribe: { severity: 'warning', place: 'content' },
  clippedPixel: { severity: 'note', place: 'content' },
  imagesOnly: { severity: 'warning', place: 'content' },
  headings: { severity: 'note', place: 'content' },
  examples: { severity: 'warning', place: 'text' },
  http: { severity: 'note', place: 'text' },
  spamWords: { severity: 'note', place: 'content' },
  oneClick: { severity: 'error', place: 'content' },
  freemail: { severity: 'error', place: 'sender' },
  signature: { severity: 'warning', place: 'sender' },
  headers: { severity: 'error', place: 'content' },
} as const satisfies Readonly<Record<FoundCheck, Judgement>>;

/** A check whose findings are errors. */
export type ErrorCheck = {
  [Check in FoundCheck]: (typeof OF_MAIL)[Check]['severity'] extends 'error' ? Check : never;
}[FoundCheck];

/** Returns true if a recorded code names a check of the mail itself that this release knows. */
export function isFoundCheck(code: string): code is FoundCheck {
  return Object.hasOwn(OF_MAIL, code);
}

/** Returns true if a recorded code names a check whose findings are errors. */
export function isErrorCheck(code: string): code is ErrorCheck {
  return isFoundCheck(code) && OF_MAIL[code].severity === 'error';
}

/** The judgement of each finding, about the mail itself or about its recipients. */
export const FINDINGS: Readonly<Record<FoundCheck | RecipientFinding['code'], Judgement>> = {
  ...OF_MAIL,
  value_empty: { severity: 'warning', place: 'contact' },
  branch_unused: { severity: 'warning', place: 'content' },
  subject_longest: { severity: 'note', place: 'content' },
  mail_clipped: { severity: 'warning', place: 'content' },
  language_missing: { severity: 'note', place: 'content' },
};
