/** English: the public archive. */

export const archive = {
  'settings.archive': 'Public archive',
  'settings.done.archiveSaved': 'Saved. The public archive now has its new address; the old one no longer works.',
  'archive.about':
    'Campaigns in the public archive can be read by anybody, on a page with an RSS feed. Add or remove a campaign in its report.',
  'archive.page': 'Page',
  'archive.mails': { one: '{count} campaign can be read there.', other: '{count} campaigns can be read there.' },
  'archive.none': 'There is no page yet. It appears with the first campaign you add.',
  'archive.title': 'Title',
  'archive.title.hint': 'The heading of the page. Empty: “Mail archive” in the reader’s language.',
  'archive.slug': 'Name in the address',
  'archive.slug.hint':
    '3 to 60 lowercase letters, digits and hyphens, such as lark-books. After a change, links to the old address no longer work.',
  'archive.mail': 'Public archive',
  'archive.mail.off': 'Not in the public archive: only recipients can read the campaign.',
  'archive.mail.waits': 'In the public archive. Anybody can read the campaign once it is fully sent.',
  'archive.mail.on': 'Anybody can read the campaign, without the data of any contact:',
  'archive.mail.add': 'Add to public archive',
  'archive.mail.remove': 'Remove from public archive',
  'archive.mail.remove.title': 'Remove this campaign from the public archive?',
  'archive.mail.remove.text':
    'The page of the campaign goes offline within 5 minutes. If you add the campaign again, it gets a new address.',
  'archive.done.added': 'The campaign is in the public archive.',
  'archive.done.removed': 'The campaign was removed from the public archive.',
} as const;
