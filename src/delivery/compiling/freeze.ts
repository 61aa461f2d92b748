/**
 * Freezes the content of a campaign when it is launched: compiles its template once and copies the sender's details, so that later changes
 * do not affect mails that are already on their way.
 */
import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Config } from '../../config.ts';
import { readMailRule } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import { cities, countries, designTemplates, type LinkRules, type senders } from '../../database/schema/index.ts';
import { builtInTemplate } from '../../database/template-texts.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { ContentError, type ContentSource } from '../content/compiled-content.ts';
import { withoutParameters } from '../content/link-rules.ts';
import { findPublicUrl } from '../links/public-url.ts';
import type { FrozenContent } from '../queue/ready-mailing.ts';
import { addressLine } from '../queue/sender.ts';
import { compileContent, compileFrozen, type FrozenText } from './compile.ts';

type Sender = typeof senders.$inferSelect;

/** The fields of a single send or of an automation's mail that are frozen. */
export interface ContentSourceRow {
  template_id: number;
  template_json: string | null;
  template_html: string | null;
  subject: string;
  preheader: string;
  /** 1 if opens and clicks are tracked, else 0. */
  tracking: number;
  /** The parameters to add to links, or 'off' to add none; null or absent for the account's parameters. */
  link_rules?: LinkRules | 'off' | null;
  /** The campaign that link parameters name if the rules name no campaign. */
  single_send_name?: string;
  /** The language of this version of the mail, as an ISO 639-1 code; absent if the mail has only one version. */
  version_language?: string;
}

/** Returns the parameters to add to the links of a mail of the account, with the campaign filled in; null if none are to be added. */
export function findLinkRules(
  db: Db,
  accountId: number,
  { link_rules, single_send_name = '' }: Pick<ContentSourceRow, 'link_rules' | 'single_send_name'>,
): LinkRules | null {
  const rules = link_rules ?? readMailRule(db, accountId, 'link_rules');
  return rules === null || rules === 'off' ? null : { ...rules, campaign: rules.campaign || single_send_name };
}

type TemplateSource = Pick<ContentSourceRow, 'template_id' | 'template_json' | 'template_html'>;

/** The frozen content of a mail and its tracked links. */
export interface Frozen {
  frozen: FrozenContent;
  /** The destinations of tracked links, by link number. */
  links: readonly string[];
  /** The `links` without the link parameters that were added. */
  destinations: readonly string[];
}

/**
 * Returns the frozen content, or the problem that the owner must fix first. `numberedLinks` are the links of other variants of the mail:
 * the variants share one numbering, so that each number means only one link.
 */
export async function freezeContent(
  db: Db,
  config: Config,
  source: ContentSourceRow,
  sender: Sender,
  numberedLinks: readonly string[] = [],
): Promise<Frozen | { problem: Said }> {
  const linkRules = findLinkRules(db, sender.user_id, source);
  const content = await orProblem(
    compileSource(db, config, source, mailingOptions(db, source, sender, linkRules, numberedLinks), (code) =>
      compileContent(sender.user_id, code),
    ),
  );
  if ('problem' in content) return content;
  const { links } = content;
  const destinations = linkRules === null ? links : links.map((url) => withoutParameters(url, linkRules));
  return { links, destinations, frozen: { content, ...senderFacts(db, sender) } };
}

/**
 * Returns the frozen content as JSON, as a mailing stores it, or the problem that the owner must fix first. `facts` are stored in addition to
 * the sender's details.
 */
export async function freezeText(
  db: Db,
  config: Config,
  source: ContentSourceRow,
  sender: Sender,
  facts: Pick<FrozenContent, 'has_own_sender_name' | 'attachments'> = {},
): Promise<FrozenText | { problem: Said }> {
  const known = { ...senderFacts(db, sender), ...facts };
  const freeze = (code: ContentSource) => compileFrozen(sender.user_id, code, known);
  return orProblem(
    compileSource(
      db,
      config,
      source,
      mailingOptions(db, source, sender, findLinkRules(db, sender.user_id, source)),
      freeze,
    ),
  );
}

/** Returns the options of `compileSource` for a mail of a campaign. */
function mailingOptions(
  db: Db,
  { tracking, version_language: version }: ContentSourceRow,
  { user_id: accountId }: Sender,
  linkRules: LinkRules | null,
  numberedLinks: readonly string[] = [],
) {
  const language = version ?? readMailRule(db, accountId, 'mail_language');
  const footerLanguage = version === undefined ? { otherwise: language } : { version };
  return { isTracked: tracking === 1, footer: true, language, footerLanguage, linkRules, numberedLinks };
}

/** Returns what was compiled, or as a problem that the mail has no content or its template is faulty. */
async function orProblem<Result extends object>(compiled: Promise<Result | null>): Promise<Result | { problem: Said }> {
  try {
    return (await compiled) ?? { problem: sentence('content_none') };
  } catch (error) {
    if (error instanceof ContentError) return { problem: sentence('content_broken', { problem: error.said }) };
    throw error;
  }
}

/** The sender's details that are frozen in addition to the content. */
function senderFacts(db: Db, sender: Sender) {
  return {
    from_email: sender.from_email,
    reply_to: sender.reply_to_email,
    sender_name: sender.from_name,
    sender_address: senderAddress(db, sender),
    message_key: randomBytes(9).toString('hex'),
  };
}

/**
 * Runs `compile` on the content of a mail and returns the result; null if the mail has no content. A built-in template is taken in
 * `language`. Links are tracked and a pixel is added if both `isTracked` and the setting TRACKING allow it. Throws ContentError.
 */
export async function compileSource<Result>(
  db: Db,
  config: Config,
  source: Omit<ContentSourceRow, 'tracking'>,
  {
    isTracked,
    linkRules = null,
    numberedLinks = [],
    language = 'en',
    ...footer
  }: { isTracked: boolean; linkRules?: LinkRules | null; numberedLinks?: readonly string[]; language?: string } & Pick<
    ContentSource,
    'footer' | 'footerLanguage'
  >,
  compile: (source: ContentSource) => Promise<Result>,
): Promise<Result | null> {
  const code = findTemplate(db, source, language);
  if (code === null) return null;
  const { subject, preheader } = source;
  return await compile({
    ...code,
    subject,
    preheader,
    tracking: isTracked && config.TRACKING === 'on',
    ...footer,
    linkRules,
    numberedLinks,
    publicUrl: findPublicUrl(db.$client, config).url,
  });
}

/** Returns the campaign's own template code, or the code of its template in `language`; null if it uses the blank template. */
function findTemplate(db: Db, { template_id, template_json, template_html }: TemplateSource, language: string) {
  if (template_json || template_html)
    return { template_json: template_json || null, template_html: template_html || null };
  const template = db.select().from(designTemplates).where(eq(designTemplates.id, template_id)).get();
  if (template === undefined || template.is_blank === 1) return null;
  return { template_json: null, template_html: builtInTemplate(template, language).html_code };
}

/** Returns the value of `((sender_address))` for a sender. */
export function senderAddress(db: Db, sender: Sender): string {
  const city = db.select({ name: cities.name }).from(cities).where(eq(cities.id, sender.city_id)).get();
  const country = db.select({ name: countries.name }).from(countries).where(eq(countries.id, sender.country_id)).get();
  return addressLine({ ...sender, city: city?.name ?? null, country: country?.name ?? null });
}
