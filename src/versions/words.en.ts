/** English: the versions of a mail. */

export const versions = {
  'versions.open': 'Earlier versions',
  'versions.about':
    'The last 20 designs of this mail. What the same person saves within five minutes is one version; choosing a template or bringing a version back always begins a new one.',
  'versions.empty.title': 'No earlier versions yet',
  'versions.empty.text': 'When the design of this mail is changed, you find here what it was before.',
  'versions.nobody': 'by a program, or with the link to the design',
  'versions.now': 'The mail as it is now',
  'versions.restore': 'Bring this version back',
  'versions.restore.title': 'Bring this version back?',
  'versions.restore.text':
    'The mail gets its design of {when}. The present design stays in this list, so that you can undo it.',
  'versions.restored': 'The version was brought back.',
  'versions.back.designer': 'Back to the designer',
} as const;
