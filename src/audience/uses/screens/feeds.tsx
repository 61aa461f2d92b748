/** The feeds that use a record which is about to be deleted. */
import { useLanguage } from '../../../ui/words/index.ts';
import type { FeedUse, UsingFeed } from '../operations.ts';

/** Names the active feeds that use a record of a `kind`; shows nothing if there is none. */
export function FeedsUsing({ kind, feeds }: { kind: FeedUse; feeds: readonly UsingFeed[] }) {
  const language = useLanguage();
  if (feeds.length === 0) return null;
  const what = language.say(`segments.uses.what.${kind}`);
  return (
    <>
      <p>{language.say('segments.uses.feeds', { count: feeds.length, what })}</p>
      <ul>
        {feeds.map(({ id, feed_name }) => (
          <li key={id}>
            <a href={`/feeds/${id}`}>{feed_name}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
