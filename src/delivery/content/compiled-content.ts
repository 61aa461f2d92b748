/** The shapes of content: what an owner gives, what a mailing freezes. */
import type { Template } from './merge.ts';

export interface ContentSource {
  /** MJML's JSON form; at most one of the two templates is given, the other is null or empty. */
  readonly template_json: string | null;
  readonly template_html: string | null;
  readonly subject: string;
  readonly preheader: string;
  /** Count opens and clicks: adds a pixel and leads links over our own address. */
  readonly tracking: boolean;
  /** Add a footer where the preference link or the postal address is missing; off for mails about an account. */
  readonly footer: boolean;
}

/** What a mailing freezes. Plain data: it survives JSON. */
export interface Content {
  readonly subject: string;
  readonly html: Template;
  readonly text: Template;
  /** Where tracked links lead, by link number; placeholders in them are merged at the click (`mergeUrl`). */
  readonly links: readonly string[];
  /** Names of all placeholders, so that a recipient's values need hold no others. */
  readonly placeholders: readonly string[];
}

/** What is wrong with a template, in words for its owner. */
export class ContentError extends Error {
  override name = 'ContentError';
}
