/** Selects the part of the mail whose text or link is in the URL of the page, as in the links of the checks of a mail. */
import type { Component, Editor } from 'grapesjs';
import { bodyOf, tagOf } from './insert.ts';

/** Selects the first part with the text or link in the parameter `find`; nothing if no part has it any more. */
export function chooseFound(editor: Editor): void {
  const wanted = new URLSearchParams(location.search).get('find');
  const part = wanted === null ? undefined : findPart(bodyOf(editor), wanted);
  if (part !== undefined) editor.select(part, { scroll: true });
}

/** Returns the innermost MJML part with this text or link. */
function findPart(part: Component, wanted: string): Component | undefined {
  const mjml = part.toHTML();
  const { body } = new DOMParser().parseFromString(mjml, 'text/html');
  const text = (body.textContent ?? '').replaceAll(/\s+/g, ' ');
  const hasLink = [...body.querySelectorAll('[href]')].some((one) => one.getAttribute('href') === wanted);
  if (!text.includes(wanted) && !hasLink) return undefined;
  for (const inner of part.components().models) {
    const part = tagOf(inner).startsWith('mj-') ? findPart(inner, wanted) : undefined;
    if (part !== undefined) return part;
  }
  return part;
}
