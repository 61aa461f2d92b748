/** German: the brand of an account. */

import type { Translation } from '../../ui/words/translation.ts';
import type { brand as english } from './words.en.ts';

export const brand: Translation<typeof english> = {
  'settings.brand': 'Marke',
  'settings.done.brandSaved': 'Die Marke wurde gespeichert. Neue Bausteine im Designer verwenden sie.',
  'brand.about':
    'Neue Bausteine im Designer verwenden Ihre Marke, und deren Farben und Schriften stehen zuerst zur Wahl. Vorhandene Mails bleiben, wie sie sind.',
  'brand.logo': 'Logo',
  'brand.logo.none': 'Kein Logo: Der Kopfbereich zeigt den Absendernamen',
  'brand.logo.hint':
    'Eines Ihrer Bilder. Es erscheint bis zu 180 Pixel breit und sieht scharf aus, wenn es doppelt so breit ist.',
  'brand.colours': 'Farben',
  'brand.colours.hint': 'Bis zu sechs, etwa #1d5b46. Schaltflächen und Links verwenden die erste.',
  'brand.colour': 'Farbe {number}',
  'brand.text_font': 'Schrift für Text',
  'brand.heading_font': 'Schrift für Überschriften',
  'brand.font.hint': 'Schriften, die Mailprogramme haben oder durch ähnliche ersetzen.',
  'brand.button_shape': 'Schaltflächen',
  'brand.shape.square': 'Eckig',
  'brand.shape.rounded': 'Abgerundet',
  'brand.shape.pill': 'Ganz abgerundet',
  'brand.sample': 'Vorschau',
  'brand.sample.heading': 'Eine Überschrift',
  'brand.sample.text': 'Was Sie sagen möchten, mit einem',
  'brand.sample.link': 'Link',
  'brand.sample.button': 'Jetzt ansehen',
};
