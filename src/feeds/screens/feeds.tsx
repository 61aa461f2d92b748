/** Feeds that are sent as mail: the list, the pages of a feed, and the preview of its next mail. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { TObject } from 'typebox';
import { listPlaceholders } from '../../audience/fields/operations.ts';
import { readChoices } from '../../campaigns/screens/compose/step.tsx';
import { type ById, pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import type { Operation } from '../../operations/operation.ts';
import { LanguagesCard, languageVersionScreens } from '../../templates/languages/screens/versions.tsx';
import { listTemplates } from '../../templates/operations.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Card, Empty, Notice, Problem } from '../../ui/components/surface.tsx';
import { NamedLink, numberColumn, Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { sendEmptyFrame, sendMailFrame } from '../../ui/mail-frame.ts';
import { type Attempt, ask, attempt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordScreens, type Submitted } from '../../ui/record-screens.ts';
import { recordTime } from '../../ui/record-time.ts';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { type PlainKey, useLanguage } from '../../ui/words/index.ts';
import {
  decideFeed,
  deleteFeed,
  type Feed,
  listFeedLanguages,
  listFeeds,
  type Preview,
  previewFeed,
  readFeed,
  removeFeedLanguage,
  saveFeed,
  saveFeedLanguage,
  switchFeed,
} from '../operations.ts';
import { FeedForm, readFeedForm } from './form.tsx';
import { FeedState, StateCard } from './state.tsx';

/** Registers the pages of feeds. */
export async function feedScreens(app: FastifyInstance, { clock, config }: Deps): Promise<void> {
  pageRoute(app, '/feeds', async (request, reply) => {
    const { feeds } = await ask(request, listFeeds, {});
    const mayChange = viewerOf(request).role !== 'viewer';
    const content = <Feeds {...{ feeds, mayChange, now: clock.now() }} />;
    return send(request, reply, content, { ...(mayChange && feeds.length > 0 && { action: <NewFeed /> }) });
  });

  recordScreens(app, {
    path: '/feeds',
    form: { read: readFeedForm },
    add: (request, values) => attempt(request, saveFeed, values),
    change: (request, values, id) => attempt(request, saveFeed, { ...values, id }),
    remove: (request, id) => attempt(request, deleteFeed, { id }),
    show: (request, reply, id, shown) =>
      id === null ? showForm(request, reply, shown) : showOne(request, reply, id, shown),
    done(reply, done, { id }) {
      setFlash(reply, 'good', `feeds.done.${done}`);
      return reply.redirect(done === 'Deleted' ? '/feeds' : `/feeds/${encodeURIComponent(id)}`, 303);
    },
  });

  for (const [action, operation, name, done] of [
    ['switch', switchFeed, 'is_active', 'feeds.done.switched'],
    ['decide', decideFeed, 'what', 'feeds.done.decided'],
  ] as const satisfies [string, Operation<TObject, unknown>, string, PlainKey][])
    app.post<ById>(`/feeds/:id/${action}`, async (request, reply) => {
      const { id } = request.params;
      const values = { id, [name]: field(request, name) };
      const changed = await attempt<TObject, unknown>(request, operation, values);
      if ('problems' in changed) return showOne(request, reply.code(changed.status), id, { problem: changed.text });
      setFlash(reply, 'good', done);
      return reply.redirect(`/feeds/${encodeURIComponent(id)}`, 303);
    });

  pageRoute<ById>(app, '/feeds/:id/preview', async (request, reply) => {
    const feed = await ask(request, readFeed, request.params);
    const content = <PreviewPage feed={feed} read={await attempt(request, previewFeed, request.params)} />;
    return send(request, reply, content, {
      title: feed.feed_name,
      back: { href: `/feeds/${feed.id}`, label: 'feeds.one' },
    });
  });

  pageRoute<ById>(app, '/feeds/:id/mail', async (request, reply) => {
    const read = await attempt(request, previewFeed, request.params);
    const { html, problem } = 'problems' in read ? { html: '', problem: read.text } : read.output.preview;
    if (html !== '') return sendMailFrame(reply, html, viewerOf(request).accountId);
    const language = languageOf(request, viewerOf(request));
    return sendEmptyFrame(
      reply,
      language,
      'problems' in read ? read.status : 200,
      language.fullSentence(problem ?? ''),
    );
  });

  languageVersionScreens<ById['Params']>(app, {
    route: '/feeds/:id/languages',
    read: async (request, params) => {
      const feed = await ask(request, readFeed, params);
      const id = String(feed.id);
      const path = `/feeds/${id}`;
      return {
        subject: feed.subject,
        versions: await ask(request, listFeedLanguages, { id }),
        address: `${path}/languages`,
        back: { href: path, label: 'feeds.one' },
        save: ({ unchanged_since: _, ...values }) => attempt(request, saveFeedLanguage, { id, ...values }),
        remove: ({ language }) => attempt(request, removeFeedLanguage, { id, language }),
        send: (reply, content, problem) =>
          send(
            request,
            reply,
            <>
              <Problem>{problem}</Problem>
              {content}
            </>,
            { title: feed.feed_name, back: { href: path, label: 'feeds.one' } },
          ),
      };
    },
  });

  /** Reads the choices of the form: targets, senders, templates, and the merge tags of contacts. */
  async function readFormChoices(request: FastifyRequest) {
    const [choices, templates, { contents: placeholders }] = await Promise.all([
      readChoices(request),
      ask(request, listTemplates, {}),
      ask(request, listPlaceholders, {}),
    ]);
    return { choices, templates, placeholders };
  }

  async function showForm(request: FastifyRequest, reply: FastifyReply, shown: Submitted) {
    requireEditor(request);
    const { choices, templates, placeholders } = await readFormChoices(request);
    const { senders, groups, targets } = choices;
    const newValues = {
      ...NEW_FEED,
      sender_id: senders[0]?.id,
      unsubscribe_group_id: groups[0]?.id,
      time_zone: config.TIME_ZONE,
    };
    const { values = newValues, problems = {}, problem = '' } = shown;
    const content =
      senders.length === 0 || groups.length === 0 || targets.length === 0 ? (
        <MissingForFeed />
      ) : (
        <>
          <Problem>{problem}</Problem>
          <FeedForm id={null} {...{ values, choices, templates, placeholders, problems }} />
        </>
      );
    return send(request, reply, content, BACK_TO_FEEDS);
  }

  async function showOne(request: FastifyRequest, reply: FastifyReply, id: string, shown: Submitted) {
    const feed = await ask(request, readFeed, { id });
    const { choices, templates, placeholders } = await readFormChoices(request);
    const mayChange = viewerOf(request).role !== 'viewer';
    const { values = feed, problems = {}, problem = '' } = shown;
    const content = (
      <>
        <Problem>{problem}</Problem>
        <StateCard feed={feed} now={clock.now()} mayChange={mayChange} />
        {mayChange && <FeedForm id={feed.id} {...{ values, choices, templates, placeholders, problems }} />}
        {mayChange && <LanguagesCard languages={feed.languages} href={`/feeds/${feed.id}/languages`} />}
      </>
    );
    return send(request, reply, content, { ...BACK_TO_FEEDS, title: feed.feed_name });
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    content: VNode,
    frame: Partial<Parameters<typeof sendPage>[3]>,
  ) {
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('feeds.title');
    return sendPage(
      request,
      reply,
      viewer,
      { title, section: 'automations', ...BACK_TO_AUTOMATIONS, ...frame },
      content,
    );
  }
}

