/** The variants of a single send: each as a mail of its own, and all of them frozen at the launch. */
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { AbTest, senders, singleSends, Variant } from '../database/schema/index.ts';
import { type Frozen, freezeContent } from '../delivery/content/freeze.ts';
import type { FrozenVariant } from '../delivery/queue/ready-mailing.ts';
import { variantName } from '../delivery/variants/groups.ts';
import { findAbTestProblem } from '../delivery/variants/test-problem.ts';
import { invalid } from '../errors/failure.ts';
import { messages } from '../errors/field-errors.ts';
import { SENTENCES, sentence } from '../errors/sentences.ts';
import { withTemplateCopied } from '../templates/mail-content.ts';

type SingleSend = typeof singleSends.$inferSelect;

/** All variants of a mail as they are sent, A first, which is the only one without a test. */
export function allVariants(
  { subject, preheader }: Pick<SingleSend, 'subject' | 'preheader'>,
  test: AbTest | null,
): Variant[] {
  const mail: Variant = { subject, preheader, sender_name: '', template_id: 0 };
  return [
    mail,
    ...(test?.variants ?? []).map((variant) => ({
      ...variant,
      subject: variant.subject || subject,
      preheader: variant.preheader || preheader,
    })),
  ];
}

/**
 * A single send as its variant with this number has it, 0 being A; an empty `sender_name` is that of the sender. A template is copied as it is
 * now. Throws 422 when there is no such variant.
 */
export function asVariant(db: Db, send: SingleSend, number: number): SingleSend & Pick<Variant, 'sender_name'> {
  const variant = allVariants(send, send.ab_test)[number];
  if (variant === undefined) throw invalid('variant', messages.selected('variant'));
  const { template_id, ...own } = variant;
  if (template_id === 0) return { ...send, ...own };
  const code: { template_id: number; template_json?: string; template_html?: string } = { template_id };
  const copied = withTemplateCopied(db, send.user_id, code);
  return { ...send, ...own, template_json: null, template_html: null, ...copied };
}

/** The frozen content of a single send with its variants, if it has an A/B test; or what its owner must fix first. */
export async function freezeSend(
  db: Db,
  config: Config,
  send: SingleSend,
  sender: typeof senders.$inferSelect,
): Promise<(Frozen & { variants: Variant[] }) | { problem: string }> {
  const test = send.ab_test;
  const problem = findAbTestProblem(db, config, send);
  if (problem !== null) return { problem: SENTENCES[problem] };
  const mail = await freezeContent(db, config, send, sender);
  if (test === null || 'problem' in mail) return 'problem' in mail ? mail : { ...mail, variants: [] };
  const all = allVariants(send, test);
  const frozen: FrozenVariant[] = [];
  let { links } = mail;
  for (let number = 1; number < all.length; number++) {
    const variant = asVariant(db, send, number);
    const made = await freezeContent(db, config, variant, sender, links);
    if ('problem' in made)
      return { problem: String(sentence('ab_variant_problem', { name: variantName(number), ...made })) };
    links = made.links;
    frozen.push({ content: made.frozen.content, sender_name: variant.sender_name || null });
  }
  return { links, frozen: { ...mail.frozen, variants: frozen }, variants: all };
}
