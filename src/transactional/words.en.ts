/** English: transactional mail. */

export const transactional = {
  'transactional.title': 'Transactional mail',
  'transactional.empty.title': 'No transactional mail yet',
  'transactional.empty.text':
    'Receipts, links to sign in and notices that your programs send to one person are listed here with what became of them.',
  'transactional.search': 'Whole e-mail address',
  'transactional.noneHere': 'No mail matches among these. Older ones follow.',
  'transactional.attempts': 'Attempts',
  'transactional.next': 'Next attempt',
  'transactional.asked': 'Asked for',
  'transactional.changed': 'Last change',
  'transactional.complained': 'Marked as spam',
  'transactional.files': 'Files',
  'transactional.id': 'Message-ID',
  'transactional.all': 'All transactional mail',
  'transactional.kept':
    'The text and the files are removed when a mail has its final state. This page is kept for 90 days.',
} as const;
