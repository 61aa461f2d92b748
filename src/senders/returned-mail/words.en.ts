/** English: the settings for bounces and complaints. */

export const providers = {
  'settings.returns': 'Bounces & complaints',
  'settings.done.providerAdded': 'The address was created. Copy it below and enter it at your provider.',
  'settings.done.roleMailDeleted': 'The e-mail was deleted.',
  'roleMails.title': 'Feedback loops, and mail to abuse@ and postmaster@',
  'roleMails.off':
    'Whoever looks after the server can set BOUNCE_LISTEN. Sendlark then receives complaints from feedback loops of mail providers, and mail to the addresses abuse@ and postmaster@ of your domain for bounces.',
  'roleMails.text':
    'Register the first of these addresses at the feedback loops of mail providers. Contacts who mark your e-mail as spam there are then suppressed automatically.',
  'roleMails.none': 'No e-mails to read.',
  'roleMails.unknown':
    'These e-mails could not be matched to one of yours, so nobody was suppressed. The newest 200 are stored.',
  'roleMails.noSubject': '(no subject)',
  'roleMails.from': 'From {sender},',
  'roleMails.delete': 'Delete e-mail',
  'settings.done.providerDeleted': 'The address was deleted. Reports sent to it are refused from now on.',
  'audit.provider_added': 'Created an address for reports of an SMTP provider',
  'audit.provider_removed': 'Deleted an address for reports of an SMTP provider',
  'providers.title': 'Reported by your SMTP provider',
  'providers.text':
    'Providers such as Amazon SES or Mailgun receive bounces and complaints themselves and report them to a web address that you create here. Bounced and complaining contacts are then suppressed; contacts who unsubscribe at the provider are unsubscribed here from all mail.',
  'providers.add': 'Connect provider',
  'providers.field.provider': 'Provider',
  'providers.field.secret': 'Key or password',
  'providers.hint.secret':
    'Mailgun: the HTTP webhook signing key. SendGrid: the verification key of the signed event webhook. Amazon SES: leave it empty. Others: a password of your choice. Without a password you are protected only as long as the address stays secret.',
  'providers.add.submit': 'Create address',
  'providers.name.ses': 'Amazon SES',
  'providers.name.mailgun': 'Mailgun',
  'providers.name.postmark': 'Postmark',
  'providers.name.sendgrid': 'SendGrid',
  'providers.name.brevo': 'Brevo',
  'providers.name.sparkpost': 'SparkPost',
  'providers.state.waits': 'Waiting for the first report',
  'providers.state.works': 'Working',
  'providers.state.refuses': 'Last report refused',
  'providers.watching':
    'The status turns green when the first report arrives. Most providers have a button that sends a test.',
  'providers.last': 'Last report: “{event}”, {time}',
  'providers.refusedLast': 'A report was refused {time}:',
  'providers.refusal.signature':
    'its signature does not match. Check that the key belongs to this address. If it does not, delete the address and create another with the right key.',
  'providers.refusal.expired':
    'its signature is older than a day. Check the clock of the server that Sendlark runs on.',
  'providers.refusal.login':
    'its password was missing or wrong. Enter at the provider the password that you chose here.',
  'providers.refusal.topic':
    'it came from another Amazon SNS topic than the one confirmed first. Create another address for another topic.',
  'providers.refusal.malformed':
    'it was not in the form that this provider documents. Check that the provider is the right one.',
  'providers.topic': 'Amazon SNS topic: {topic}',
  'providers.address': 'Address for the provider:',
  'providers.copy': 'Copy address',
  'providers.secret': 'Do not share this address: anybody who knows it could send false reports.',
  'providers.steps': 'What to do at {name}',
  'providers.step.ses.1':
    'In Amazon SNS, create a standard topic and a subscription to it: protocol HTTPS, this address as the endpoint, raw message delivery off. The subscription is confirmed automatically.',
  'providers.step.ses.2':
    'In Amazon SES, open your identity, then Notifications: choose the topic for bounces and complaints.',
  'providers.step.ses.3':
    'Switch on “Include original email headers” for both, so that each report can be matched to its e-mail.',
  'providers.step.mailgun.1':
    'Open Sending, Webhooks of your domain. Add this address for permanent failure, temporary failure, spam complaints and unsubscribes.',
  'providers.step.mailgun.2': 'The HTTP webhook signing key is on the same page. Use “Test webhook” to try it.',
  'providers.step.postmark.1':
    'Open your server, the message stream, then Webhooks: add this address for bounce, spam complaint and subscription change.',
  'providers.step.postmark.2': 'Use “Send test” to try it.',
  'providers.step.sendgrid.1':
    'Open Settings, Mail Settings, Event Webhook: add this address and choose bounced, dropped, deferred, spam reports and unsubscribed.',
  'providers.step.sendgrid.2':
    'Switch on the signed event webhook there and copy its verification key. Use “Test integration” to try it.',
  'providers.step.brevo.1':
    'Open Transactional, Settings, Webhook: add this address for soft bounce, hard bounce, blocked, complaint, invalid email and unsubscribed.',
  'providers.step.brevo.2': 'Brevo has separate webhooks for marketing campaigns. You do not need those.',
  'providers.step.sparkpost.1':
    'Open Configuration, Webhooks: create one with this address for bounce, out of band, delay, spam complaint, list unsubscribe and link unsubscribe.',
  'providers.step.sparkpost.2': 'Use “Test” to try it.',
  'providers.step.password':
    'You chose a password: choose basic authentication there, with any user name and this password.',
  'providers.count.permanent': 'Bounces: suppressed',
  'providers.count.returned': 'Bounces not due to the address: not suppressed',
  'providers.count.temporary': 'Delayed: nothing changed',
  'providers.count.complaints': 'Complaints: suppressed',
  'providers.count.unsubscribes': 'Unsubscribed from all mail',
  'providers.count.others': 'Other reports',
  'providers.count.unmatched': 'Not a contact of this account',
  'providers.count.duplicates': 'Duplicates, counted once',
  'providers.count.refused': 'Refused reports',
  'providers.delete': 'Delete address',
  'providers.delete.title': 'Delete the address of {name}?',
  'providers.delete.text':
    'Reports from {name} are refused from then on, so bounced addresses keep getting mail. What was reported before still counts.',
} as const;
