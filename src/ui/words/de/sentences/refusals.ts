/** German: the sentences about actions that the present state does not allow. */
import type { REFUSAL_SENTENCES } from '../../../../errors/sentences/refusals.ts';

export const refusalSentences: Readonly<Record<keyof typeof REFUSAL_SENTENCES, string>> = {
  last_owner: 'Der letzte Inhaber eines Kontos kann nicht entfernt werden und keine andere Rolle bekommen',
  role_too_low: 'Ihre Rolle erlaubt das nicht',
  operators_only:
    'Das darf nur, wer Sendlark hier betreibt (Inhaber des ersten Kontos) und im Dashboard angemeldet ist',
  scope_missing: 'Das darf dieser API-Schlüssel nicht: Ihm fehlt die Berechtigung {scope}',
  scopes_missing: 'Das darf dieser API-Schlüssel nicht: Ihm fehlt die Berechtigung {scope} oder {other}',
  key_no_scopes: 'Bitte wählen Sie, was der API-Schlüssel darf.',
  people_only: 'Das darf kein API-Schlüssel: Melden Sie sich im Dashboard an oder nehmen Sie die Befehlszeile',
  viewers_change_nothing: 'Ihre Rolle darf nur lesen',
  not_cancellable: 'Nur eine geplante oder laufende Kampagne kann abgebrochen werden',
  not_pausable: 'Nur eine laufende Kampagne kann pausiert werden',
  not_resumable: 'Nur eine pausierte Kampagne kann fortgesetzt werden',
  only_cancellable: 'Der Absender wurde gelöscht: Die Kampagne kann nur noch abgebrochen werden',
  not_retriable: 'Nur bei einer abgeschlossenen Kampagne lassen sich fehlgeschlagene Mails erneut senden',
  resend_unfinished: 'Nur eine abgeschlossene Kampagne kann erneut an Nicht-Öffner gesendet werden',
  resend_untracked: 'Öffnungen wurden nicht gezählt. Es ist also nicht bekannt, wer die Kampagne nicht geöffnet hat.',
  resend_nobody: 'Die Listen, an die die Kampagne ging, wurden gelöscht',
  resend_many_types: 'Die Kampagne ging an mehr als {count} Listen',
  joined_unfinished: 'Nur eine abgeschlossene Kampagne kann an neue Kontakte gesendet werden',
  joined_tested: 'Eine Kampagne mit A/B-Test kann nicht an neue Kontakte gesendet werden',
  not_changeable: 'Eine laufende oder abgeschlossene Kampagne kann nicht geändert werden',
  changed_meanwhile: 'Das wurde inzwischen geändert: Laden Sie die Seite neu',
  automation_is_live: 'Die Automation läuft: Pausieren Sie sie zuerst.',
  step_has_path: 'Entfernen Sie zuerst die Mails und Schritte auf den Wegen dieses Schritts.',
  mails_most: 'Eine Automation hat höchstens {count} Mails.',
  removed_during_check:
    'Eine Mail wurde entfernt, während die Automation geprüft wurde: Prüfen Sie die Automation noch einmal',
  re_entry_without_keys:
    'Wählen Sie bei diesem Auslöser „Nie“ oder „Einige Tage nach der letzten Aufnahme“: Er hat keine neuen Ereignisse oder Daten.',
  group_of_live: 'Pausieren Sie die Automation, um ihr Thema zu ändern.',
  no_sender: 'Es ist noch kein Absender gewählt',
  not_in_audience: 'Keiner der Empfänger dieser Mail hat diese Adresse.',
  pictures_many: 'Ein Konto kann höchstens {count} Bilder haben. Löschen Sie zuerst einige.',
  pictures_full: 'Die Bilder eines Kontos können zusammen höchstens {size} MB belegen. Löschen Sie zuerst einige.',
  picture_kept: 'Das Bild ist Ihr Logo oder in einem gespeicherten Baustein. Entfernen Sie es dort zuerst.',
  picture_used_once:
    'Das Bild wird in einer Kampagne, einer Mail einer Automation oder einer Vorlage verwendet. Entfernen Sie es dort zuerst.',
  picture_used:
    'Das Bild wird in {count} Kampagnen, Mails von Automationen und Vorlagen verwendet. Entfernen Sie es dort zuerst.',
  picture_sent_once:
    'Das Bild steht in einer gesendeten Kampagne. Das Bild bleibt für die Empfänger, auch wenn Sie die Kampagne löschen.',
  picture_sent:
    'Das Bild steht in {count} gesendeten Kampagnen. Das Bild bleibt für die Empfänger, auch wenn Sie die Kampagnen löschen.',
  templates_many: 'Ein Konto kann höchstens {count} eigene Vorlagen haben. Löschen Sie zuerst einige.',
  blocks_full:
    'Ein Konto kann höchstens {count} gespeicherte Bausteine mit zusammen höchstens {size} MB haben. Löschen Sie zuerst einige.',
  colour_wrong: '{name} ist keine Farbe. Geben Sie eine wie #1d5b46 ein.',
  templates_full: 'Die Vorlagen eines Kontos können zusammen höchstens {size} MB belegen. Löschen Sie zuerst einige.',
  archive_full:
    'Das öffentliche Archiv eines Kontos kann höchstens {count} Kampagnen haben: Entfernen Sie zuerst einige',
  archive_slug: 'Der Name in der Adresse hat 3 bis 60 Kleinbuchstaben, Ziffern und einzelne Bindestriche dazwischen.',
  action_ended: 'Die Aktion ist beendet',
  action_not_ready: 'Die Aktion wartet nicht auf eine Bestätigung',
  import_final: 'Dieser Import lässt sich nicht rückgängig machen',
  file_previewing: 'Die Vorschau der Datei wird gerade erstellt. Versuchen Sie es gleich noch einmal.',
  import_stopped: 'Der Import wurde angehalten, weil er rückgängig gemacht wird',
  action_final: 'Diese Aktion lässt sich nicht rückgängig machen',
  too_many_actions: 'Es laufen zu viele Aktionen. Versuchen Sie es noch einmal, wenn eine davon beendet ist.',
  too_many_imports: 'Es laufen zu viele Importe. Versuchen Sie es noch einmal, wenn einer davon beendet ist.',
  too_many_templates: 'Es werden gerade zu viele Mails des Kontos bearbeitet. Versuchen Sie es gleich noch einmal.',
  too_many_sign_ins: 'Es melden sich gerade zu viele Benutzer an. Versuchen Sie es in einigen Sekunden noch einmal.',
  group_used:
    'Unfertige Kampagnen ({single_sends}) und Automationen ({automations}) verwenden das Thema: Wählen Sie dort zuerst ein anderes',
  field_used:
    'Unfertige Kampagnen ({single_sends}), Automationen ({automations}), Feeds ({feeds}), Vorlagen ({templates}), gespeicherte Bausteine ({blocks}) und Segmente ({segments}) verwenden das Feld: Entfernen Sie es dort zuerst',
  segments_most: 'Ein Konto kann höchstens {count} Segmente haben: Löschen Sie zuerst eines davon',
  segment_mails_rules_most: 'Ein Segment kann höchstens {count} Regeln über erhaltene Mails haben.',
  segment_rules_most:
    'Die Segmente eines Kontos können zusammen höchstens {count} Regeln haben: Löschen Sie zuerst einige davon',
  live_no_group: 'Wählen Sie zuerst ein Thema',
  live_no_target: 'Wählen Sie zuerst einen Auslöser',
  live_no_trigger: 'Das Feld oder Formular des Auslösers wurde gelöscht: Wählen Sie zuerst ein anderes',
  live_no_mail: 'Fügen Sie zuerst eine Mail hinzu',
  live_most: 'Ein Konto kann höchstens {count} laufende Automationen haben: Pausieren Sie zuerst eine davon',
  live_most_event:
    'Ein Ereignis kann höchstens {count} laufende Automationen auslösen: Pausieren Sie zuerst eine davon',
  live_no_segment: 'Die Automation lässt sich nicht starten: {problem}',
  live_mail_broken: 'Die Automation lässt sich wegen der Mail „{subject}“ nicht starten: {problem}',
  live_change_broken: 'Die Automation läuft und kann das nicht senden: {problem}',
  replay_replaced: 'Das Ergebnis wurde durch einen anderen Probelauf ersetzt. Starten Sie den Probelauf noch einmal.',
  replay_too_large: 'Der Probelauf braucht zu viel Speicher: Wählen Sie weniger Tage',
  dkim_present:
    'Mails von {domain} werden schon signiert. Wer Sendlark hier betreibt (Inhaber des ersten Kontos), kann den Schlüssel wechseln.',
  warm_up_no_sender: 'Nur die Domain eines Absenders kann aufgewärmt werden',
  warm_up_day: 'Geben Sie einen Tag an, der höchstens ein Jahr entfernt ist, etwa 2026-03-01',
  warm_up_until: 'Geben Sie eine größere Zahl als für den ersten Tag an',
  dkim_no_sender: 'Bestätigen Sie einen Absender dieser Domain, bevor Sie einen Schlüssel erzeugen',
  dkim_none_to_change: 'Die Domain hat noch keinen Schlüssel',
  dkim_one_waits: 'Der nächste Schlüssel von {domain} wartet schon auf seinen Eintrag',
  being_mailed: 'An diesen Kontakt wird gerade eine Mail gesendet: Versuchen Sie es gleich noch einmal',
  other_site: 'Es wurde nichts geändert, weil die Anfrage von einer anderen Website kam',
  not_found: 'Das gibt es nicht, oder es wurde gelöscht',
  database_busy: 'Das ist im Moment nicht möglich. Versuchen Sie es gleich noch einmal.',
  payload_too_large: 'Was Sie gesendet haben, ist zu groß',
};
