/** German: the sentences on feeds, by their code. */
import type { FEED_SENTENCES } from '../../../sentences/feeds.ts';

export const feedSentences: Readonly<Record<keyof typeof FEED_SENTENCES, string>> = {
  feed_address: 'Geben Sie die Adresse eines Feeds an, etwa https://example.com/feed.xml.',
  feed_plain:
    'Die Adresse muss mit https:// beginnen, damit unterwegs niemand ändern kann, was an Menschen verschickt wird.',
  feed_zone: '{name} ist keine Zeitzone wie Europe/Berlin.',
  feed_time: 'Die Uhrzeit hat die Form 08:30.',
  feeds_many: 'Ein Konto kann {count} Feeds haben: Löschen Sie erst einen',
  feed_is_held: 'Der Feed ist angehalten: Senden oder überspringen Sie erst, was wartet',
  feed_not_held: 'Der Feed ist nicht angehalten',
  feed_status: 'Die Antwort hatte den Status {status}.',
  feed_large: 'Er ist größer als {size} MiB.',
  feed_redirects: 'Er leitet zu oft weiter.',
  feed_empty: 'Der Feed hat keine Einträge.',
  feed_no_feed: 'Dort ist kein Feed in RSS, Atom oder JSON.',
  feed_many_items:
    'Er hat auf einmal {count} neue Einträge, was öfter ein Fehler des Feeds ist als Neuigkeiten. Sehen Sie sie an, und senden oder überspringen Sie sie dann.',
  feed_all_unknown:
    'Alle {count} Einträge sind neu, wie wenn ein Feed seinen Einträgen andere Kennungen gibt. Sehen Sie sie an, und senden oder überspringen Sie sie dann.',
  feed_no_template:
    'Die Vorlage seiner Mails wurde gelöscht oder ist leer. Wählen Sie eine andere, und senden oder überspringen Sie dann, was wartet.',
  feed_mail_large:
    'Die Mail aus seinen Einträgen hat mehr als 2 Millionen Zeichen. Wählen Sie eine kleinere Vorlage, und senden oder überspringen Sie dann, was wartet.',
};
