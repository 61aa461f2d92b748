/** Descriptions of the fields in answers about people: their timeline, actions on many of them, and imports with a mapping. */

const SENDS = 'Number of drafts and queued single sends that name it, or a segment that needs it.';
const AUTOMATIONS = 'Number of automations for it, or for a segment that needs it.';
const PEOPLE = 'Number of people in it.';
const SEGMENTS = 'Number of segments that need it.';

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const PEOPLE_DESCRIPTIONS = {
  'ContactJob.action':
    'What is done to the contacts: move to a contact type, delete, unsubscribe, or add to a segment.',
  by_hand: '1: added by hand; 0: by the rules of the segment.',
  bytes: 'The size of the file; 0 before it is imported.',
  bytes_read: 'How many bytes of it were read and checked.',
  columns: 'The columns of the file.',
  'Person.contacts': 'The contacts with this address, one for each contact type it is in.',
  contact_type_name: 'Name of the contact type.',
  done: 'How many it was done to so far.',
  events_removed_before:
    'Single opens and clicks before this time, UTC, were removed, as EVENTS_DAYS says; the counts of mails and links include them. Null: all are there.',
  exported_at: 'When this was read, UTC.',
  finished_at: 'When it ended, UTC; null while it goes on.',
  'UploadedFile.field': 'The field that the column seems to be; null when none has its name.',
  happened_at: 'When it happened, UTC.',
  import_id: 'Id of the import once it is done; null before, and when the file has no valid row.',
  is_machine: '1: a program opened or clicked, as far as can be told.',
  is_complete: '1: all that is known; 0: only the newest of very many moments.',
  is_undoable: '1: it can be undone at this moment.',
  'Import.kept': 'Of an undo: how many contacts it left as they were, because they were changed since the import.',
  'Import.removed': 'Of an undo: how many contacts that the import had added it removed.',
  'Import.restored': 'Of an undo: how many contacts it gave back what they had before.',
  'Import.state': 'writing: it runs, or was interrupted; done; undoing; undone.',
  'Import.is_undoable': '1: it can be undone at this moment.',
  'KeptContact.reason':
    'What happened since the import: changed, moved to another contact type, deleted, or added to a segment by hand.',
  'KeptContact.email': 'The e-mail address; null when the contact is gone for good.',
  undo_until: 'Until when what undoing needs is kept, UTC; null when it is not, or no longer.',
  job: 'The action.',
  jobs: 'The actions, newest first.',
  'Moment.kind': 'What happened.',
  moments: 'What happened, newest first.',
  'Moment.opens': 'Of a mail: how many opens were counted, those included that were removed.',
  'Moment.clicks': 'Of a mail: how many clicks were counted, those included that were removed.',
  'Moment.name':
    'The contact type, file, segment, automation, unsubscribe group (null: all mail) or campaign it is about.',
  person: 'The person.',
  'Moment.from_name': 'Of a move: the contact type before; null where it was removed for good.',
  'Moment.automation_utr': 'The automation that the mail belongs to; null where it was deleted.',
  'Moment.reason': 'Why a mail was not sent or what the relay said; why they left, or how they unsubscribed.',
  'ContactTypeUses.automations': AUTOMATIONS,
  'ContactTypeUses.people': PEOPLE,
  'ContactTypeUses.segments': SEGMENTS,
  'ContactTypeUses.single_sends': SENDS,
  'FieldUses.automations': AUTOMATIONS,
  'FieldUses.segments': SEGMENTS,
  'FieldUses.single_sends': SENDS,
  'SegmentUses.automations': AUTOMATIONS,
  'SegmentUses.people': PEOPLE,
  'SegmentUses.single_sends': SENDS,
  samples: 'Its cells in the first rows.',
  'Moment.state': 'Of a mail: its state; of an automation: where they are in it; of a suppression: its kind.',
  'ContactJob.state':
    'selecting: the contacts are collected; ready: it waits for its confirmation; running; done; cancelled: stopped in the middle; undoing, undone; failed.',
  'UploadedFile.state': 'looked: uploaded, not imported; running; done; failed.',
  skipped: 'Contacts it did not apply to: deleted meanwhile, or their address is in the contact type already.',
  suppression: 'Why mail to the address is suppressed; null when it is not.',
  target_id: 'The contact type, segment or unsubscribe group of the action; null: all mail, or none is needed.',
  to_contact_type_id: 'Where they are moved to.',
  to_segment_id: 'The segment they are added to.',
  'Person.unsubscribed': 'What the address is unsubscribed from.',
  live_automations: 'How many of the automations are live: they become drafts.',
  queued_single_sends: 'How many of the single sends are queued: they become drafts.',
  upload: 'The uploaded file; it is kept for an hour, until a restart at most.',
  whole: 'How many contacts there are to do.',
  'UploadedFile.whole': 'How many people there are to write; 0 before the file is read.',
  written: 'How many people were written.',
};
