/** English: transactional mail. */

export const transactional = {
  'transactional.title': 'Transactional e-mail',
  'transactional.empty.title': 'No transactional e-mails yet',
  'transactional.empty.text':
    'Receipts, sign-in links and notices that your programs send to a single contact appear here with their status.',
  'transactional.search': 'Full e-mail address',
  'transactional.noneHere': 'No match so far. The next page searches older e-mails.',
  'transactional.attempts': 'Attempts',
  'transactional.next': 'Next attempt',
  'transactional.asked': 'Requested',
  'transactional.changed': 'Last change',
  'transactional.complained': 'Marked as spam',
  'transactional.files': 'Files',
  'transactional.id': 'Message-ID',
  'transactional.all': 'All transactional e-mail',
  'transactional.kept':
    'The text and the files are removed once an e-mail has its final status, unless you keep e-mails for 90 days (Settings › E-mail checks & links). This page stays for 90 days.',
} as const;
