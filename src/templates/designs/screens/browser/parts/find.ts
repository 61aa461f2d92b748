/** Chooses the part of the mail that the address of the page names by its text or the address of its link, as the checks of a mail do. */
import type { Component, Editor } from 'grapesjs';
import { bodyOf, tagOf } from './insert.ts';

/** Chooses the first part with what the parameter `find` says; none where no part has it any more. */
export function chooseFound(editor: Editor): void {
  const wanted = new URLSearchParams(location.search).get('find');
  const found = wanted === null ? undefined : findPart(bodyOf(editor), wanted);
  if (found !== undefined) editor.select(found, { scroll: true });
}

/** The innermost part of MJML that has it. */
function findPart(part: Component, wanted: string): Component | undefined {
  const mjml = part.toHTML();
  const { body } = new DOMParser().parseFromString(mjml, 'text/html');
  const text = (body.textContent ?? '').replaceAll(/\s+/g, ' ');
  const hasLink = [...body.querySelectorAll('[href]')].some((one) => one.getAttribute('href') === wanted);
  if (!text.includes(wanted) && !hasLink) return undefined;
  for (const inner of part.components().models) {
    const found = tagOf(inner).startsWith('mj-') ? findPart(inner, wanted) : undefined;
    if (found !== undefined) return found;
  }
  return part;
}
