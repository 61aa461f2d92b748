/** German: holding mailings because of their results. */
import type { holding as english } from '../en/holding.ts';
import type { Translation } from '../translation.ts';

export const holding: Translation<typeof english> = {
  'holding.title': 'Wenn die Ergebnisse schlecht sind',
  'holding.on': 'Jedes Mailing wird von selbst angehalten, wenn seine Ergebnisse schlecht sind.',
  'holding.off':
    'Von selbst angehalten wird nur ein Mailing, das ein erster Teil der Personen vor den anderen bekommt.',
  'holding.about': 'Niemand sonst bekommt es, bis Sie entschieden haben. Angehalten wird bei zu vielen:',
  'holding.bounces': 'Rückläufern: mehr als {share}, mindestens {least}',
  'holding.failed': 'Ablehnungen: mehr als {share}, mindestens {least}',
  'holding.complaints': 'Beschwerden: mehr als {share}, mindestens {least}',
  'holding.chance': 'Geprüft wird ab {least} Ergebnissen, und ein Anteil muss über den Zufall hinaus zu hoch sein.',
  'holding.switchOn': 'Jedes Mailing mit schlechten Ergebnissen anhalten',
  'holding.switchOff': 'Nur Mailings mit einem ersten Teil anhalten',
  'holding.isOn': 'Ab jetzt wird jedes Mailing angehalten, wenn seine Ergebnisse schlecht sind.',
  'holding.isOff': 'Ab jetzt werden nur Mailings mit einem ersten Teil angehalten.',
  'holding.refused': 'Nicht geändert: {reason}',
};
