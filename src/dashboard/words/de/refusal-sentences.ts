/** German: the sentences on what the present state does not allow. */
import type { REFUSAL_SENTENCES } from '../../../sentences/refusals.ts';

export const refusalSentences: Readonly<Record<keyof typeof REFUSAL_SENTENCES, string>> = {
  last_owner: 'Der letzte Inhaber eines Kontos kann nicht entfernt werden und keine andere Rolle bekommen',
  role_too_low: 'Ihre Rolle erlaubt das nicht',
  operators_only: 'Das darf nur ein Inhaber des ersten Kontos, der im Dashboard angemeldet ist',
  viewers_change_nothing: 'Leser ändern nichts',
  not_cancellable: 'Nur ein geplantes oder laufendes Mailing kann abgebrochen werden',
  not_pausable: 'Nur ein laufendes Mailing kann pausiert werden',
  not_resumable: 'Nur ein pausiertes Mailing kann fortgesetzt werden',
  only_cancellable: 'Der Absender wurde gelöscht: Das Mailing kann nur noch abgebrochen werden',
  not_retriable:
    'Nur ein abgeschlossenes Mailing, bei dem der Versand an einige fehlschlug, kann ihnen erneut gesendet werden',
  resend_unfinished: 'Nur ein abgeschlossenes Mailing kann erneut an alle gesendet werden, die es nicht geöffnet haben',
  resend_untracked: 'Öffnungen wurden nicht gezählt. Es ist also nicht bekannt, wer es nicht geöffnet hat',
  resend_nobody: 'Die Kontakttypen, an die es ging, sind gelöscht',
  not_changeable: 'Ein laufendes oder abgeschlossenes Mailing kann nicht geändert werden',
  changed_meanwhile: 'Es wurde inzwischen geändert',
  mails_most: 'Eine Automation hat höchstens {count} Mails.',
  group_of_live: 'Die Abmeldegruppe lässt sich ändern, solange die Automation pausiert ist.',
  no_sender: 'Es hat noch keinen Absender',
  not_in_audience: 'Niemand, an den diese Mail geht, hat diese Adresse.',
  pictures_many: 'Ein Konto kann {count} Bilder haben. Löschen Sie zuerst einige.',
  pictures_full: 'Die Bilder eines Kontos können zusammen {size} MiB belegen. Löschen Sie zuerst einige.',
  picture_kept:
    'Das Bild ist das Logo Ihrer Marke oder in einem aufgehobenen Baustein. Nehmen Sie es dort zuerst heraus.',
  picture_used_once:
    'Das Bild wird in einem Mailing, einer Mail einer Automation oder einer Vorlage verwendet. Nehmen Sie es dort zuerst heraus.',
  picture_used:
    'Das Bild wird in {count} Mailings, Mails von Automationen und Vorlagen verwendet. Nehmen Sie es dort zuerst heraus.',
  picture_sent_once:
    'Das Bild steht in einem Mailing, das gesendet wurde. Es bleibt für alle, die diese Mail haben, auch wenn Sie das Mailing löschen.',
  picture_sent:
    'Das Bild steht in {count} Mailings, die gesendet wurden. Es bleibt für alle, die diese Mails haben, auch wenn Sie die Mailings löschen.',
  templates_many: 'Ein Konto kann {count} eigene Vorlagen haben. Löschen Sie zuerst einige.',
  blocks_full: 'Ein Konto kann {count} Bausteine aufheben, die zusammen {size} MiB belegen. Löschen Sie zuerst einige.',
  colour_wrong: '{name} ist keine Farbe wie #1d5b46.',
  templates_full: 'Die Vorlagen eines Kontos können zusammen {size} MiB belegen. Löschen Sie zuerst einige.',
  action_ended: 'Die Aktion ist beendet',
  action_not_ready: 'Die Aktion wartet nicht auf eine Bestätigung',
  import_final: 'Dieser Import lässt sich nicht oder nicht mehr rückgängig machen',
  file_previewing: 'Die Vorschau der Datei wird gerade erstellt. Versuchen Sie es gleich noch einmal',
  import_stopped: 'Der Import wurde angehalten, weil er rückgängig gemacht wird',
  action_final: 'Diese Aktion lässt sich nicht oder nicht mehr rückgängig machen',
  too_many_actions: 'Es laufen zu viele Aktionen. Versuchen Sie es noch einmal, wenn eine davon beendet ist',
  too_many_imports: 'Es laufen zu viele Importe. Versuchen Sie es noch einmal, wenn einer davon beendet ist',
  too_many_templates: 'Es werden gerade zu viele Vorlagen bearbeitet. Versuchen Sie es gleich noch einmal',
  too_many_sign_ins: 'Es melden sich gerade zu viele an. Versuchen Sie es in einigen Sekunden noch einmal',
  group_used:
    'Die Gruppe verwenden noch nicht fertige Mailings ({single_sends}) und Automationen ({automations}): Wählen Sie dort zuerst eine andere',
  field_used:
    'Das Feld verwenden noch nicht fertige Mailings ({single_sends}), Automationen ({automations}), Vorlagen ({templates}), aufgehobene Bausteine ({blocks}) und Segmente ({segments}): Nehmen Sie es dort zuerst heraus',
  live_no_group: 'Wählen Sie zuerst eine Abmeldegruppe',
  live_no_target: 'Wählen Sie zuerst, für wen die Automation ist',
  live_no_mail: 'Fügen Sie zuerst eine Mail hinzu',
  live_no_segment: 'Die Automation lässt sich nicht starten: {problem}',
  live_mail_broken: 'Mit der Mail „{subject}“ lässt sich die Automation nicht starten: {problem}',
  live_change_broken: 'Die Automation läuft und kann das so nicht senden: {problem}',
  dkim_present: 'Mails von {domain} werden schon signiert. Den Schlüssel wechselt, wer diese Installation betreibt.',
  dkim_no_sender: 'Für einen Schlüssel muss zuerst ein Absender dieser Domain bestätigt sein',
  dkim_none_to_change: 'Die Domain hat noch keinen Schlüssel',
  dkim_one_waits: 'Der nächste Schlüssel von {domain} wartet schon auf seinen Eintrag',
  being_mailed: 'An diese Person wird gerade eine Mail gesendet: Versuchen Sie es gleich noch einmal',
  other_site: 'Eine Seite einer anderen Website hat das verlangt',
  not_found: 'Den Eintrag gibt es nicht',
  database_busy: 'Die Datenbank ist ausgelastet. Versuchen Sie es gleich noch einmal',
  payload_too_large: 'Die Anfrage ist zu groß',
};
