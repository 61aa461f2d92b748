/** The content of transactional mails: templates, compiled once for many mails, merged with the values of one mail. */
import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { senders } from '../database/schema/index.ts';
import { compileContent } from '../delivery/compiling/compile.ts';
import { compileSource, senderAddress } from '../delivery/compiling/freeze.ts';
import { type Content, ContentError } from '../delivery/content/compiled-content.ts';
import { mergeHtml, mergeLine, mergeText, type Values } from '../delivery/content/merge.ts';
import { chosenPieces, PREFERENCES, scan, type Template, WEB_COPY } from '../delivery/content/placeholders.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { MAX_MERGED, MergedSize, MergedTooLarge } from '../delivery/mime/merged-size.ts';
import type { Bodies } from '../delivery/transactional/mail.ts';
import { conflict, invalid } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { withOwnParts } from '../templates/languages/versions.ts';
import { BLANK_TEMPLATE, findVersions, withTemplateCopied } from '../templates/mail-content.ts';
import { MEBIBYTE } from '../units.ts';

type Sender = typeof senders.$inferSelect;

/** The content of a mail as the request has it. */
export interface ContentInput {
  subject: string;
  preheader: string;
  template_id?: number;
  template_json: string;
  template_html: string;
  /** A plain text that replaces the one made from the template. */
  text: string;
  data: Readonly<Record<string, string>>;
  email: string;
  name: string;
  /** The language of the version of the template, as an ISO 639-1 code. */
  language: string;
}

const MAX_VALUES = 200;
/** The maximum number of compiled templates that are kept. */
const MAX_KEPT = 100;
/** The maximum number of characters of these templates together. */
const MAX_KEPT_CHARACTERS = 8 * MEBIBYTE;
/** The placeholders that only mails of campaigns may have. */
const CAMPAIGN_PLACEHOLDERS = new Set([PREFERENCES, WEB_COPY]);

/** Runs work for an account when its earlier work has ended, so that one account cannot occupy the compiling thread. */
type InTurn = (accountId: number, work: () => Promise<Content | null>) => Promise<Content | null>;

/** Compiles templates for transactional mail and keeps the newest. */
export class CompiledTemplates {
  readonly #kept = new Map<string, { content: Content | null; size: number }>();
  readonly #inTurn: InTurn;
  #size = 0;

  constructor(inTurn: InTurn) {
    this.#inTurn = inTurn;
  }

  /** Returns the compiled content of a mail. Calls `compile` only if the content is not kept. */
  async get(accountId: number, key: string, compile: () => Promise<Content | null>): Promise<Content | null> {
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#remove(key, known.size);
      this.#add(key, known);
      return known.content;
    }
    const content = await this.#inTurn(accountId, compile);
    const size = content === null ? 0 : JSON.stringify(content).length;
    if (this.#kept.has(key) || size > MAX_KEPT_CHARACTERS) return content;
    this.#add(key, { content, size });
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.#size <= MAX_KEPT_CHARACTERS) break;
      this.#remove(oldest, kept.size);
    }
    return content;
  }

  #add(key: string, kept: { content: Content | null; size: number }): void {
    this.#kept.set(key, kept);
    this.#size += kept.size;
  }

  #remove(key: string, size: number): void {
    this.#kept.delete(key);
    this.#size -= size;
  }
}

/**
 * Returns the subject and the bodies with their values. Throws 409 with the fault of the template, and 422 for missing values
 * or values that make the mail too large.
 */
