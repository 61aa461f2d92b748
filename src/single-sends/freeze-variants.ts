/** Freezes every variant of a single send at its launch: each is compiled once. */
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { senders, singleSends, Variant } from '../database/schema/index.ts';
import { type Frozen, freezeContent } from '../delivery/content/freeze.ts';
import type { FrozenVariant } from '../delivery/queue/ready-mailing.ts';
import { sentence } from '../sentences.ts';
import { withTemplateCopied } from '../templates/mail-content.ts';
import { abTestProblem, allVariants } from './ab-tests.ts';

/** The frozen content of a single send with its variants, if it has an A/B test; or what its owner must fix first. */
export async function freezeSend(
  db: Db,
  config: Config,
  send: typeof singleSends.$inferSelect,
  sender: typeof senders.$inferSelect,
): Promise<(Frozen & { variants: Variant[] }) | { problem: string }> {
  const test = send.ab_test;
  const problem = test && abTestProblem(config, send, test);
  if (problem) return { problem: problem[1] };
  const mail = await freezeContent(db, config, send, sender);
  if (test === null || 'problem' in mail) return 'problem' in mail ? mail : { ...mail, variants: [] };
  const all = allVariants(send, test);
  const frozen: FrozenVariant[] = [];
  let { links } = mail;
  for (const [number, variant] of all.entries()) {
    if (number === 0) continue;
    const { subject, preheader, sender_name } = variant;
    const source = { ...send, ...templateOf(db, send.user_id, variant), subject, preheader };
    const made = await freezeContent(db, config, source, sender, links);
    if ('problem' in made) return { problem: sentence('ab_variant_problem', { name: variantName(number), ...made }) };
    links = made.links;
    frozen.push({ content: made.frozen.content, sender_name: sender_name || null });
  }
  return { links, frozen: { ...mail.frozen, variants: frozen }, variants: all };
}

/** The letter that stands for a variant: A is the mail itself. */
function variantName(number: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + number);
}

/** The template of a variant that has one of its own, as it is now. */
function templateOf(db: Db, accountId: number, { template_id }: Variant) {
  if (template_id === 0) return {};
  const own = withTemplateCopied<{ template_id: number; template_json?: string; template_html?: string }>(
    db,
    accountId,
    {
      template_id,
    },
  );
  return { ...own, template_json: own.template_json ?? null, template_html: own.template_html ?? null };
}
