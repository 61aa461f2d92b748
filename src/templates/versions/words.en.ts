/** English: the versions of a mail. */

export const versions = {
  'versions.open': 'Earlier versions',
  'versions.about':
    'The last 20 designs of this e-mail. Changes by one user within five minutes are one version; choosing a template or restoring a version starts a new one.',
  'versions.empty.title': 'No earlier versions yet',
  'versions.empty.text': 'Earlier designs of this e-mail appear here.',
  'versions.nobody': 'by a program, or with a link to the designer',
  'versions.now': 'Current version',
  'versions.restore': 'Restore this version',
  'versions.restore.title': 'Restore this version?',
  'versions.restore.text':
    'The e-mail gets back its design from {when}. The current design stays in this list, so that you can undo it.',
  'versions.restored': 'The version was restored.',
  'versions.back.designer': 'Back to the designer',
} as const;