export async function composeMail(
  { db, config }: { db: Db; config: Config },
  templates: CompiledTemplates,
  accountId: number,
  input: ContentInput,
  sender: Sender,
): Promise<{ subject: string; bodies: Bodies }> {
  checkNames(input.data);
  const source = sourceOf(db, accountId, input);
  const { template_id, template_json, template_html } = source;
  const isTextOnly = input.text !== '' && template_id === BLANK_TEMPLATE && !template_json && !template_html;
  const key = createHash('sha256')
    .update(JSON.stringify([source, findPublicUrl(db.$client, config).url]))
    .digest('base64');
  const compile = () =>
    compileSource(db, config, source, { isTracked: false, footer: false }, (code) => compileContent(accountId, code));
  const content = isTextOnly ? null : await templates.get(accountId, key, () => asConflict(compile));
  if (content === null && !isTextOnly) throw conflict(sentence('content_none'));
  const html = content?.html ?? null;
  const text = input.text === '' ? (content?.text ?? null) : scan(input.text);
  const subject = scan(source.subject);
  const values = valuesOf(input, sender, senderAddress(db, sender));
  const chosen = [subject, html ?? [], text ?? []].map((template) => chosenPieces(template, (name) => values[name]));
  checkTemplates(chosen, values, isTextOnly ? 'text' : fieldOf(input));
  checkSize({ subject: source.subject, html: html ?? [], text: text ?? [] }, values);
  const bodies = { html: html && mergeHtml(html, values), text: text && mergeText(text, values) };
  return { subject: mergeLine(source.subject, values), bodies };
}

/** Returns the source of a mail: from the request, or from the version of its template in its language. */
function sourceOf(db: Db, accountId: number, input: ContentInput) {
  const { subject, preheader, language, ...code } = input;
  // 0 means none, as in a request without a template.
  const template_id = input.template_id || BLANK_TEMPLATE;
  const { template_json, template_html } = code;
  const mail = { user_id: accountId, subject, preheader, template_id, template_json, template_html };
  const versions = template_json || template_html ? null : findVersions(db, accountId, template_id);
  const version = versions?.find((listed) => listed.language === language);
  const { user_id: _, ...source } = withTemplateCopied(
    db,
    accountId,
    version === undefined ? mail : withOwnParts(db, mail, version),
  );
  return source;
}

/** Compiles content. Throws 409 if the template is faulty. */
async function asConflict(compile: () => Promise<Content | null>): Promise<Content | null> {
  try {
    return await compile();
  } catch (error) {
    if (error instanceof ContentError) throw conflict(sentence('content_broken', { problem: error.said }));
    throw error;
  }
}

function fieldOf({ template_json, template_html }: ContentInput): string {
  if (template_json) return 'template_json';
  return template_html ? 'template_html' : 'template_id';
}

function valuesOf(
  { data, email, name, language }: ContentInput,
  sender: Sender,
  address: string,
): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  return Object.assign(values, {
    full_name: name,
    language,
    ...data,
    email,
    sender_name: sender.from_name,
    sender_address: address,
  });
}

/** Throws 422 for too many values, or a name that no placeholder can have. */
function checkNames(data: Readonly<Record<string, string>>): void {
  const names = Object.keys(data);
  if (names.length > MAX_VALUES) throw invalid('data', sentence('data_many', { count: MAX_VALUES }));
  if (!names.every((name) => /^\w{1,255}$/.test(name))) throw invalid('data', sentence('data_names'));
}

/** Throws 422 for placeholders with neither a value nor a default, and for placeholders of campaigns. */
function checkTemplates(templates: readonly Template[], values: Readonly<Record<string, string>>, field: string): void {
  const missing = new Set<string>();
  const foreign = new Set<string>();
  for (const piece of templates.flat()) {
    if (typeof piece === 'string') continue;
    if (CAMPAIGN_PLACEHOLDERS.has(piece.name)) foreign.add(`((${piece.name}))`);
    else if (values[piece.name] === undefined && piece.fallback === '') missing.add(piece.name);
  }
  if (foreign.size > 0) throw invalid(field, sentence('no_campaign_values', { names: [...foreign].join(', ') }));
  if (missing.size > 0)
    throw invalid('data', sentence('values_missing', { names: [...missing].slice(0, 20).join(', ') }));
}

/**
 * Throws 422 for a mail that would be too large with its values, even if the template alone is too large, because the mail is
 * stored with both.
 */
function checkSize(content: Pick<Content, 'subject' | 'html' | 'text'>, values: Values): void {
  try {
    new MergedSize(content).requireFits((name) => values[name], Number.NEGATIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof MergedTooLarge)) throw error;
    throw invalid('data', sentence('mail_too_large', { size: MAX_MERGED / MEBIBYTE }));
  }
}

/** Returns the error for a request with neither a template nor a text. */
export function contentMissing() {
  return invalid('content', sentence('mail_empty'));
}
