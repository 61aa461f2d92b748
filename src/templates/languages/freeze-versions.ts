/** Freezes the content of a mail together with the variants of its A/B test, or with its versions in other languages. */
import type { Config } from '../../config.ts';
import { readMailRule } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { senders } from '../../database/schema/index.ts';
import { type ContentSourceRow, type Frozen, freezeContent } from '../../delivery/compiling/freeze.ts';
import type { FrozenVariant } from '../../delivery/queue/ready-mailing.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { asVersion, type VersionedMail } from './versions.ts';

type Sender = typeof senders.$inferSelect;

/** A variant in addition to the mail itself. */
interface OtherVariant extends Omit<FrozenVariant, 'content'> {
  /** Reads the variant with its code. Called only when the variant is frozen, because the code can have megabytes. */
  source(): ContentSourceRow;
  /** The name of the variant in the sentence about its problem. */
  name: string;
}

/** Returns the frozen content of a mail with its variants, or the problem that its owner must fix first. */
export async function freezeVariants(
  db: Db,
  config: Config,
  mail: ContentSourceRow,
  others: readonly OtherVariant[],
  sender: Sender,
): Promise<Frozen | { problem: Said }> {
  const first = await freezeContent(db, config, mail, sender);
  if ('problem' in first || others.length === 0) return first;
  const variants: FrozenVariant[] = [];
  let { links, destinations } = first;
  for (const { source, name, ...fields } of others) {
    const frozen = await freezeContent(db, config, source(), sender, links);
    if ('problem' in frozen) {
      const code = fields.language === undefined ? 'ab_variant_problem' : 'language_problem';
      return { problem: sentence(code, { name, ...frozen }) };
    }
    ({ links, destinations } = frozen);
    variants.push({ content: frozen.frozen.content, ...fields });
  }
  return { links, destinations, frozen: { ...first.frozen, variants } };
}

/** Returns the frozen content of a mail with its versions in other languages, or the problem that its owner must fix first. */
export async function freezeVersions(
  db: Db,
  config: Config,
  mail: ContentSourceRow & VersionedMail,
  sender: Sender,
): Promise<Frozen | { problem: Said }> {
  const others = (mail.languages ?? []).map(({ language }, index) => ({
    language,
    name: language,
    sender_name: null,
    source: () => asVersion(db, mail, index + 1),
  }));
  const frozen = await freezeVariants(db, config, asVersion(db, mail, 0), others, sender);
  if ('problem' in frozen || others.length === 0) return frozen;
  return { ...frozen, frozen: { ...frozen.frozen, language: readMailRule(db, mail.user_id, 'mail_language') } };
}
