/** The document of a page: the head, the navigation and the main part with the content of a screen. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { isTestMode } from '../delivery/transport/relays/in-use.ts';
import { readCookie } from '../http/cookies.ts';
import { documentOf } from '../http/pages/document.tsx';
import { builtUrls } from '../http/static-files.ts';
import { currentHold } from '../installation/operations.ts';
import { HoldBanner, TestModeBar } from './components/banners.tsx';
import { Button } from './components/button.tsx';
import { Finder, FinderLink, finderKeys } from './components/finder.tsx';
import { IslandsProvider } from './components/island.tsx';
import { ITEMS, Navigation, type Section } from './components/navigation.tsx';
import { Notice } from './components/surface.tsx';
import { densityOf } from './density.ts';
import { takeFlash } from './flash.ts';
import { PREFETCH_RULES } from './prefetch.ts';
import type { Viewer } from './viewer.ts';
import { chooseLanguage } from './words/choose.ts';
import { type Language, LanguageProvider, type PlainKey, useLanguage } from './words/index.ts';

/** What a screen says about the page around its content. */
interface Frame {
  /** The title, shown as the heading and in the browser's tab. */
  title: string;
  /** The part of the navigation that the page belongs to. */
  section?: Section;
  /** The link to the list that the record of the page belongs to. */
  back?: { href: string; label: PlainKey };
  /** The main action of the page, to the right of the title. */
  action?: ComponentChildren;
  /** True if the page is the designer, which fills the window. */
  isDesigner?: true;
  /** True if the page reports a failed request. Then the page does not read the database, because that may be what fails. */
  isError?: true;
}

/** Returns the language for a request. `viewer` is the signed-in user, or null if nobody is signed in. */
export function languageOf(request: FastifyRequest, viewer: Viewer | null): Language {
  // The script that sets the cookie encodes the characters `/` and `+`, which names of time zones contain.
  const zone = readCookie(request, 'sendlark_zone')?.replaceAll(/%2F/gi, '/').replaceAll(/%2B/gi, '+');
  return chooseLanguage(viewer?.language ?? null, request.headers['accept-language'], zone);
}

/** Sends a page for the signed-in user `viewer`: the content with the navigation around it. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, viewer: Viewer, frame: Frame, content: VNode) {
  const language = languageOf(request, viewer);
  const flash = takeFlash(request, reply);
  const { deps } = request.server;
  const body = (
    <>
      <a class="skip" href="#main">
        {language.say('nav.skip')}
      </a>
      <Navigation viewer={viewer} keys={finderKeys(request)} {...(frame.section && { current: frame.section })} />
      <main id="main" tabIndex={-1}>
        {!frame.isError && isTestMode(deps.db.$client, deps.config) && <TestModeBar viewer={viewer} />}
        {frame.back && (
          <a class="back" href={frame.back.href}>
            <span aria-hidden="true">‹</span> {language.say(frame.back.label)}
          </a>
        )}
        <header class="page-head">
          <h1>{frame.title}</h1>
          <FinderLink />
          {frame.action && <div class="page-action">{frame.action}</div>}
        </header>
        {!frame.isError && <HoldBanner hold={currentHold(deps)} viewer={viewer} />}
        {flash && (
          <Notice tone={flash.tone} isNews>
            {language.fill(flash.key, flash.values)}
            {flash.undo && (
              <form method="post" action={flash.undo}>
                <Button look="plain" label={language.say('flash.undo')} />
              </form>
            )}
          </Notice>
        )}
        {content}
      </main>
      <Finder />
      {viewer.shortcuts && <Shortcuts keys={finderKeys(request)} />}
    </>
  );
  reply.header('speculation-rules', `"${PREFETCH_RULES}"`);
  return sendDocument(
    reply,
    language,
    { title: frame.title, look: frame.isDesigner ? 'app designing' : 'app', scheme: viewer.colourScheme },
    body,
  );
}

/** Sends only parts of a page, for a script that replaces the same parts on the open page. */
export function sendParts(reply: FastifyReply, language: Language, parts: VNode) {
  const text = renderToString(<LanguageProvider value={language}>{parts}</LanguageProvider>);
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(text);
}

/** Sends a page without navigation, for visitors who are not signed in. */
export function sendBarePage(request: FastifyRequest, reply: FastifyReply, title: string, content: VNode) {
  const language = languageOf(request, null);
  const body = (
    <main id="main" class="bare">
      {content}
    </main>
  );
  return sendDocument(reply, language, { title, look: 'bare', scheme: 'system' }, body);
}

/** Preloads the typeface. The style sheet itself would request the typeface too late for the first paint. */
export function Typeface() {
  const { url } = builtUrls('inter-latin-wght-normal.woff2');
  return <link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href={url} />;
}

/** The script that every page has. */
const FRAME_SCRIPT = 'frame';

function sendDocument(
  reply: FastifyReply,
  language: Language,
  { title, look, scheme }: { title: string; look: 'app' | 'app designing' | 'bare'; scheme: Viewer['colourScheme'] },
  body: VNode,
) {
  const islands = new Set([FRAME_SCRIPT]);
  const html = renderToString(
    <LanguageProvider value={language}>
      <IslandsProvider value={islands}>{body}</IslandsProvider>
    </LanguageProvider>,
  );
  const scripts = [...islands].map((name) => builtUrls(name));
  const imported = new Set(scripts.flatMap(({ imports }) => imports));
  const links = (
    <>
      <Typeface />
      <link rel="stylesheet" href={builtUrls('dashboard.css').url} />
      {[...imported].map((url) => (
        <link key={url} rel="modulepreload" href={url} />
      ))}
      {scripts.map(({ url }) => (
        <script key={url} type="module" src={url} />
      ))}
    </>
  );
  const head = {
    language: language.code,
    title: title === 'Sendlark' ? title : `${title} · Sendlark`,
    scheme: scheme === 'system' ? 'light dark' : scheme,
    look: `${look} ${scheme}${densityOf(reply.request) === 'compact' ? ' compact' : ''}`,
    more: links,
  };
  return reply
    .headers(PAGE_HEADERS)
    .type('text/html; charset=utf-8')
    .send(documentOf(head, `<body>${html}</body>`));
}

/** The dialog that explains the shortcuts. `keys` are the keys that open the command menu. */
function Shortcuts({ keys }: { keys: string }) {
  const language = useLanguage();
  return (
    <dialog popover="auto" id="shortcuts" class="confirm" aria-labelledby="shortcuts-title">
      <div class="card-head">
        <h2 id="shortcuts-title">{language.say('keys.title')}</h2>
        <Button
          type="button"
          look="plain"
          popovertarget="shortcuts"
          popovertargetaction="hide"
          label={language.say('keys.close')}
        />
      </div>
      <dl class="keys">
        <dt>
          <kbd>{keys}</kbd>
        </dt>
        <dd>{language.say('finder.title')}</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>{language.say('keys.search')}</dd>
        {ITEMS.map(({ section, label, shortcut }) => [
          <dt key={section}>
            <kbd>g</kbd> <kbd>{shortcut}</kbd>
          </dt>,
          <dd key={`${section}-goes`}>{language.say(label)}</dd>,
        ])}
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>{language.say('keys.help')}</dd>
      </dl>
      <p class="small quiet-text">{language.say('keys.off')}</p>
    </dialog>
  );
}

/** Pages load only our own scripts and styles, connect only to our server, have no inline scripts or styles, and cannot be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every page. No cache may store a page, because it contains data for the signed-in user only. */
const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;
