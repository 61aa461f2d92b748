/** Shared parts of the settings' pages: the links between them, and messages about the last action. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { Problem, Tabs } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import type { PlainKey } from '../../words/index.ts';

const TABS = [
  'senders',
  'sending',
  'times',
  'nodes',
  'returns',
  'tracking',
  'brand',
  'archive',
  'lists',
  'fields',
  'users',
  'keys',
  'webhooks',
  'audit',
  'health',
  'backup',
  'account',
  'sessions',
] as const;
type Tab = (typeof TABS)[number];
/** The pages for users of every role. */
const FOR_EVERYBODY: readonly Tab[] = ['brand', 'lists', 'fields', 'account', 'sessions'];
/** The pages about the whole installation, for operators. */
const FOR_OPERATORS: readonly Tab[] = ['sending', 'nodes', 'backup'];

/** A message about an action in the settings. */
type Done = Extract<PlainKey, `settings.done.${string}`>;

/** Redirects to a page of the settings, which then shows the message. */
export function backTo(reply: FastifyReply, tab: Tab, done: Done) {
  setFlash(reply, 'good', done);
  return reply.redirect(`/settings/${tab}`, 303);
}

/** Sends a page of the settings; `problem` is a sentence about a failed action. */
export function sendSettings(
  request: FastifyRequest,
  reply: FastifyReply,
  tab: Tab,
  content: ComponentChildren,
  problem = '',
) {
  const viewer = viewerOf(request);
  const language = languageOf(request, viewer);
  const tabs = TABS.filter((one) => {
    if (one === 'nodes' && request.server.deps.config.NATS_URL.length === 0) return false;
    if (FOR_OPERATORS.includes(one)) return viewer.isOperator;
    return viewer.role === 'owner' || FOR_EVERYBODY.includes(one);
  });
  return sendPage(
    request,
    reply,
    viewer,
    { title: language.say(`settings.${tab}`), section: 'settings' },
    <>
      <Tabs
        label={language.say('nav.settings')}
        tabs={tabs.map((one) => ({
          href: `/settings/${one}`,
          label: language.say(`settings.${one}`),
          isCurrent: one === tab,
        }))}
      />
      <Problem>{problem}</Problem>
      {content}
    </>,
  );
}
