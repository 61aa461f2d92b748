/** German: the sentences of single features. */
import type { FEATURE_SENTENCES } from '../../../../errors/sentences/features.ts';

export const featureSentences: Readonly<Record<keyof typeof FEATURE_SENTENCES, string>> = {
  // A/B tests.
  ab_canary: 'Eine Kampagne mit einer ersten Gruppe kann keinen A/B-Test haben.',
  ab_untracked: 'Öffnungen und Klicks dieser Mail werden nicht gezählt, daher lässt sich danach kein Gewinner finden.',
  ab_same: 'Zwei Varianten sind dieselbe Mail.',
  ab_languages: 'Eine Kampagne kann nicht zugleich einen A/B-Test und Fassungen in anderen Sprachen haben.',
  language_problem: 'Die Fassung in der Sprache {name}: {problem}',
  language_same: 'Eine Fassung braucht einen eigenen Betreff, einen eigenen Vorschautext oder eine eigene Vorlage.',
  ab_variant_problem: 'Variante {name}: {problem}',
  ab_not_open: 'Kein A/B-Test dieser Mail wartet auf eine Entscheidung.',

  // The designer of mails, and test mails.
  design_link_unknown: 'Dieser Link gilt nicht mehr.',
  design_link_expired: 'Dieser Link ist abgelaufen. Kopieren Sie Ihre Änderungen und öffnen Sie den Designer neu.',
  design_link_withdrawn:
    'Der Benutzer, für den dieser Link erstellt wurde, darf Mails nicht mehr ändern. Nichts wurde gespeichert.',
  design_changed:
    'Dieser Inhalt wurde anderswo geändert, nachdem Sie ihn geöffnet haben. Ihre Änderungen sind deshalb nicht gespeichert. Laden Sie die Seite neu, um den anderen Inhalt zu sehen, oder klicken Sie noch einmal auf „Speichern“, um ihn durch Ihren zu ersetzen.',
  design_locked: 'Diese Mail wird gerade gesendet oder wurde gesendet. Der Inhalt lässt sich nicht mehr ändern.',
  design_no_contact: 'Keiner der Empfänger dieser Mail hat die Adresse {address}.',
  design_no_address: 'Das ist keine E-Mail-Adresse.',
  design_lines: 'Betreff und Vorschautext sind je eine Zeile von höchstens 255 Zeichen.',
  design_no_subject: 'Die Mail braucht einen Betreff.',
  design_empty: 'Es gibt keine Gestaltung, die gespeichert werden kann.',
  design_too_many_tests:
    'Es wurden schon {count} Testmails gesendet. Öffnen Sie den Designer neu, um weitere zu senden.',
  test_foreign_address: 'Tests gehen nur an Adressen Ihrer Absender und Kontakte; {address} gehört nicht dazu.',
  test_refused: '{address} ({reason})',
  test_refused_more: '{who}, {more}',
  block_empty: 'Es gibt keinen Baustein, der gespeichert werden kann.',
  block_too_large: 'Der Baustein ist zu groß und lässt sich nicht speichern.',
  block_name: 'Der Baustein braucht einen einzeiligen Namen.',

  // Faults of conditions in mails.
  content_twice: 'Geben Sie HTML oder MJML an, nicht beides.',
  content_invalid: 'Im Feld „{field}“ ist ein Fehler: {problem}',
  condition_fault: 'Die Bedingung in Zeile {line}, Spalte {column} ({begin}…): {fault}.',
  condition_no_name: 'der Name eines Platzhalters fehlt',
  condition_no_value: 'nach „{after}“ fehlt ein Wert in Anführungszeichen',
  condition_many_rules: 'sie hat mehr als {count} Regeln',
  condition_unclear: '„{text}“ wird nicht verstanden',
  condition_mixed: '„and“ und „or“ lassen sich nicht mischen',
  condition_in_tag: 'eine Bedingung kann nicht innerhalb eines HTML-Tags stehen',
  condition_many: 'die Bedingungen dieses Textes haben zusammen mehr als {count} Regeln',
  condition_deep: 'mehr als {count} Bedingungen stehen ineinander',
  condition_two_else: 'die Bedingung hat schon ein ((else))',
  condition_no_end: 'ihr ((end)) fehlt',
  condition_unclosed: 'ihr schließendes )) fehlt, oder sie enthält einen Zeilenumbruch oder Klammern',

  content_empty: 'Die Mail hat keinen Inhalt.',
  content_long: 'Die Mail hat mehr als 8 Millionen Zeichen.',
  content_nested:
    'Im HTML der Mail stehen mehr als {count} Elemente ineinander. Vereinfachen Sie es, etwa mit weniger Tabellen in Tabellen.',
  content_placeholders: 'Die Mail hat {count} Platzhalter und Links; möglich sind höchstens {most}.',
  content_placeholders_over: 'Die Mail hat mehr als {count} Platzhalter und Links; möglich sind höchstens {most}.',
  content_complicated: 'Die Vorlage ist zu groß oder zu kompliziert.',
  content_not_compiled: 'Die Vorlage ließ sich nicht verarbeiten: {reason}.',
  content_overflow: 'sie ist zu groß, oder zu viele Elemente stehen ineinander',
  mjml_parts: 'Das JSON der Vorlage hat mehr als {count} Teile.',
  mjml_not_json: 'Die Vorlage ist kein gültiges JSON.',
  mjml_no_document: 'Die Vorlage ist kein MJML-Dokument: Sie muss ein Objekt mit dem tagName mjml sein.',
  mjml_no_body: 'In der Vorlage fehlt das Element mj-body.',
  mjml_styles: 'Die Vorlage hat für die Zahl ihrer Elemente zu viele Stile mit dem Attribut inline.',
  mjml_nested: 'Die Vorlage ist mehr als {count} Ebenen tief verschachtelt.',
  mjml_elements: 'Die Vorlage hat mehr als {count} Elemente.',
  mjml_no_tag: 'Die Vorlage hat ein Element ohne tagName.',
  mjml_attributes: 'In der Vorlage sind die Attribute (attributes) von {name} kein Objekt.',
  mjml_children: 'In der Vorlage sind die Kinder (children) von {name} keine Liste.',
  mjml_content: 'In der Vorlage ist der Inhalt (content) von {name} kein Text.',
  mjml_include:
    'Die Vorlage verwendet mj-include, das hier keine Bedeutung hat: Setzen Sie den eingebundenen Teil an dessen Stelle.',
  mjml_font:
    'Die Vorlage nennt eine Schrift mit anderen Zeichen als Buchstaben, Ziffern, Leerzeichen und Bindestrichen.',
  mjml_unknown: 'Die Vorlage verwendet ein Element, das es in MJML nicht gibt: {name}.',
  design_too_large: 'Die Gestaltung ist zu groß und lässt sich nicht speichern.',
  design_part: 'Der Code eines Bausteins muss ein einzelnes MJML-Element sein.',
  design_nested: 'Im HTML der Gestaltung stehen mehr als {count} Elemente ineinander. Vereinfachen Sie es.',
  design_not_mjml: 'Die Gestaltung ist kein MJML-Dokument.',

  // Feeds.
  feed_address: 'Geben Sie die Adresse eines Feeds an, etwa https://example.com/feed.xml.',
  feed_plain: 'Die Adresse muss mit https:// beginnen, damit unterwegs niemand die Beiträge ändern kann.',
  feed_zone: '„{name}“ ist keine Zeitzone. Geben Sie eine wie Europe/Berlin an.',
  feed_time: 'Geben Sie die Uhrzeit wie 08:30 an.',
  feeds_many: 'Ein Konto kann höchstens {count} Feeds haben: Löschen Sie zuerst einen',
  feed_is_held: 'Der Feed ist pausiert: Senden oder überspringen Sie zuerst die wartenden Beiträge',
  feed_not_held: 'Der Feed ist nicht pausiert',
  feed_status:
    'Die Website hat mit dem Fehler {status} geantwortet. Öffnen Sie die Adresse in Ihrem Browser, um zu sehen, ob sie stimmt.',
  feed_large: 'Der Feed ist größer als {size} MB.',
  feed_redirects: 'Die Adresse leitet zu oft weiter.',
  feed_empty: 'Der Feed hat keine Beiträge.',
  feed_no_feed: 'Unter der Adresse ist kein Feed in RSS, Atom oder JSON.',
  feed_many_items:
    'Der Feed hat auf einmal {count} neue Beiträge. Das ist häufiger ein Fehler des Feeds als echte Neuigkeiten. Sehen Sie sich die Beiträge an, und senden oder überspringen Sie sie dann.',
  feed_all_unknown:
    'Alle {count} Beiträge sind neu, als hätte der Feed seinen Beiträgen andere Kennungen gegeben. Sehen Sie sich die Beiträge an, und senden oder überspringen Sie sie dann.',
  feed_no_sender:
    'Der Absender des Feeds wurde gelöscht. Wählen Sie einen anderen, und senden oder überspringen Sie dann die wartenden Beiträge.',
  feed_no_topic:
    'Das Thema des Feeds wurde gelöscht. Wählen Sie ein anderes, und senden oder überspringen Sie dann die wartenden Beiträge.',
  feed_no_target:
    'Eine Liste oder ein Segment des Feeds wurde gelöscht. Wählen Sie die Empfänger neu, und senden oder überspringen Sie dann die wartenden Beiträge.',
  feed_no_template:
    'Die Vorlage des Feeds wurde gelöscht oder ist leer. Wählen Sie eine andere, und senden oder überspringen Sie dann die wartenden Beiträge.',
  feed_mail_large:
    'Die Mail mit den Beiträgen hat mehr als 2 Millionen Zeichen. Wählen Sie eine kleinere Vorlage, und senden oder überspringen Sie dann die wartenden Beiträge.',

  // Each rule that decides whether a contact gets a mail: its value, and what would change it.
  why_started: 'Ja.',
  why_not_started: 'Nein: noch nicht begonnen oder pausiert.',
  why_start: 'Die Automation starten oder die Kampagne senden.',
  why_no_hold: 'Der Versand ist nicht pausiert.',
  why_hold_change: 'Die Pause beenden oder ihre Ursache beheben.',
  why_hours_open: 'Zu dieser Uhrzeit darf gesendet werden.',
  why_hours: 'Wartet auf die Sendezeiten bis {time}.',
  why_hours_change: 'Warten oder die Sendezeiten ändern.',
  why_same_time: 'Alle Kontakte bekommen die Kampagne zur selben Zeit.',
  why_time_came: 'Die für den Kontakt geplante Zeit ist vorbei.',
  why_local_time: 'Die Zeit des Kontakts: {time}, das ist {clock} in {zone}.',
  why_local_time_unknown:
    'Die Zeit des Kontakts: {time}. Die Zeitzone des Kontakts ist nicht bekannt, deshalb ist das {clock} in {zone}.',
  why_best_hour: 'Die beste Stunde des Kontakts: {time}.',
  why_best_hour_open: 'Die beste Stunde des Kontakts, innerhalb von 24 Stunden nach dem Beginn.',
  why_local_time_change: 'Auf die Zeit des Kontakts warten.',
  why_no_canary: 'Es ist keine erste Gruppe eingestellt.',
  why_canary_planned: 'Die erste Gruppe wird {percent} % der Kontakte umfassen.',
  why_canary_over: 'Die erste Gruppe ist abgeschlossen.',
  why_in_canary: 'Der Kontakt ist in der ersten Gruppe.',
  why_canary_choosing: 'Die erste Gruppe wird gerade gewählt.',
  why_after_canary: 'Wartet auf die Ergebnisse der ersten Gruppe von {size}.',
  why_after_canary_at: 'Wartet auf die Ergebnisse der ersten Gruppe von {size}, bis {time}.',
  why_canary_change: 'Auf die Ergebnisse der ersten Gruppe warten oder jetzt an den Rest senden.',
  why_no_winner_awaited: 'Wartet auf keinen A/B-Test.',
  why_awaits_winner: 'Wartet auf den Gewinner des A/B-Tests.',
  why_test_change: 'Auf die Entscheidung warten oder den Gewinner wählen.',
  why_no_warm_up: 'Die Domain des Absenders wird nicht aufgewärmt.',
  why_warm_up:
    'Aufwärmen von {domain}: {mails} von höchstens {volume} Mails heute (UTC). Die Mails werden über den Tag verteilt.',
  why_warm_up_change: 'Bis morgen warten oder das Aufwärmen ändern.',
  why_no_pace: '{group} hat nicht um weniger Mails gebeten.',
  why_pace:
    '{group} bittet um weniger Mails: zurzeit {per_minute} pro Minute, ab {time} schneller, wenn sie angenommen werden.',
  why_pace_change: 'Warten: Die Mail wird gesendet, sobald sie an der Reihe ist.',
  why_in: 'In: {names}',
  why_not_in_target: 'Nicht in: {names}',
  why_target_change: 'Den Kontakt zu einer dieser Listen oder einem dieser Segmente hinzufügen.',
  why_in_none: 'Der Kontakt ist in keiner dieser Listen und in keinem dieser Segmente.',
  why_none_set: 'Keine Liste und kein Segment ist gewählt.',
  why_outside_change: 'Der Kontakt verlässt die Liste oder das Segment, oder die Einstellung wird geändert.',
  why_never_entered: 'Noch nicht aufgenommen: {why}.',
  why_may_enter: 'Darf aufgenommen werden.',
  why_entered: 'Aufgenommen am {time}. Aufnahmen bisher: {run}.',
  why_no_entry_again: 'Aufgenommen am {time}; wird jetzt nicht erneut aufgenommen. Aufnahmen bisher: {run}.',
  why_entry_change:
    'Der Kontakt kommt hinzu, oder sein Ereignis tritt ein, während die Automation läuft und ihn aufnehmen darf.',
  why_contact: 'Den Kontakt gibt es.',
  why_no_contact: 'Kein Kontakt hat diese Adresse.',
  why_contact_change: 'Den Kontakt anlegen.',
  why_not_unsubscribed: 'Nicht abgemeldet.',
  why_unsubscribed: 'Abgemeldet am {time}.',
  why_unsubscribed_change: 'Der Kontakt meldet sich wieder an.',
  why_not_suppressed: 'Nicht gesperrt.',
  why_lift: 'Die Sperre entfernen, wenn die Adresse wieder Mails annimmt.',
  why_active: 'Nicht als inaktiv übersprungen.',
  why_inactive_change: 'Den Kontakt reaktivieren.',
  why_no_cap: 'Es ist keine Frequenzgrenze gesetzt.',
  why_cap_ignored: 'Diese Kampagne oder Automation beachtet die Frequenzgrenzen nicht.',
  why_cap: 'Mails in den Tagen, die zählen ({days}): {used} von höchstens {mails}.',
  awaits_event_until: 'Wartet auf das Ereignis „{event}“, höchstens bis {time}.',
  awaits_filtered_until: 'Wartet auf das Ereignis „{event}“ mit {filter}, höchstens bis {time}.',
  awaits_event_change:
    'Kommt das Ereignis, geht der Kontakt sofort auf dem Weg „Rechtzeitig eingetroffen“ weiter. Ist das Ereignis bis dahin nicht gekommen, geht er auf dem Weg „Zeit abgelaufen“ weiter.',
  awaits_date_until: 'Wartet auf das Datum in „{field}“, jetzt {date}, in der Zeitzone {zone}; höchstens bis {time}.',
  awaits_date_change:
    'Ein anderes Datum in „{field}“ gilt sofort. Kommt das Datum rechtzeitig, geht der Kontakt auf dem Weg „Rechtzeitig eingetroffen“ weiter. Ist das Datum bis dahin nicht gekommen, geht er auf dem Weg „Zeit abgelaufen“ weiter.',
  awaits_hour_until: 'Wartet bis {time}, in der Zeitzone {zone}.',
  awaits_hour_change: 'Die Zeit kommt von selbst. Sie ändert sich, wenn der Kontakt eine andere Zeitzone bekommt.',
  used_values: 'Werte in diesem Moment: {values}.',
  used_draw: 'Die Zufallszahl war {draw} von 100. Unter {share} nimmt der Kontakt den ersten Weg.',
  used_change: '{field}: von „{before}“ zu „{after}“.',
  used_date: '{field} in diesem Moment: {date}, in der Zeitzone {zone}.',
  used_zone: 'In der Zeitzone {zone}.',
  used_in_segment: 'Im Segment „{name}“.',
  used_not_in_segment: 'Nicht im Segment „{name}“.',
  used_event: 'Das Ereignis „{event}“ kam.',
  used_no_event: 'Das Ereignis „{event}“ kam nicht rechtzeitig.',
  why_cap_change: 'Warten, bis frühere Mails nicht mehr zählen, oder die Frequenzgrenze erhöhen.',
  sent_mail_not_kept:
    'Diese Mail wurde nicht gespeichert. Mails werden 90 Tage gespeichert, wenn das beim Senden in den Einstellungen eingeschaltet war; eine Transaktionsmail nur bis 1 MB.',
  sent_mail_changed:
    'Diese Mail lässt sich nicht mehr genau so zeigen, wie sie gesendet wurde, weil sich seitdem etwas geändert hat, woraus sie entstand.',

  // Forms.
  forms_many: 'Ein Konto kann höchstens {count} Formulare haben: Löschen Sie zuerst eines',
  form_field_twice: 'Ein Feld kann nur einmal abgefragt werden.',
  form_field_unknown: 'Ein Formular kann dieses Feld nicht abfragen: {name}',
  form_address: 'Geben Sie eine Adresse an, die mit https:// oder http:// beginnt.',
  form_segment_type: 'Segment und Formular gehören zu verschiedenen Listen.',
  form_consent: 'Zugestimmt: „{text}“. Angemeldet am {time} UTC von {asker}, bestätigt von {confirmer}.',
  api_consent: 'Zugestimmt: „{text}“. Angemeldet am {time} UTC, bestätigt von {confirmer}.',
  form_busy:
    'Diese Anmeldung wurde nicht angenommen, weil es in der letzten Stunde zu viele gab. Versuchen Sie es in einer Stunde noch einmal.',
  list_without_form:
    'Die Liste hat kein Formular, das Anmeldungen annimmt: Legen Sie eines an, oder geben Sie form_id an.',
  request_closed: 'die Anmeldung ist schon bestätigt, abgelaufen oder gelöscht',

  form_off: 'Das Formular ist geschlossen.',
  form_type_deleted: 'Die Liste des Formulars wurde gelöscht: Wählen Sie eine andere.',
  form_sender_deleted: 'Der Absender des Formulars wurde gelöscht: Wählen Sie einen anderen.',

  // Exports of other services.
  file_not_export: 'Die Datei muss eine ZIP-, CSV- oder JSON-Datei sein.',
  archive_broken:
    'Das ZIP-Archiv ist beschädigt, verschlüsselt oder von einer Art, die sich nicht lesen lässt. Packen Sie die Dateien noch einmal, ohne Passwort.',
  archive_entries: 'Das ZIP-Archiv hat mehr als {count} Dateien.',
  archive_large: 'Das ZIP-Archiv ist ausgepackt größer als {count} MB.',
  export_json:
    'Die Datei {name} lässt sich nicht lesen, denn sie ist kein gültiges JSON. Exportieren Sie sie beim anderen Dienst noch einmal.',
  export_json_large:
    'Die JSON-Datei {name} ist größer als {count} MB und lässt sich nicht lesen. Exportieren Sie in Teilen, und packen Sie diese in ein ZIP-Archiv.',

  export_empty: 'In der Datei wurde kein Kontakt gefunden. Ist die Datei ein Export von {name}?',
  export_nobody_left:
    'Diese Datei enthält niemanden, der sich abgemeldet hat oder einen Bounce hatte. Wenn es bei {name} solche Kontakte gibt, exportieren Sie auch sie, bevor Sie senden: Diese Kontakte bekämen sonst Mails.',
  export_values: 'Werte von {name}, die nicht in das Feld passen und übersprungen werden: {count} ({values})',
  lists_left:
    'Listen, die nicht zu Segmenten wurden, weil das Konto seine Grenze für Segmente oder Regeln erreicht hat: {count}. Diese Listen stehen in einem Feld jedes Kontakts.',
  export_lists: 'Nur die ersten {count} Listen werden zu Segmenten. Die übrigen stehen in einem Feld jedes Kontakts.',
  migrated_all: 'Beim anderen Dienst abgemeldet, und hier von allen Mails: {count}, davon hier neu: {added}',
  migrated_group:
    'Beim anderen Dienst von einer Liste abgemeldet, und hier vom Thema {name}: {count}, davon hier neu: {added}',
  migrated_bounce: 'Bounces beim anderen Dienst, und hier gesperrt: {count}, davon hier neu: {added}',
  migrated_complaint: 'Beim anderen Dienst beschwert, und hier gesperrt: {count}, davon hier neu: {added}',
  tracking_imported: 'Laut der importierten Datei {name}',
  tracking_import_undone: 'Der Import, der das geändert hatte, wurde rückgängig gemacht',
  migrated_diagnostic: 'übernommen von {name}',

  // Sender nodes.
  waits_nats:
    'Sendlark erreicht NATS nicht, deshalb warten Mails. Sehen Sie nach, ob nats-server unter NATS_URL läuft und die Anmeldung von Sendlark annimmt.',
  waits_no_node:
    'Es ist kein Sendeknoten da, deshalb warten Mails. Starten Sie einen mit „sendlark node“; läuft schon einer, steht in seinem Log, warum er sich nicht verbinden kann.',
  waits_release:
    'Die Versionen der Sendeknoten und von Sendlark passen nicht zusammen, deshalb warten Mails. Bringen Sie alle auf dieselbe Version.',
  waits_refused:
    'Die SMTP-Server nehmen von keinem Sendeknoten Mails an, deshalb warten Mails. In der Liste der Knoten stehen ihre Antworten.',
  waits_warm_up:
    'Jeder Sendeknoten hat gesendet, was beim Aufwärmen heute erlaubt ist, deshalb warten Mails bis 0:00 Uhr UTC. Mit einem weiteren Knoten oder einem höheren WARM_UP wird mehr gesendet.',

  nodes_well: 'Sendeknoten: {count}, und Mails werden gesendet',
  nodes_silent: 'Keine Meldung von {names}',
  nodes_silent_cure:
    'Starten Sie diese Knoten neu, oder sehen Sie nach, ob sie NATS erreichen. Die anderen Knoten senden so lange die Mails dieser Knoten mit. Ein Knoten, der sich nicht meldet, verschwindet nach einer Woche aus der Liste.',
  nodes_waits_cure: 'Einstellungen › Sendeknoten, oder „sendlark nodes“, zeigt die Knoten mit dem, was nicht stimmt.',
  nodes_refused: 'Die SMTP-Server nehmen keine Mails an von {names}: {reply}',
  nodes_refused_cure:
    'Sehen Sie nach, ob die IP-Adresse dieses Knotens auf einer Sperrliste steht und ob seine Zugangsdaten stimmen. Der Knoten versucht es von selbst wieder; so lange senden die anderen Knoten seine Mails.',
  nodes_releases: 'Nicht auf der Version von Sendlark, {version}: {names}',
  nodes_releases_cure:
    'Bringen Sie diese Knoten auf die Version von Sendlark. Während einer Aktualisierung dürfen sie eine Version auseinanderliegen.',

  // Transactional mail.
  key_used: 'Dieser Idempotency-Key wurde schon für eine andere Anfrage benutzt',
  key_wrong: 'Der Idempotency-Key hat 1 bis 255 druckbare ASCII-Zeichen.',
  transactional_waiting:
    'Zu viele Transaktionsmails des Kontos warten auf den Versand, oder sie sind zusammen zu groß: Versuchen Sie es später noch einmal',
  transactional_no_relay:
    'Kampagnen werden von Sendeknoten gesendet, Transaktionsmails aber von Sendlark selbst, das keinen SMTP-Server hat',
  mail_empty: 'Die Mail hat keinen Inhalt: Geben Sie text, template_html, template_json oder template_id an.',
  values_missing: 'In den Daten fehlt ein Wert für {names}.',
  no_campaign_values:
    'Eine Transaktionsmail hat keine Seite mit den E-Mail-Einstellungen und keine Webversion: Nehmen Sie {names} aus ihr heraus.',
  mail_too_large:
    'Die Mail ist mit diesen Werten zu groß: Der Inhalt darf höchstens {size} MB groß sein, der Betreff höchstens 998 Zeichen lang.',
  data_names: 'Namen bestehen aus höchstens 255 Buchstaben, Ziffern und Unterstrichen.',
  data_many: 'Höchstens {count} Werte sind erlaubt.',
  attachments_many: 'Höchstens {count} Anhänge sind erlaubt.',
  attachments_large: 'Die Anhänge dürfen zusammen höchstens {size} MB groß sein.',
  attachments_account:
    'Alle Kampagnen zusammen können höchstens {count} angehängte Dateien mit insgesamt {size} MB haben. Entfernen Sie Dateien aus Entwürfen, oder löschen Sie Kampagnen. Dateien versendeter Kampagnen bleiben, solange deren Mails aufbewahrt werden.',
  attachment_kind:
    'Gmail lehnt Mails mit einer Datei der Art {kind} ab. Setzen Sie stattdessen einen Link auf die Datei in die Mail.',
  attachment_name_long: 'Der Name von Anhang {number} darf höchstens {most} Zeichen haben.',
  attachment_not_base64: 'Der Inhalt von Anhang {number} ist kein Base64 ohne Zeilenumbrüche.',

  // Webhooks.
  webhook_url: 'Geben Sie die Adresse an, die die Ereignisse annimmt, etwa https://example.com/hooks/sendlark.',
  webhook_plain: 'Die Adresse muss mit https:// beginnen, weil Ereignisse personenbezogene Daten enthalten.',
  webhook_login: 'Die Adresse darf weder Benutzernamen noch Passwort enthalten.',
  webhook_no_events: 'Wählen Sie mindestens ein Ereignis.',
  webhooks_many: 'Ein Konto kann höchstens {count} Webhooks haben. Löschen Sie zuerst einen.',
  webhook_many_waiting:
    'Für diesen Webhook warten zu viele Ereignisse, die noch einmal gesendet werden ({count}). Versuchen Sie es später noch einmal.',

  webhook_status: 'HTTP {status}',
  webhook_answer: 'HTTP {status}: {reply}',
  webhook_private:
    'Die Adresse ist nicht öffentlich. Private Adressen brauchen die Einstellung WEBHOOK_PRIVATE_ADDRESSES=allow.',
  webhook_silent: 'Die Adresse hat nicht rechtzeitig geantwortet.',
  webhook_redirect:
    'Die Adresse leitet zu einer anderen weiter. Tragen Sie die andere ein, denn Weiterleitungen werden nicht befolgt.',
  webhook_no_host: 'Unter dieser Adresse gibt es keinen Server.',
  webhook_unreachable: 'Unter dieser Adresse antwortet nichts.',
  webhook_tls: 'Eine verschlüsselte Verbindung kam nicht zustande.',
  webhook_closed: 'Die Verbindung wurde vor der Antwort geschlossen.',

  webhook_off_by_owner: 'Der Webhook wurde ausgeschaltet.',
  webhook_off_failing: 'Der Webhook hat drei Tage lang kein Ereignis angenommen und wurde deshalb ausgeschaltet.',
  webhook_off_gone:
    'Der Webhook hat mit 410 geantwortet, will also keine Ereignisse mehr, und wurde deshalb ausgeschaltet.',
  webhook_off_too_many: 'Zu viele Ereignisse warteten auf den Webhook; deshalb wurde er ausgeschaltet.',

  webhooks_well: 'Kein Webhook wurde automatisch ausgeschaltet',
  webhooks_off: 'Keine Ereignisse mehr an: {name}',
  webhooks_cure:
    'Unter Einstellungen › Webhooks steht, warum der Webhook aus ist. Bringen Sie das Programm dahinter in Ordnung, und schalten Sie den Webhook dann wieder ein.',
};
