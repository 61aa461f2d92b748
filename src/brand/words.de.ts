/** German: the brand of an account. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { brand as english } from './words.en.ts';

export const brand: Translation<typeof english> = {
  'settings.brand': 'Marke',
  'settings.done.brandSaved': 'Die Marke ist gespeichert. Neue Bausteine und die Auswahl beim Gestalten haben sie.',
  'brand.about':
    'Neue Bausteine beginnen beim Gestalten damit, und diese Farben und Schriften stehen dort zuerst. Vorhandene Mails bleiben, wie sie sind.',
  'brand.logo': 'Logo',
  'brand.logo.none': 'Kein Logo: Der Kopf zeigt den Namen des Absenders',
  'brand.logo.hint': 'Eines Ihrer Bilder. Am besten doppelt so breit, wie es erscheint; das sind bis zu 180 Pixel.',
  'brand.colours': 'Farben',
  'brand.colours.hint': 'Bis zu sechs, etwa #1d5b46. Die erste ist die von Schaltflächen und Links.',
  'brand.colour': 'Farbe {number}',
  'brand.text_font': 'Schrift der Texte',
  'brand.heading_font': 'Schrift der Überschriften',
  'brand.font.hint': 'Schriften, die Mailprogramme haben oder durch ähnliche ersetzen.',
  'brand.button_shape': 'Schaltflächen',
  'brand.shape.square': 'Eckig',
  'brand.shape.rounded': 'Abgerundet',
  'brand.shape.pill': 'Mit runden Enden',
  'brand.sample': 'So sieht es aus',
  'brand.sample.heading': 'Eine Überschrift',
  'brand.sample.text': 'Was Sie sagen möchten, mit einem',
  'brand.sample.link': 'Link',
  'brand.sample.button': 'Jetzt ansehen',
};
