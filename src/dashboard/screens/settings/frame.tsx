/** What the pages of the settings have in common: the links between them, and a sentence on what was just done or did not work. */
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
/** The pages that are not for owners only. */
const FOR_EVERYBODY: readonly Tab[] = ['brand', 'lists', 'fields', 'account', 'sessions'];
/** The pages that concern the whole installation. */
const FOR_OPERATORS: readonly Tab[] = ['sending', 'nodes', 'backup'];

/** A sentence about what was done in the settings. */
type Done = Extract<PlainKey, `settings.done.${string}`>;

/** Redirects to a page of the settings, which then says what was done. */
export function backTo(reply: FastifyReply, tab: Tab, done: Done) {
  setFlash(reply, 'good', done);
  return reply.redirect(`/settings/${tab}`, 303);
}

/** Sends a page of the settings; `problem` is a sentence on what did not work. */
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
