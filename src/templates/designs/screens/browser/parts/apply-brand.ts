/** Applies the brand of the account to a whole mail. */
import type { Component, Editor } from 'grapesjs';
import { legibleOn } from '../../../../../delivery/content/contrast.ts';
import { type Brand, buttonRadius } from './brand.ts';
import { bodyOf } from './insert.ts';

/** The size from which a text counts as a heading, in pixels. */
const HEADING_SIZE = 20;

/**
 * Gives all texts the fonts of the brand, and all buttons the font, colours and corners of the brand. Other colours stay, because only
 * the author knows their backgrounds. One undo reverts all changes.
 */
export function applyBrand(editor: Editor, brand: Brand): void {
  const body = bodyOf(editor);
  for (const text of body.findType('mj-text'))
    text.addStyle({ 'font-family': isHeading(text) ? brand.heading : brand.text });
  for (const button of body.findType('mj-button'))
    button.addStyle({
      'font-family': brand.text,
      'background-color': brand.accent,
      color: legibleOn(brand.accent),
      'border-radius': buttonRadius(brand),
    });
}

function isHeading(text: Component): boolean {
  const size = Number.parseInt(String(text.getAttributes()['font-size'] ?? ''), 10);
  return size >= HEADING_SIZE || /<h[1-3][\s>]/i.test(text.getInnerHTML());
}
