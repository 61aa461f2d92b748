/**
 * Mails an invitation to a new user. The mail is handed over at once instead of being queued: its link lets its reader in, so it is stored
 * nowhere, and the owner learns at once whether the server took it.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import { type Address, asciiAddress } from '../../audience/contacts/addresses.ts';
import { senders } from '../../database/schema/index.ts';
import { findPublicUrl } from '../../delivery/links/public-url.ts';
import { DkimKeys } from '../../delivery/mime/dkim.ts';
import { buildMail } from '../../delivery/transactional/mail.ts';
import { hasRelay, isUnverified, linksFault, relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { diagnose, tryRelay } from '../../delivery/transport/relays/test-relay.ts';
import { heloName } from '../../delivery/transport/smtp/helo.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import type { LanguageCode } from '../../languages.ts';
import type { Context } from '../../operations/operation.ts';
import { oneButtonHtml } from '../../senders/one-button-mail.ts';

/** For how many days the link in an invitation works. */
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
    note: `The link works once, for ${INVITATION_DAYS} days. If you do not expect this mail, do nothing.`,
    fallback: 'Does the button not work? Open',
  },
  de: {
    subject: (inviter) => `${inviter} lädt Sie zu Sendlark ein`,
    paragraph: (inviter) => `${inviter} verschickt Mails mit Sendlark und lädt Sie ein, im selben Konto mitzuarbeiten.`,
    button: 'Passwort wählen',
    note: `Der Link gilt einmal, ${INVITATION_DAYS} Tage lang. Erwarten Sie diese Mail nicht, tun Sie nichts.`,
    fallback: 'Der Knopf geht nicht? Öffnen Sie',
  },
};

/**
 * Mails the link of an invitation, from the account's first sender that may send, over its SMTP relay. Returns null
 * once the server took it, and otherwise why it was not sent. Takes little longer than 20 seconds.
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
    .find((one) => !isUnverified(db.$client, config, one));
  const from = sender && asciiAddress(sender.from_email);
  const to = asciiAddress(address.address);
  if (!from || to === null) return sentence('invitation_no_sender');
  const relays = relaysInUse(db.$client, config);
  const relay = relays.find(({ id }) => id === sender.relay_id) ?? relays[0];
  if (relay === undefined) return sentence('invitation_no_server');

  const texts = TEXTS[language];
  const inviter = String(actor.name);
  const subject = texts.subject(inviter);
  const { button, note, fallback } = texts;
  const paragraph = texts.paragraph(inviter);
  const shown = { language, title: subject, heading: subject, paragraphs: [paragraph], button, note, fallback };
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const content = { html: oneButtonHtml(shown, link), text: `${paragraph}\n\n${link}\n\n${note}\n` };
  const mail = {
    id: 0,
    utr: randomUUID(),
    name: '',
    subject,
    content: JSON.stringify(content),
    attachments: '[]',
    message_key: randomBytes(9).toString('hex'),
    message_domain: domain,
  };
  const facts = { sender: { name: sender.from_name, address: from, replyTo: null }, to, date: clock.now() };
  const built = await buildMail(db.$client, mail, facts);
  const key = new DkimKeys(db.$client).findKey(domain);
  const message = key === null ? built : built.withField(await key.signer.signInThreadPool(built.bytes, clock.now()));
  const trial = await tryRelay(relay, {
    from: config.BOUNCE_DOMAIN === '' ? from : `bounce@${config.BOUNCE_DOMAIN}`,
    to,
    name: await heloName(config.SMTP_HELO, findPublicUrl(db.$client, config).url),
    message,
  });
  return trial.stage === 'done' ? null : (trial.outcome?.reply ?? diagnose(trial, relay).found);
}
