/** Sentences about backups and checks of the outside world, with their codes; part of those in sentences.ts. */

export const CHECK_SENTENCES = {
  // Problems of a backup, and when the last one was made.
  backup_damaged: '{file} is damaged: {reason}',
  backup_changed: 'the {name} is not as Sendlark made it',
  backup_foreign: '{file} is no database of Sendlark',
  backup_newer: '{file} is from a newer release: upgrade Sendlark',
  backup_under_way: 'A backup is being made or checked. Try again when that is done.',
  backup_no_room: 'There is not enough disk space: {needed} MB are needed, {free} MB are free',
  backup_none: 'no backup was made',
  backup_fresh: 'the last backup is of {day}',
  backup_old: 'the last backup is {days} days old',
  backup_cure:
    'Make a backup each day, under Settings › Backup or with sendlark backup FILE, and keep it on another disk',

  // Results of a check of the public URL, and what to do.
  address_none: 'The public address is not set',
  address_invalid: 'This must be an http or https address without a path, such as https://mail.example.com.',
  address_loopback:
    'This address leads everybody to their own machine. Recipients need an address that leads here from everywhere.',
  address_fixed:
    'The environment variable PUBLIC_URL sets the tracking domain: change it there, and restart the service.',
  address_leads_here: '{url} leads here',
  address_certified: '{url} leads here, with a certificate until {day}',
  address_ends_soon: '{url} leads here, but its certificate ends on {day}',
  certificate_renewal:
    'Check why the reverse proxy did not renew the certificate, and renew it: otherwise browsers warn everybody who clicks a link.',
  certificate_expired: 'the certificate of {host} expired on {day}',
  certificate_name: 'the certificate at {host} is for other names: {names}',
  certificate_name_cure: 'Have the reverse proxy get a certificate for {host}.',
  certificate_untrusted: 'browsers do not trust the certificate of {host} ({code})',
  certificate_untrusted_cure:
    'Have the reverse proxy get a certificate from Let’s Encrypt, as Caddy does by itself. If it has one already, it must send the intermediate certificate too.',
  address_redirects: '{url} leads on to {where}',
  address_redirects_cure:
    'Set the target of the redirect as the public address, or take the redirect out of the reverse proxy.',
  address_other: '{url} leads to something else ({status})',
  address_elsewhere: '{url} leads to another installation of Sendlark, or to an older release',
  address_other_cure:
    'Have the reverse proxy pass everything for {host} to this service, and check whether the DNS of {host} leads to this machine.',
  address_unknown: 'the DNS has no address for {host}',
  address_unknown_cure:
    'Where the domain is managed, add an A or AAAA record for {host} with the address of this machine.',
  address_refused: 'nothing answers at {host}, port {port}',
  address_refused_cure:
    'Start the reverse proxy, let the firewall pass port {port}, and check whether the DNS of {host} leads to this machine.',
  address_silent: '{host} gives no answer on port {port}',
  address_silent_cure:
    'Check whether the DNS of {host} leads to this machine and the firewall passes port {port}. Some networks do not let a machine reach itself from outside: then open {url} from another network.',
  address_broken: '{url} cannot be reached: {reason}',

  // Results of a test of returned mail, and what to do.
  returns_not_here: 'Bounces are not received here: BOUNCE_DOMAIN and BOUNCE_LISTEN are not set.',
  returns_arrive: 'a test e-mail to {domain} arrived over {host}',
  returns_dns: 'the DNS names no server for mail to {domain} ({code})',
  returns_dns_cure: 'Where the domain is managed, add an MX record for {domain} that names this machine.',
  returns_silent: 'no server takes mail to {domain} at {host}, port {port}: {reason}',
  returns_silent_cure:
    'Check whether the MX record of {domain} names this machine, the service runs, and the firewall passes port 25. Some networks do not let a machine reach itself from outside: then try that port from another network.',
  returns_refused: 'a test e-mail to {domain} was refused at {host}: {reply}',
  returns_refused_cure:
    'Another mail server answers there, or another installation of Sendlark. Let the MX record of {domain} name this machine.',
  returns_lost: 'a test e-mail to {domain} was accepted at {host}, but did not arrive here',
  returns_lost_cure:
    'Another mail server takes this e-mail. Have it pass on mail to {domain} to {listen}, or let the MX record name this machine. Perhaps the mail server was only slow: then test again.',

  // Results of the DNS checks of all senders' domains.
  domains_passed: 'the records of all senders are as they should be',
  domains_weak: '{domain} has warnings: {checks}',
  domains_failed: '{domain} fails these checks: {checks}',
  domains_cure: 'Settings › Senders has the records to add.',
} as const;
