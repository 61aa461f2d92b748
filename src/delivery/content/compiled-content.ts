/** The types of a mail's content: the source that the owner writes, and the compiled form that a mailing stores. */
import type { LinkRules } from '../../database/schema/index.ts';
import { SaidError } from '../../errors/sentences.ts';
import type { FooterLanguage } from './footer.ts';
import type { Template } from './placeholders.ts';

export interface ContentSource {
  /** The template as MJML in JSON form; null or empty if the template is HTML. */
  readonly template_json: string | null;
  /** The template as HTML; null or empty if the template is MJML. */
  readonly template_html: string | null;
  readonly subject: string;
  readonly preheader: string;
  /** True if opens and clicks are counted, by a pixel and by links that lead through this service. */
  readonly tracking: boolean;
  /** True if a footer is added when the preference link or the postal address is missing; false for transactional mail. */
  readonly footer: boolean;
  /** The language of the footer; if absent, the language that the content declares, or English if it declares none. */
  readonly footerLanguage?: FooterLanguage;
  /** The public URL of this service, which replaces local addresses of images; empty or absent if unknown. */
  readonly publicUrl?: string;
  /** The parameters to add to links; null or absent if none are to be added. */
  readonly linkRules?: LinkRules | null;
  /** Tracked links that already have numbers because other variants of the mail contain them. */
  readonly numberedLinks?: readonly string[];
}

/** The compiled content of a mailing: plain data that can be stored as JSON. */
export interface Content {
  readonly subject: string;
  readonly html: Template;
  readonly text: Template;
  /** The destinations of tracked links by link number; their placeholders are merged at the click (`mergeUrl`). */
  readonly links: readonly string[];
  /** The names of all placeholders, so that only these values are read for a recipient. */
  readonly placeholders: readonly string[];
}

/** A problem with a template, worded for its owner. */
export class ContentError extends SaidError {
  override name = 'ContentError';
}
