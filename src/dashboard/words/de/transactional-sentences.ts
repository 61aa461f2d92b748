/** German: the sentences on transactional mail, by their code. */
import type { TRANSACTIONAL_SENTENCES } from '../../../sentences/transactional.ts';

export const transactionalSentences: Readonly<Record<keyof typeof TRANSACTIONAL_SENTENCES, string>> = {
  key_used: 'Dieser Idempotency-Key wurde schon für eine andere Anfrage benutzt',
  key_wrong: 'Der Idempotency-Key hat 1 bis 255 druckbare ASCII-Zeichen.',
  transactional_waiting:
    'Zu viele Transaktionsmails des Kontos warten auf den Versand, oder sie sind zusammen zu groß: Versuchen Sie es später noch einmal',
  transactional_no_relay:
    'Kampagnen gehen über Sendeknoten hinaus, Transaktionsmails aber über den Dienst selbst, und der hat kein Relay',
  values_missing: 'In den Daten fehlt ein Wert für {names}.',
  no_campaign_values:
    'Eine Transaktionsmail hat keine Einstellungsseite und keine Webkopie: Nehmen Sie {names} aus ihr heraus.',
  mail_too_large: 'Die Mail ist mit diesen Werten zu groß: Ihr Inhalt darf {size} MiB haben, ihr Betreff 998 Zeichen.',
  data_names: 'Namen bestehen aus höchstens 255 Buchstaben, Ziffern und Unterstrichen.',
  data_many: 'Es dürfen {count} Werte sein.',
  attachments_many: 'Es dürfen {count} Anhänge sein.',
  attachments_large: 'Die Anhänge dürfen zusammen {size} MiB haben.',
  attachment_name_long: 'Der Name von Anhang {number} darf {most} Zeichen haben.',
  attachment_not_base64: 'Der Inhalt von Anhang {number} ist kein Base64 ohne Zeilenumbrüche.',
};
