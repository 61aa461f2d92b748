/** Descriptions of the fields of reports, lists of results and the overview, as in descriptions.ts. */

export const REPORT_DESCRIPTIONS: Readonly<Record<string, string>> = {
  before_id: 'Only records with a lower id.',
  changed_by: 'Name of the user who last changed it; null where it was a program or the service.',
  content: 'Where its mail comes from: none, template (the built-in one, as it comes), json or html of its own.',
  day: 'The day, UTC.',
  finished: 'Recipients with a final state.',
  free_bytes: 'Free space beside the database, in bytes.',
  last_backup_at: 'When the last backup was finished, UTC; null when there was none.',
  next_before_id: 'before_id of the next page; null when there is none.',
  overview: 'The overview.',
  people_clicks: 'Recipients of whose clicks at least one was a person’s.',
  people_opens: 'Recipients of whose opens at least one was a person’s.',
  kept: 'How many of the delivered the built-in outbox took, so that nobody got them.',
  unmeasured: 'How many of the delivered it is not known of whether they opened or clicked; rates are of the others.',
  starts_at: 'When it starts or started, UTC; null for an automation.',
  'FoundRecipient.state': 'State of the mail; all states except queued and sending are final.',
  summaries: 'The single sends.',
  unique_clicks: 'Recipients who clicked.',
};
