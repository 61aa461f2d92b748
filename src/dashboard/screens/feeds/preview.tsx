/** What would be sent of a feed, read at this moment. */
import { type ApiAnswer, refusalText } from '../../api-client.ts';
import { Card, Notice } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Feed, Preview } from './records.ts';

/** Its numbers and subject, above the mail in a frame; or why there is none. */
export function PreviewPage({ feed, answer }: { feed: Feed; answer: ApiAnswer<{ preview: Preview }> }) {
  const language = useLanguage();
  const {
    is_sample: isSample = 0,
    new_items: count = 0,
    subject = '',
    problem = refusalText(answer),
  } = answer.message?.preview ?? {};
  if (problem) return <Notice tone="warn">{language.sentence(problem)}</Notice>;
  return (
    <>
      <Card>
        <p>{isSample === 1 ? language.say('feeds.sample') : language.say('feeds.fresh', { count })}</p>
        <p>
          {language.say('feeds.field.subject')}: <bdi>{subject}</bdi>
        </p>
      </Card>
      <div class="mail-sheet">
        <iframe sandbox="" src={`/feeds/${feed.id}/mail`} title={language.say('feeds.preview')} />
      </div>
    </>
  );
}
