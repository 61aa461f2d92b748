/** The types of content: what an owner provides, and what a mailing keeps in frozen form. */
import { SaidError } from '../../errors/sentences.ts';
import type { Template } from './merge.ts';

export interface ContentSource {
  /** MJML's JSON form. At most one of the two templates is given; the other is null or empty. */
  readonly template_json: string | null;
  readonly template_html: string | null;
  readonly subject: string;
  readonly preheader: string;
  /** Whether to count opens and clicks: adds a pixel and redirects links through our own address. */
  readonly tracking: boolean;
  /** Whether to add a footer if the preference link or the postal address is missing; false for mails about an account. */
  readonly footer: boolean;
  /** The public address of this service, where pictures that lead to this machine are loaded from; empty or absent: none is known. */
  readonly publicUrl?: string;
  /** Tracked links that have their numbers already, since other variants of the mail contain them. */
  readonly numberedLinks?: readonly string[];
}

/** The frozen content of a mailing: plain data that can be stored as JSON. */
export interface Content {
  readonly subject: string;
  readonly html: Template;
  readonly text: Template;
  /** The destinations of tracked links by link number; their placeholders are merged at the click (`mergeUrl`). */
  readonly links: readonly string[];
  /** The names of all placeholders, so that only these values are read for a recipient. */
  readonly placeholders: readonly string[];
}

/** A problem with a template, described for its owner. */
export class ContentError extends SaidError {
  override name = 'ContentError';
}
