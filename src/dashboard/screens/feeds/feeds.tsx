/** Feeds that are sent as mail: the list, and the pages of one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../api-client.ts';
import type { Problems } from '../../components/field.tsx';
import { Problem } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { sendEmptyFrame, sendMailFrame } from '../../mail-frame.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import type { PlainKey } from '../../words/index.ts';
import { readChoices } from '../compose/records.ts';
import { FeedForm } from './form.tsx';
import { Feeds, Lacking, NewFeed } from './list.tsx';
import { PreviewPage } from './preview.tsx';
import {
  type Preview,
  readFeeds,
  requireFeed,
  type TemplateChoice,
  typedValues,
  type Values,
  valuesOf,
} from './records.ts';
import { StateCard } from './state.tsx';

const SEE_OTHER = 303;

interface ById {
  Params: { id: string };
}

/** What a page shows beside what is stored: what was typed and what is wrong with it. */
interface Shown {
  values?: Values;
  problems?: Problems;
  problem?: string;
}

export async function feedScreens(app: FastifyInstance, { clock, config }: Deps): Promise<void> {
  app.route({
    method: READ,
    url: '/feeds',
    handler: async (request, reply) => {
      const feeds = await readFeeds(new ApiClient(app, request));
      const mayChange = viewerOf(request).role !== 'viewer';
      const content = <Feeds {...{ feeds, mayChange, now: clock.now() }} />;
      return send(request, reply, content, { ...(mayChange && feeds.length > 0 && { action: <NewFeed /> }) });
    },
  });

  app.get('/feeds/new', (request, reply) => {
    requireEditor(request);
    return showForm(request, reply, {});
  });

  app.post('/feeds/new', async (request, reply) => {
    const values = typedValues(request);
    const answer = await new ApiClient(app, request).send<{ id: number }>('POST', '/feeds/save', { ...values });
    if (answer.message === undefined) return showForm(request, reply.code(answer.status), refused(answer, values));
    setFlash(reply, 'good', 'feeds.done.added');
    return reply.redirect(`/feeds/${answer.message.id}`, SEE_OTHER);
  });

  app.route<ById>({
    method: READ,
    url: '/feeds/:id',
    handler: (request, reply) => showOne(request, reply),
  });

  app.post<ById>('/feeds/:id', async (request, reply) => {
    const values = typedValues(request);
    const { id } = request.params;
    const answer = await new ApiClient(app, request).send('POST', '/feeds/save', { ...values, id });
    if (answer.message === undefined) return showOne(request, reply.code(answer.status), refused(answer, values));
    setFlash(reply, 'good', 'feeds.done.changed');
    return reply.redirect(`/feeds/${encodeURIComponent(id)}`, SEE_OTHER);
  });

  for (const [action, name, done] of [
    ['switch', 'is_active', 'feeds.done.switched'],
    ['decide', 'what', 'feeds.done.decided'],
    ['delete', 'id', 'feeds.done.deleted'],
  ] as const satisfies [string, string, PlainKey][])
    app.post<ById>(`/feeds/:id/${action}`, async (request, reply) => {
      const { id } = request.params;
      const fields = { [name]: field(request, name), id };
      const answer = await new ApiClient(app, request).send('POST', `/feeds/${action}`, fields);
      if (answer.message === undefined)
        return showOne(request, reply.code(answer.status), { problem: refusalText(answer) });
      setFlash(reply, 'good', done);
      return reply.redirect(action === 'delete' ? '/feeds' : `/feeds/${encodeURIComponent(id)}`, SEE_OTHER);
    });

  app.route<ById>({
    method: READ,
    url: '/feeds/:id/preview',
    handler: async (request, reply) => {
      const { id } = request.params;
      const feed = await requireFeed(new ApiClient(app, request), id);
      const answer = await readPreview(request, id);
      const content = <PreviewPage feed={feed} answer={answer} />;
      return send(request, reply, content, {
        title: feed.feed_name,
        back: { href: `/feeds/${feed.id}`, label: 'feeds.one' },
      });
    },
  });

  app.route<ById>({
    method: READ,
    url: '/feeds/:id/mail',
    handler: async (request, reply) => {
      const answer = await readPreview(request, request.params.id);
      const { html = '', problem = refusalText(answer) } = answer.message?.preview ?? {};
      if (html !== '') return sendMailFrame(reply, html, viewerOf(request).accountId);
      const language = languageOf(request, viewerOf(request));
      return sendEmptyFrame(reply, language, answer.status, language.sentence(problem ?? ''));
    },
  });

  function readPreview(request: FastifyRequest, id: string): Promise<ApiAnswer<{ preview: Preview }>> {
    return new ApiClient(app, request).send('GET', `/feeds/preview?${new URLSearchParams({ id })}`);
  }

  async function showForm(request: FastifyRequest, reply: FastifyReply, shown: Shown) {
    const api = new ApiClient(app, request);
    const [choices, templates] = await Promise.all([readChoices(api), readTemplates(api)]);
    const { senders, groups } = choices;
    const first = {
      ...NEW_FEED,
      sender_id: String(senders[0]?.id ?? ''),
      unsubscribe_group_id: String(groups[0]?.id ?? ''),
    };
    const { values = { ...first, time_zone: config.TIME_ZONE }, problems = {}, problem = '' } = shown;
    const content =
      senders.length === 0 || groups.length === 0 || choices.targets.length === 0 ? (
        <Lacking />
      ) : (
        <>
          <Problem>{problem}</Problem>
          <FeedForm id={null} {...{ values, choices, templates, problems }} />
        </>
      );
    return send(request, reply, content, BACK);
  }

  async function showOne(request: FastifyRequest<ById>, reply: FastifyReply, shown: Shown = {}) {
    const api = new ApiClient(app, request);
    const [feed, choices, templates] = await Promise.all([
      requireFeed(api, request.params.id),
      readChoices(api),
      readTemplates(api),
    ]);
    const mayChange = viewerOf(request).role !== 'viewer';
    const { values = valuesOf(feed), problems = {}, problem = '' } = shown;
    const content = (
      <>
        <Problem>{problem}</Problem>
        <StateCard feed={feed} now={clock.now()} mayChange={mayChange} />
        {mayChange && <FeedForm id={feed.id} {...{ values, choices, templates, problems }} />}
      </>
    );
    return send(request, reply, content, { ...BACK, title: feed.feed_name });
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    content: VNode,
    frame: Partial<Parameters<typeof sendPage>[3]>,
  ) {
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('feeds.title');
    return sendPage(request, reply, viewer, { title, section: 'automations', ...AUTOMATIONS, ...frame }, content);
  }
}

const AUTOMATIONS = { back: { href: '/automations', label: 'nav.automations' } } as const;
const BACK = { back: { href: '/feeds', label: 'feeds.title' } } as const;
const NEW_FEED: Omit<Values, 'sender_id' | 'unsubscribe_group_id' | 'time_zone'> = {
  ...{ feed_name: '', url: '', recipient_id: [], exclude_specific_recipient_id: [], template_id: '0' },
  ...{ subject: '((item_title))', rhythm: 'item', weekday: '1', time_of_day: '08:00' },
};

async function readTemplates(api: ApiClient): Promise<TemplateChoice[]> {
  return (await api.get<{ templates: TemplateChoice[] }>('/templates/list')).templates;
}

function refused(answer: ApiAnswer<unknown>, values: Values): Shown {
  return { values, ...refusalOf(answer) };
}
