/** Checks the content and the header of a mail in the form in which it is sent. */
import { checkHeaders, type HeaderFinding } from './header-checks.ts';
import { checkMail, type Finding, type MailContent, type MailParts } from './mail-checks.ts';
import { checkReading, type ReadingFinding } from './reading-checks.ts';

/** What is in the HTML of a mail, and one finding for each check. */
export interface CheckedBuiltMail extends MailContent {
  /** The findings. They lack the finding of `checkMail` about unsubscribing, because `checkHeaders` checks one-click unsubscribing. */
  findings: (Exclude<Finding, { check: 'unsubscribe' }> | ReadingFinding | HeaderFinding)[];
}

/** Checks a mail by its parts, as `readParts` reads them. */
export function checkBuilt(parts: MailParts): CheckedBuiltMail {
  const { findings, ...content } = checkMail(parts);
  const subject = parts.headers.find(({ name }) => name.toLowerCase() === 'subject')?.value ?? '';
  return {
    ...content,
    findings: [
      ...findings,
      ...checkReading(content, { subject, size: Buffer.byteLength(parts.html ?? '') }),
      ...checkHeaders(parts),
    ],
  };
}
