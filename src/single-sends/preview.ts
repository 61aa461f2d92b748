/** Previews a single send that is not stored yet: who would get it, who would not and why, and the mail as one contact would see it. */
import { eq } from 'drizzle-orm';
import { listCustomFields } from '../audience/contacts/contact-fields.ts';
import { targetProblem } from '../audience/segments/broken-rules.ts';
import { recomputeAndWait } from '../audience/segments/recompute.ts';
import { checkedTargets } from '../audience/segments/targets.ts';
import { trackingMode } from '../audience/tracking-choice.ts';
import { senders } from '../database/schema/index.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { freezeText } from '../delivery/content/freeze.ts';
import { PREFERENCES, WEB_COPY } from '../delivery/content/merge.ts';
import { findPerson, mergeValues } from '../delivery/content/values.ts';
import { type AudienceCount, countAudience } from '../delivery/queue/enqueue-recipients.ts';
import { show } from '../delivery/shown/show.ts';
import { findCapPeriods, type SingleSendDeps, type SingleSendInput } from './single-sends.ts';

export interface Preview {
  audience: Omit<AudienceCount, 'contact_id' | 'measured' | 'with_zone'>;
  /** The mail as JSON; null when the content cannot be sent. */
  mail: string | null;
  /** Why the send would be held, or null. */
  problem: string | null;
  /** Placeholders for which the contact shown has no value, whether or not they have a default. */
  placeholders_without_value: string[];
}

/** The preview of a validated single send. Links are shown as written, and opens and clicks are not counted. */
export async function previewSingleSend(
  deps: SingleSendDeps & { publicUrl(): string },
  accountId: number,
  input: SingleSendInput,
): Promise<Preview> {
  const { db, config, clock } = deps;
  const progress = {
    targets: checkedTargets(input.recipient_id),
    excluded: checkedTargets(input.exclude_specific_recipient_id ?? []),
    target: 0,
    after: 0,
  };
  const segments = [...progress.targets, ...progress.excluded].filter(({ table }) => table === 'segments');
  await recomputeAndWait(
    db,
    segments.map(({ id }) => Number(id)),
    clock,
  );
  const {
    contact_id,
    measured: _measured,
    with_zone: _withZone,
    ...audience
  } = await countAudience(
    db.$client,
    { accountId, groupId: input.unsubscribe_group_id },
    progress,
    findCapPeriods(deps, accountId, input.ignores_caps ?? 0),
    trackingMode(db, accountId),
  );
  const sender = db.select().from(senders).where(eq(senders.id, input.sender_id)).get();
  if (sender === undefined) throw new Error('a sender passed the check and is gone');
  const code = { template_json: input.template_json || null, template_html: input.template_html || null };
  const frozen = await freezeText(db, config, { ...input, ...code, tracking: 0 }, sender);
  if ('problem' in frozen) return { audience, mail: null, problem: frozen.problem, placeholders_without_value: [] };
  const person = contact_id === null ? undefined : findPerson(db.$client, contact_id);
  const known = person === undefined ? {} : mergeValues(person, listCustomFields(db, accountId), '');
  const values: Record<string, string> = {
    ...known,
    [PREFERENCES]: `${deps.publicUrl()}/u/preview`,
    [WEB_COPY]: `${deps.publicUrl()}/w/preview`,
  };
  try {
    const { json, withoutValue } = await show(accountId, { frozen: frozen.frozen, variant: 0, values, hasHtml: true });
    return {
      audience,
      mail: `{"contact_id":${contact_id},${json.slice(1)}`,
      problem: targetProblem(db, [...progress.targets, ...progress.excluded]),
      placeholders_without_value: [...withoutValue],
    };
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return { audience, mail: null, problem: error.message, placeholders_without_value: [] };
  }
}
