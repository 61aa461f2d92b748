/** The variants of a single send: those of its A/B test, or its versions in other languages. */
import type { Db } from '../database/open.ts';
import type { AbTest, singleSends, Variant } from '../database/schema/index.ts';
import { invalid } from '../errors/failure.ts';
import { messages } from '../errors/field-errors.ts';
import { asVersion, withOwnParts } from '../templates/languages/versions.ts';

type SingleSend = typeof singleSends.$inferSelect;

/**
 * Returns the variants of a mail, or its versions in other languages, beginning with the mail itself. Empty fields of a variant are filled
 * with those of the mail; an empty `sender_name` means the name of the sender.
 */
export function allVariants(
  { subject, preheader, languages }: Pick<SingleSend, 'subject' | 'preheader' | 'languages'>,
  test: AbTest | null,
): Variant[] {
  const mail: Variant = { subject, preheader, sender_name: '', template_id: 0 };
  return [
    mail,
    ...(test?.variants ?? languages ?? []).map((variant) => ({
      subject: variant.subject || subject,
      preheader: variant.preheader || preheader,
      sender_name: 'sender_name' in variant ? variant.sender_name : '',
      template_id: variant.template_id,
    })),
  ];
}

/**
 * Returns a single send with the content of its variant or version with this number; 0 means the mail itself. The code of a variant's
 * template is read as it is now. An empty `sender_name` means the name of the sender. Throws 422 if there is no such variant.
 */
export function asVariant(
  db: Db,
  send: SingleSend,
  number: number,
): SingleSend & Pick<Variant, 'sender_name'> & { version_language?: string } {
  const variant = allVariants(send, send.ab_test)[number];
  if (variant === undefined) throw invalid('variant', messages.selected('variant'));
  const { sender_name } = variant;
  return { ...(send.ab_test === null ? asVersion(db, send, number) : withOwnParts(db, send, variant)), sender_name };
}
