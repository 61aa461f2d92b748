/** The list of feeds, and what is shown where there is none or none can be. */
import { LinkButton } from '../../components/button.tsx';
import { Time } from '../../components/figures.tsx';
import { Empty } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';
import type { Feed } from './records.ts';
import { FeedState } from './state.tsx';

/** The button that adds a feed. */
export function NewFeed() {
  return (
    <LinkButton icon="plus" href="/feeds/new">
      {useLanguage().say('feeds.new')}
    </LinkButton>
  );
}

/** In place of the form: what has to be there before mail can go to anybody. */
export function Lacking() {
  const language = useLanguage();
  return (
    <Empty
      icon="path"
      title={language.say('feeds.lacking.title')}
      action={<LinkButton href="/mailings/new">{language.say('compose.new')}</LinkButton>}
    >
      {language.say('feeds.lacking.text')}
    </Empty>
  );
}

/** The list of feeds. */
export function Feeds({ feeds, mayChange, now }: { feeds: readonly Feed[]; mayChange: boolean; now: Date }) {
  const language = useLanguage();
  if (feeds.length === 0)
    return (
      <Empty icon="path" title={language.say('feeds.empty.title')} {...(mayChange && { action: <NewFeed /> })}>
        {language.say('feeds.empty.text')}
      </Empty>
    );
  return (
    <Table
      caption={language.say('feeds.title')}
      rows={feeds}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('feeds.field.feed_name'),
          cell: ({ id, feed_name: name }) => (
            <a href={`/feeds/${id}`}>
              <bdi>{name}</bdi>
            </a>
          ),
        },
        { heading: language.say('feeds.state'), cell: ({ state }) => <FeedState state={state} /> },
        { heading: language.say('feeds.field.rhythm'), cell: ({ rhythm }) => language.say(`feeds.rhythm.${rhythm}`) },
        {
          heading: language.say('feeds.column.read'),
          cell: ({ read_at: at }) => <Time at={recordTime(at ?? '')} now={now} />,
        },
        {
          heading: language.say('feeds.column.waiting'),
          isNumber: true,
          cell: ({ waiting }) => language.number(waiting),
        },
      ]}
    />
  );
}
