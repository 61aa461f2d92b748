/**
 * Compiles owners' templates in a separate thread, once for each mailing, so that a template that never finishes compiling blocks nothing
 * else. Accounts take turns. Each function but the last throws ContentError with a message for the owner.
 */

import { type Content, ContentError, type ContentSource } from '../content/compiled-content.ts';
import { parseMjml } from '../content/mjml.ts';
import type { EditorView } from '../content/mjml-editor.ts';
import { compiling, type FrozenText } from './compile-threads.ts';

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links replaced by tracked ones, the text part derived.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 */
export function compileContent(accountId: number, source: ContentSource, timeLimit?: number): Promise<Content> {
  return compiling.ask(accountId, 'compile', source, timeLimit);
}

/** The same content with the `facts` besides it, which is an object, as JSON for a thread that only passes it on. */
export function compileFrozen(accountId: number, source: ContentSource, facts: object): Promise<FrozenText> {
  return compiling.ask(accountId, 'freeze', { source, facts: JSON.stringify(facts) });
}

/** The HTML of a template in MJML's JSON form, with its placeholders and without what a mailing adds. */
export function renderTemplate(accountId: number, template_json: string): Promise<string> {
  return compiling.ask(accountId, 'render', template_json);
}

/** The view of a template in MJML's JSON form for the design editor; '' is an empty design. */
export function viewTemplate(accountId: number, template_json: string): Promise<EditorView> {
  return compiling.ask(accountId, 'view', template_json);
}

/** The JSON form of the markup that the design editor made from the template `before`. */
export function editTemplate(accountId: number, mjml: string, before: string): Promise<string> {
  return compiling.ask(accountId, 'edit', { mjml, before });
}

/** The problem with a template's JSON that can be found without compiling, for a field error; null if there is none. */
export function templateProblem(template_json: string): string | null {
  try {
    parseMjml(template_json);
    return null;
  } catch (error) {
    if (error instanceof ContentError) return error.message;
    throw error;
  }
}
