/** Notices about why a mail is held, with a link to verify its sender if that is the reason. */
import type { FastifyRequest } from 'fastify';
import { holdFor } from '../../delivery/queue/holds.ts';
import { isUnverified } from '../../delivery/transport/relays/in-use.ts';
import type { Said } from '../../errors/sentences.ts';
import { codeOf } from '../../errors/stored.ts';
import { Notice } from '../../ui/components/surface.tsx';
import { ask } from '../../ui/operations.ts';
import type { Viewer } from '../../ui/viewer.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { listSenders } from '../operations/senders.ts';

const UNVERIFIED = holdFor('sender_unverified').held_reason;

/** Returns the reason for a hold if one of these senders must be verified before its mail is sent; otherwise null. */
export async function unverifiedReason(request: FastifyRequest, senderIds: readonly number[]): Promise<Said | null> {
  const { db, config } = request.server.deps;
  const senders = await ask(request, listSenders, {});
  const mustWait = senders.some((sender) => senderIds.includes(sender.id) && isUnverified(db.$client, config, sender));
  return mustWait ? UNVERIFIED : null;
}

/** Shows a stored reason, if there is one. Only owners get the link, because only they may verify senders. */
export function WhyHeld({ reason, viewer }: { reason: Said | null; viewer: Viewer }) {
  const language = useLanguage();
  if (reason === null) return null;
  if (codeOf(reason) !== codeOf(UNVERIFIED)) return <Notice tone="warn">{language.fullSentence(reason)}</Notice>;
  return (
    <Notice tone="warn">
      {language.fullSentence(reason)}{' '}
      {viewer.role === 'owner' ? (
        <a href="/settings/senders">{language.say('senders.verify')}</a>
      ) : (
        language.say('senders.verify.ask')
      )}
    </Notice>
  );
}
