/** The campaigns that use a record which is about to be deleted. */
import { useLanguage } from '../../../ui/words/index.ts';
import type { SegmentUses } from '../operations.ts';

/** Says how many campaigns and automations use a record of a `kind`, and names the automations that mention it elsewhere. */
export function CampaignsUsing({
  kind,
  uses,
}: {
  kind: 'segment' | 'list' | 'field';
  uses: Omit<SegmentUses, 'people'>;
}) {
  const language = useLanguage();
  const what = language.say(`segments.uses.what.${kind}`);
  const { single_sends: sends, queued_single_sends: queued, automations, live_automations: live, mentioned_in } = uses;
  if (sends + automations + mentioned_in.length === 0) return <p>{language.say('segments.uses.none', { what })}</p>;
  return (
    <>
      {sends > 0 && <p>{language.say('segments.uses.sends', { count: sends, what })}</p>}
      {queued > 0 && <p>{language.say('segments.uses.queued', { count: queued })}</p>}
      {automations > 0 && <p>{language.say('segments.uses.automations', { count: automations, what })}</p>}
      {live > 0 && <p>{language.say('segments.uses.live', { count: live })}</p>}
      {mentioned_in.length > 0 && (
        <>
          <p>{language.say('segments.uses.mentioned', { what })}</p>
          <ul>
            {mentioned_in.map(({ utr, automation_name: name }) => (
              <li key={utr}>
                <a href={`/automations/${utr}`}>{name}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
