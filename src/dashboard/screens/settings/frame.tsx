/** What the pages of the settings have in common: the links between them, and the sentence on what was just done. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { Notice, Tabs } from '../../components/surface.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import type { PlainKey } from '../../words/index.ts';

const TABS = ['senders', 'users', 'keys', 'audit', 'health', 'account', 'sessions'] as const;
type Tab = (typeof TABS)[number];
/** The pages that are not for owners only. */
const FOR_EVERYBODY: readonly Tab[] = ['account', 'sessions'];

/** The sentences about what was done, by the value of the parameter `done` in the address of the page that says so. */
const DONE = {
  changed: 'settings.done.changed',
  removed: 'settings.done.removed',
  revoked: 'settings.done.revoked',
  ended: 'settings.done.ended',
  password: 'settings.done.password',
  'second-factor-off': 'settings.done.secondFactorOff',
  'passkey-added': 'settings.done.passkeyAdded',
  'passkey-removed': 'settings.done.passkeyRemoved',
  resent: 'settings.done.resent',
} as const satisfies Record<string, PlainKey>;

/** Redirects to a page of the settings, which then says what was done. */
export function backTo(reply: FastifyReply, tab: Tab, done: keyof typeof DONE) {
  return reply.redirect(`/settings/${tab}?done=${done}`, 303);
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
  const tabs = TABS.filter((one) => viewer.role === 'owner' || FOR_EVERYBODY.includes(one));
  const done = doneIn(request);
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
      {done && (
        <Notice tone="good" isNews>
          {language.say(done)}
        </Notice>
      )}
      {problem && (
        <Notice tone="bad" isNews>
          {problem}
        </Notice>
      )}
      {content}
    </>,
  );
}

function doneIn({ query }: FastifyRequest): PlainKey | null {
  const given: unknown = Reflect.get(Object(query), 'done');
  const known = Object.entries(DONE).find(([name]) => name === given);
  return known?.[1] ?? null;
}

/** The words of an answer that is a refusal as a whole, such as a 409; empty where single fields are wrong. */
export function refusal({ errors }: { errors?: unknown }): string {
  return typeof errors === 'string' ? errors : '';
}
