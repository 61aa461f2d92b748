/** English: the public archive. */

export const archive = {
  'settings.archive': 'Archive',
  'settings.done.archiveSaved': 'Saved. The archive is at its new address, and no longer at the one before.',
  'archive.about':
    'Mails that you put into the archive can be read by anybody, on a page with a feed. Open the report of a mailing to put it in or to take it out.',
  'archive.page': 'Page',
  'archive.mails': { one: '{count} mail can be read there.', other: '{count} mails can be read there.' },
  'archive.none': 'There is no page yet: it begins with the first mail.',
  'archive.title': 'Title',
  'archive.title.hint': 'What stands above the list. Without one it is “Mail archive” in the language of the reader.',
  'archive.slug': 'Name in the address',
  'archive.slug.hint':
    '3 to 60 small letters, digits and hyphens, such as lark-books. Links to the address before stop working.',
  'archive.mail': 'Public archive',
  'archive.mail.off': 'It is not in the archive: only who got it can read it.',
  'archive.mail.waits': 'It is in the archive. Anybody can read it once all of it was sent.',
  'archive.mail.on': 'Anybody can read it, without the values of anybody:',
  'archive.mail.add': 'Put it into the archive',
  'archive.mail.remove': 'Take it out',
  'archive.mail.remove.title': 'Take this mail out of the archive?',
  'archive.mail.remove.text':
    'Its page is not found from then on; caches may have it for 5 minutes more. Put in again, it gets another address.',
  'archive.done.added': 'It is in the archive.',
  'archive.done.removed': 'It is no longer in the archive.',
} as const;
