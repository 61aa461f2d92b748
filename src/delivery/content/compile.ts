/**
 * Compiles owners' templates in a separate thread, once for each mailing, so that a template that never finishes compiling blocks nothing
 * else. Each function but the last throws ContentError with a message for the owner.
 */
import { type ContentText, compiling } from './compile-threads.ts';
import { type Content, ContentError, type ContentSource } from './compiled-content.ts';
import { parseMjml } from './mjml.ts';
import type { EditorView } from './mjml-editor.ts';

/**
 * Compiles content: MJML to HTML, preheader, footer and pixel added, links replaced by tracked ones, the text part derived.
 * @param timeLimit milliseconds after which a template counts as too complicated.
 */
export function compileContent(source: ContentSource, timeLimit?: number): Promise<Content> {
  return compiling.ask('compile', source, timeLimit);
}

/** The same content as JSON, for a thread that only passes it on. */
export function compileText(source: ContentSource): Promise<ContentText> {
  return compiling.ask('compileText', source);
}

/** The HTML of a template in MJML's JSON form, with its placeholders and without what a mailing adds. */
export function renderTemplate(template_json: string): Promise<string> {
  return compiling.ask('render', template_json);
}

/** The view of a template in MJML's JSON form for the design editor; '' is an empty design. */
export function viewTemplate(template_json: string): Promise<EditorView> {
  return compiling.ask('view', template_json);
}

/** The JSON form of the markup that the design editor made from the template `before`. */
export function editTemplate(mjml: string, before: string): Promise<string> {
  return compiling.ask('edit', { mjml, before });
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
