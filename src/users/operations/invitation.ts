/**
 * Mails an invitation to a new user. The mail is sent at once and not queued, because it must not be stored: whoever reads its link can
 * sign in. The owner also learns at once whether the SMTP server accepted the mail.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import { type Address, asciiAddress, domainOf } from '../../audience/contacts/addresses.ts';
import { senders } from '../../database/schema/index.ts';
import { findPublicUrl } from '../../delivery/links/public-url.ts';
import { DkimKeys } from '../../delivery/mime/dkim.ts';
import { buildMail } from '../../delivery/transactional/mail.ts';
import { hasRelay, isUnverified, linksFault, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { diagnose } from '../../delivery/transport/relays/relay-diagnosis.ts';
import { tryRelay } from '../../delivery/transport/relays/try-relay.ts';
import { heloName } from '../../delivery/transport/smtp/helo.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import type { LanguageCode } from '../../languages.ts';
import type { Context } from '../../operations/operation.ts';
import { oneButtonHtml } from '../../senders/one-button-mail.ts';

/** How many days the link in an invitation works. */
export const INVITATION_DAYS = 3;

interface Texts {
  subject(inviter: string): string;
  paragraph(inviter: string): string;
  button: string;
  note: string;
  fallback: string;
}

const TEXTS: Readonly<Record<LanguageCode, Texts>> = {
  en: {
    subject: (inviter) => `${inviter} invites you to Sendlark`,
    paragraph: (inviter) => `${inviter} sends mail with Sendlark and invites you to work on the same account.`,
    button: 'Choose a password',
    note: `The link works once, for ${INVITATION_DAYS} days. If you did not expect this e-mail, do nothing.`,
    fallback: 'Does the button not work? Open',
  },
  de: {
    subject: (inviter) => `${inviter} lädt Sie zu Sendlark ein`,
    paragraph: (inviter) => `${inviter} verschickt Mails mit Sendlark und lädt Sie ein, im selben Konto mitzuarbeiten.`,
    button: 'Passwort wählen',
    note: `Der Link gilt einmal, ${INVITATION_DAYS} Tage lang. Wenn Sie diese Mail nicht erwartet haben, müssen Sie nichts tun.`,
    fallback: 'Die Schaltfläche funktioniert nicht? Öffnen Sie',
  },
};

/**
 * Mails the link of an invitation, from the account's first sender that may send, over that sender's SMTP relay. Returns null
 * if the SMTP server accepted the mail, otherwise the reason why it was not sent. Takes little longer than 20 seconds at most.
 */
export async function mailInvitation(
  context: Context,
  { address, link, language }: { address: Address; link: string; language: LanguageCode },
): Promise<Said | null> {
  const { db, config, clock, accountId, actor } = context;
  if (!hasRelay(db.$client, config)) return sentence('invitation_no_server');
  const fault = linksFault(db.$client, config);
  if (fault !== null) return fault;
  const sender = db
    .select()
    .from(senders)
    .where(and(eq(senders.user_id, accountId), isNull(senders.deleted_at)))
    .orderBy(senders.id)
    .all()
    .find((candidate) => !isUnverified(db.$client, config, candidate));
  const from = sender && asciiAddress(sender.from_email);
  const to = asciiAddress(address.address);
  if (!from || to === null) return sentence('invitation_no_sender');
  const relays = relaysInUse(db.$client, config);
  const relay = relays.find(({ id }) => id === sender.relay_id) ?? relays[0];
  if (relay === undefined) return sentence('invitation_no_server');

  const domain = domainOf(from);
  const mail = {
    id: 0,
    utr: randomUUID(),
    name: '',
    ...invitationContent(language, String(actor.name), link),
    attachments: '[]',
    message_key: randomBytes(9).toString('hex'),
    message_domain: domain,
  };
  const envelope = { sender: { name: sender.from_name, address: from, replyTo: null }, to, date: clock.now() };
  const unsigned = await buildMail(db.$client, mail, envelope);
  const key = new DkimKeys(db.$client).findKey(domain);
  const message =
    key === null ? unsigned : unsigned.withField(await key.signer.signInThreadPool(unsigned.bytes, clock.now()));
  const trial = await tryRelay(relay, {
    from: config.BOUNCE_DOMAIN === '' ? from : `bounce@${config.BOUNCE_DOMAIN}`,
    to,
    name: await heloName(config.SMTP_HELO, findPublicUrl(db.$client, config).url),
    message,
  });
  return trial.stage === 'done' ? null : (trial.outcome?.reply ?? diagnose(trial, relay).found);
}

function invitationContent(
  language: LanguageCode,
  inviter: string,
  link: string,
): { subject: string; content: string } {
  const texts = TEXTS[language];
  const { button, note, fallback } = texts;
  const subject = texts.subject(inviter);
  const paragraph = texts.paragraph(inviter);
  const parts = { language, title: subject, heading: subject, paragraphs: [paragraph], button, note, fallback };
  const content = { html: oneButtonHtml(parts, link), text: `${paragraph}\n\n${link}\n\n${note}\n` };
  return { subject, content: JSON.stringify(content) };
}
