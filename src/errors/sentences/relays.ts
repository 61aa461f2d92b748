/** Sentences about SMTP relays and their tests, with their codes; part of those in sentences.ts. */

export const RELAY_SENTENCES = {
  // Problems of an SMTP relay, and requests that the current state does not allow.
  relay_host: 'Give the name of a mail server, such as smtp.example.com, without smtp:// and without the port.',
  relay_plain: 'Without encryption, mail may only go to this machine or within a private network.',
  relay_plain_login:
    'A password never crosses a network without encryption: choose TLS or STARTTLS, or leave the user name empty.',
  relay_password_again: 'Type the password again: the stored one goes only to the server it was typed for.',
  relay_named:
    'Senders that use this SMTP server only: {count}. Choose another server for these senders first, under Settings › Senders.',
  relays_many: 'There can be at most {count} SMTP servers: delete one first',
  providers_many: 'There can be at most {count} addresses for the events of providers: delete one first',
  provider_key_unreadable:
    'This is not a verification key: copy it from Settings, Mail Settings, Event Webhook in SendGrid.',
  provider_key_none: 'Amazon SNS signs with certificates, so no key is needed.',
  relay_test_under_way: 'An SMTP server is being tested: try again in some seconds',
  relay_last:
    'This is the last SMTP server, and waiting e-mails ({count}) would end in the test outbox: add another server, or cancel what is being sent',

  // Why an invitation of a user was not mailed.
  invitation_no_server: 'No SMTP server is set up.',
  invitation_no_sender: 'The account has no verified sender.',

  // Results of the test of an SMTP relay, and what to do.
  relay_test_passed: 'The server would take this e-mail. Nothing was sent.',
  relay_test_no_host: 'No server of this name was found.',
  relay_test_no_host_cure: 'Check the spelling of the server. If it is right, the DNS of this machine does not answer.',
  relay_test_closed_port: 'Nothing answers at this port of the server.',
  relay_test_closed_port_cure: 'Check the port: providers mostly use 587 with STARTTLS or 465 with TLS.',
  relay_test_unreachable: 'The server cannot be reached from this machine.',
  relay_test_unreachable_cure:
    'Check server and port. Many hosting providers block port 25, some also 587 and 465, and open them only on request.',
  relay_test_silent: 'The server did not answer in time.',
  relay_test_silent_cure: 'Check server, port and encryption; a firewall that drops connections looks like this, too.',
  relay_test_tls_port: 'The server waits for TLS, which port 465 uses from the start.',
  relay_test_tls_port_cure: 'Choose TLS as the encryption.',
  relay_test_plain_port: 'This port does not speak TLS from the start.',
  relay_test_plain_port_cure: 'Choose STARTTLS as the encryption, or port 465.',
  relay_test_closed: 'The server closed the connection.',
  relay_test_closed_cure:
    'Check port and encryption. If they are right, the server refuses connections from this machine.',
  relay_test_greeting: 'The server refuses to talk to this machine.',
  relay_test_greeting_cure: 'Its answer tells why. Often its operator has to allow your address first.',
  relay_test_no_starttls: 'The server offers no STARTTLS, and mail must not cross the network in plain text.',
  relay_test_no_starttls_cure: 'Choose TLS with port 465, or another server.',
  relay_test_no_tls: 'The encryption could not be agreed on.',
  relay_test_no_tls_cure: 'The answer below tells why. The server has to speak TLS 1.2 or newer.',
  relay_test_expired: 'The certificate of the server has expired.',
  relay_test_expired_cure: 'Its operator has to renew it. Check the clock of this machine, too.',
  relay_test_not_yet_valid: 'The certificate of the server is not valid yet.',
  relay_test_not_yet_valid_cure: 'Check the clock of this machine.',
  relay_test_other_name: 'The certificate of the server is for another name.',
  relay_test_other_name_cure: 'Enter the server by the name that its certificate has.',
  relay_test_unknown_issuer: 'The certificate of the server comes from an authority that this machine does not trust.',
  relay_test_unknown_issuer_cure:
    'Use the name that your provider gives. A server of your own needs a certificate of a known authority, such as Let’s Encrypt.',
  relay_test_no_login: 'The server takes no user name and password here.',
  relay_test_no_login_cure: 'Check port and encryption, or leave the user name empty if the server knows this machine.',
  relay_test_login: 'The server refuses user name or password.',
  relay_test_login_cure:
    'Type both again. Many providers want a password or key made for SMTP, not the one you sign in with there.',
  relay_test_busy: 'The server takes no login for now.',
  relay_test_busy_cure: 'Its answer tells why. Try again in some minutes.',
  relay_test_sender: 'The server does not take mail from this sender.',
  relay_test_sender_cure: 'Allow the address or its domain with your provider, or choose another sender.',
  relay_test_recipient: 'The server does not take mail to your address.',
  relay_test_recipient_cure:
    'If its answer is that relaying is denied, the server wants a login or has to know this machine. Otherwise check the address.',
} as const;