const BACK_TO_AUTOMATIONS = { back: { href: '/automations', label: 'nav.automations' } } as const;
const BACK_TO_FEEDS = { back: { href: '/feeds', label: 'feeds.title' } } as const;
const NEW_FEED = {
  recipient_id: [],
  exclude_specific_recipient_id: [],
  template_id: 0,
  subject: '((item_title))',
  rhythm: 'item',
  weekday: 1,
  time_of_day: '08:00',
};

function NewFeed() {
  return <LinkButton icon="plus" href="/feeds/new" label={useLanguage().say('feeds.new')} />;
}

/** Says, in place of the form, that a feed needs a sender, a topic and a list. */
function MissingForFeed() {
  const language = useLanguage();
  return (
    <Empty
      pose="flies"
      title={language.say('feeds.lacking.title')}
      action={<LinkButton href="/campaigns/new" label={language.say('compose.new')} />}
    >
      {language.say('feeds.lacking.text')}
    </Empty>
  );
}

function Feeds({ feeds, mayChange, now }: { feeds: readonly Feed[]; mayChange: boolean; now: Date }) {
  const language = useLanguage();
  if (feeds.length === 0)
    return (
      <Empty pose="flies" title={language.say('feeds.empty.title')} {...(mayChange && { action: <NewFeed /> })}>
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
          cell: ({ id, feed_name: name }) => <NamedLink href={`/feeds/${id}`} name={name} />,
        },
        {
          heading: language.say('feeds.state'),
          cell: ({ state, failure }) => (
            <>
              <FeedState state={state} />
              {failure !== '' && (
                <span class="second-line quiet-text browser">
                  {language.say('feeds.failed', { reason: language.fullSentence(failure) })}
                </span>
              )}
            </>
          ),
        },
        { heading: language.say('feeds.field.rhythm'), cell: ({ rhythm }) => language.say(`feeds.rhythm.${rhythm}`) },
        {
          heading: language.say('feeds.column.read'),
          cell: ({ read_at: at }) => <Time at={recordTime(at)} now={now} />,
        },
        numberColumn(language, 'feeds.column.waiting', 'waiting'),
      ]}
    />
  );
}

/** The preview: its numbers and subject above the mail in a frame, or why there is none. */
function PreviewPage({ feed, read }: { feed: Feed; read: Attempt<{ preview: Preview }> }) {
  const language = useLanguage();
  if ('problems' in read) return <Notice tone="warn">{read.text}</Notice>;
  const { is_sample: isSample, new_items: count, subject, problem } = read.output.preview;
  if (problem) return <Notice tone="warn">{language.fullSentence(problem)}</Notice>;
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
