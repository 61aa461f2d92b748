/** English: the templates of an account. */

export const templates = {
  'templates.new': 'New template',
  'templates.about':
    'A campaign gets its own copy of a template. What you change here later does not change the campaign.',
  'templates.empty.title': 'No templates of your own yet',
  'templates.empty.text':
    'Save an e-mail as a template, or design one here. The built-in templates are offered beside your own.',
  'templates.name': 'Name of the template',
  'templates.none': 'No template matches.',
  'templates.changed': 'Changed on {day}',
  'templates.looks': 'Preview',
  'templates.new.about': 'You design the template in the next step.',
  'templates.new.ofMail': 'The content of the e-mail is copied. The e-mail itself stays as it is.',
  'templates.begin': 'Start with',
  'templates.blank': 'An empty e-mail',
  'templates.create': 'Create template',
  'templates.added': 'The template “{name}” was created.',
  'templates.renamed': 'The template was renamed.',
  'templates.deleted': '“{name}” was deleted.',
  'templates.undeleted': '“{name}” is back.',
  'templates.back': 'Back to the template',
  'templates.frame': 'The designer of this template',
  'templates.placeholders': 'Merge tags such as ((first_name)) are filled in when an e-mail is sent.',
  'templates.rename': 'Rename',
  'templates.mailing': 'Use in a new campaign',
  'templates.duplicate': 'Duplicate',
  'templates.copyName': 'Copy of {name}',
  'templates.delete': 'Delete template',
  'templates.delete.title': 'Delete “{name}”?',
  'templates.delete.text':
    'The template is no longer offered for new e-mails; e-mails made of it stay as they are. Feeds, versions in other languages and A/B variants that use the template need another one. Programs that send transactional e-mail from the template (number {id}) can no longer do so. You can undo this right afterwards.',
  'templates.keep': 'Save as template',
  'templates.own': 'Your templates',
  'templates.builtIn': 'Built-in templates',
} as const;
