/** The document of a page: head, navigation and main part around what a screen shows. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { builtUrls } from '../http/static-files.ts';
import { HoldBanner } from './components/hold-banner.tsx';
import { IslandsProvider } from './components/island.tsx';
import { Navigation, type Section } from './components/navigation.tsx';
import { Shortcuts } from './components/shortcuts.tsx';
import { Notice } from './components/surface.tsx';
import { takeFlash } from './flash.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { PREFETCH_RULES } from './prefetch.ts';
import type { ColourScheme, Viewer } from './viewer.ts';
import { chooseLanguage } from './words/choose.ts';
import { type Language, LanguageProvider, type PlainKey } from './words/index.ts';

/** What a screen says about the page around it. */
export interface Frame {
  /** The title, as heading and in the browser's tab. */
  title: string;
  /** The part of the navigation that the page belongs to. */
  section?: Section;
  /** The list that the page is about one of: its address, and its name as a text of the dashboard. */
  back?: { href: string; label: PlainKey };
  /** The main action of the page, at the right of the title. */
  action?: ComponentChildren;
}

/** The language of a request; `viewer` is null where nobody is signed in. */
export function languageOf(request: FastifyRequest, viewer: Viewer | null): Language {
  const zone = /(?:^|;\s*)sendlark_zone=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
  return chooseLanguage(viewer?.language ?? null, request.headers['accept-language'], zone && decodeZone(zone));
}

/** Decodes %2F and %2B only; anything still escaped is rejected by `isZone`. */
function decodeZone(value: string): string {
  return value.replaceAll(/%2F/gi, '/').replaceAll(/%2B/gi, '+');
}

/** Sends a page for a signed-in user: `content` in the frame with the navigation. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, viewer: Viewer, frame: Frame, content: VNode) {
  const language = languageOf(request, viewer);
  const flash = takeFlash(request, reply);
  const body = (
    <>
      <a class="skip" href="#main">
        {language.say('nav.skip')}
      </a>
      <Navigation viewer={viewer} {...(frame.section && { current: frame.section })} />
      <main id="main" tabIndex={-1}>
        {frame.back && (
          <a class="back" href={frame.back.href}>
            <span aria-hidden="true">‹</span> {language.say(frame.back.label)}
          </a>
        )}
        <header class="page-head">
          <h1>{frame.title}</h1>
          {frame.action && <div class="page-action">{frame.action}</div>}
        </header>
        <HoldBanner hold={request.hold} viewer={viewer} />
        {flash && (
          <Notice tone={flash.tone} isNews>
            {language.fill(flash.key, flash.values)}
          </Notice>
        )}
        {content}
      </main>
      {viewer.shortcuts && <Shortcuts />}
    </>
  );
  reply.header('speculation-rules', `"${PREFETCH_RULES}"`);
  return sendDocument(reply, language, { title: frame.title, look: 'app', scheme: viewer.colourScheme }, body);
}

/** Sends parts of a page alone, to a script that puts them in place of those on the page. */
export function sendParts(reply: FastifyReply, language: Language, parts: VNode) {
  const text = renderToString(<LanguageProvider value={language}>{parts}</LanguageProvider>);
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(text);
}

/** Sends a page without navigation, for those who are not signed in. */
export function sendBarePage(request: FastifyRequest, reply: FastifyReply, title: string, content: VNode) {
  const language = languageOf(request, null);
  const body = (
    <main id="main" class="bare">
      {content}
    </main>
  );
  return sendDocument(reply, language, { title, look: 'bare', scheme: 'system' }, body);
}

/** The script that is on every page: shortcuts and the time zone. */
const EVERYWHERE = 'frame';

function sendDocument(
  reply: FastifyReply,
  language: Language,
  { title, look, scheme }: { title: string; look: 'app' | 'bare'; scheme: ColourScheme },
  body: VNode,
) {
  const islands = new Set([EVERYWHERE]);
  const inside = renderToString(
    <LanguageProvider value={language}>
      <IslandsProvider value={islands}>{body}</IslandsProvider>
    </LanguageProvider>,
  );
  const scripts = [...islands].map((name) => builtUrls(name));
  const parts = new Set(scripts.flatMap(({ imports }) => imports));
  const head = renderToString(
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content={scheme === 'system' ? 'light dark' : scheme} />
      <title>{title === 'Sendlark' ? title : `${title} · Sendlark`}</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={builtUrls('dashboard.css').url} />
      {[...parts].map((url) => (
        <link key={url} rel="modulepreload" href={url} />
      ))}
      {scripts.map(({ url }) => (
        <script key={url} type="module" src={url} />
      ))}
    </head>,
  );
  return reply
    .headers(PAGE_HEADERS)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html>\n<html lang="${language.code}" class="${look} ${scheme}">${head}<body>${inside}</body></html>\n`,
    );
}
