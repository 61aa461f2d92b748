/** Selects the part of the mail that the URL of the page names. Links in the checks of a mail have such URLs. */
import type { Component, Editor } from 'grapesjs';
import { bodyOf, tagOf } from './insert.ts';

/** Selects the first part with the text or link in the parameter `find`. Does nothing if no part has the text or link any more. */
export function selectFound(editor: Editor): void {
  const wanted = new URLSearchParams(location.search).get('find');
  const part = wanted === null ? undefined : findPart(bodyOf(editor), wanted);
  if (part !== undefined) editor.select(part, { scroll: true });
}

/** Returns the innermost MJML part with this text or link. */
function findPart(part: Component, wanted: string): Component | undefined {
  const mjml = part.toHTML();
  const { body } = new DOMParser().parseFromString(mjml, 'text/html');
  const text = (body.textContent ?? '').replaceAll(/\s+/g, ' ');
  const hasLink = [...body.querySelectorAll('[href]')].some((link) => link.getAttribute('href') === wanted);
  if (!text.includes(wanted) && !hasLink) return undefined;
  for (const child of part.components().models) {
    const innermost = tagOf(child).startsWith('mj-') ? findPart(child, wanted) : undefined;
    if (innermost !== undefined) return innermost;
  }
  return part;
}
