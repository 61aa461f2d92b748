/** The document of every page, and the styles of public pages. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { PageLanguage } from '../../languages.ts';
import { NO_PUBLIC_BRAND, type PublicBrand } from '../../templates/brand/brand.ts';
import { brandStyle, Logo } from './brand-look.tsx';
import type { Message } from './words/en.tsx';

interface Head {
  language: PageLanguage;
  title: string;
  /** The page's colour schemes, as in the meta element `color-scheme`; undefined: the browser's default. */
  scheme?: string;
  /** True if search engines may list the page. */
  isListed?: boolean;
  /** The classes of the document element. */
  look?: string;
  /** Head elements in addition to those of every page. */
  more?: ComponentChildren;
  /** A style sheet to embed in the page. */
  style?: string;
}

/** Returns a page as HTML. `body` is its body element, as HTML if it had to be rendered before the head. */
export function documentOf(
  { language, title, scheme, isListed, look, more, style }: Head,
  body: VNode | string,
): string {
  const head = renderToString(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {!isListed && <meta name="robots" content="noindex" />}
      {scheme !== undefined && <meta name="color-scheme" content={scheme} />}
      <title>{title}</title>
      <link rel="icon" href="data:," />
      {more}
    </>,
  );
  // The text of a style element must not be escaped, so JSX cannot write it.
  const styles = style === undefined ? '' : `<style>${style}</style>`;
  const attributes = look === undefined ? '' : ` class="${look}"`;
  return `<!doctype html>\n<html lang="${language}"${attributes}><head>${head}${styles}</head>${typeof body === 'string' ? body : renderToString(body)}</html>\n`;
}

/** Returns a public page as HTML, with the owner's logo and colour. Its policy must allow them: see `publicPolicy`. */
export function publicDocument(
  { style = STYLE, ...head }: Omit<Head, 'scheme'>,
  content: ComponentChildren,
  brand: PublicBrand = NO_PUBLIC_BRAND,
): string {
  return documentOf(
    { scheme: 'light dark', style: style + brandStyle(brand), ...head },
    <body>
      <main>
        <Logo brand={brand} />
        {content}
      </main>
    </body>,
  );
}

/**
 * Sends a public page with this title and content, in English unless another language is given, with the logo and colour of `brand` if it
 * belongs to an account.
 */
export function sendPublicPage(
  reply: FastifyReply,
  title: string,
  content: ComponentChildren,
  language: PageLanguage = 'en',
  brand: PublicBrand = NO_PUBLIC_BRAND,
): FastifyReply {
  // Without a brand, the policy that was set for this kind of page stays.
  if (brand.colour !== '' || brand.logo !== null) reply.header('content-security-policy', publicPolicy(brand));
  return reply.type('text/html; charset=utf-8').send(publicDocument({ language, title }, content, brand));
}

/** Sends a page with a single message, in English unless another language is given. */
export function sendMessagePage(
  reply: FastifyReply,
  { title, heading = title, text }: Message,
  language?: PageLanguage,
) {
  const content = (
    <>
      <h1>{heading}</h1>
      {text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
    </>
  );
  return sendPublicPage(reply, title, content, language);
}

/**
 * The style sheet of public pages, in the colours of the dashboard. It is embedded in each page, so that a page is a single request; the
 * policy allows it by its hash. Text has a contrast of at least 4.5 : 1 to its background; borders of controls and focus rings have at least
 * 3 : 1.
 */
export const STYLE = `
:root{color-scheme:light dark;--ground:#f3f4f2;--card:#fff;--text:#18201e;--quiet:#59645f;--line:#e4e7e3;--edge:#838e89;
--accent:#0b6b57;--on-accent:#fff;--good:#e5f4e9;--on-good:#1a6b36;font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media(prefers-color-scheme:dark){:root{--ground:#131615;--card:#1a1e1d;--text:#e8ecea;--quiet:#9eaaa5;--line:#2a312f;--edge:#6f7c77;
--accent:#62cfb4;--on-accent:#05231c;--good:#163222;--on-good:#74cf94}}
*{box-sizing:border-box}
body{margin:0;padding:clamp(1rem,6vh,4.5rem) 1rem;background:var(--ground);color:var(--text);overflow-wrap:break-word}
main{max-width:34rem;margin:auto;padding:clamp(1.25rem,5vw,2.5rem);background:var(--card);border:1px solid var(--line);border-radius:14px}
main>:last-child{margin-bottom:0}
h1{margin:0 0 .75rem;font-size:1.6rem;line-height:1.25;letter-spacing:-.01em}
h2{margin:0 0 .25rem;font-size:1.1rem}
p{margin:0 0 1rem}
.from{margin:0 0 .35rem;color:var(--quiet);font-size:.95rem}
.quiet{color:var(--quiet);font-size:.95rem}
.notice{margin:0 0 1.25rem;padding:.75rem 1rem;border-radius:9px;background:var(--good);color:var(--on-good)}
section{margin-top:1.75rem;padding-top:1.5rem;border-top:1px solid var(--line)}
form{margin:0}
fieldset{margin:0;padding:0;border:0;min-width:0}
legend{padding:0;margin-bottom:.5rem;font-weight:600;font-size:1.1rem}
.choice{display:flex;gap:.85rem;align-items:flex-start;padding:.7rem .25rem;border-bottom:1px solid var(--line);cursor:pointer}
.choice:last-of-type{border-bottom:0}
.choice input{flex:none;width:1.35rem;height:1.35rem;margin:.1rem 0 0;accent-color:var(--accent)}
.choice span{min-width:0}
.choice small{display:block;color:var(--quiet);font-size:.92rem}
button{margin-top:1.25rem;min-height:2.9rem;padding:.55rem 1.4rem;border:2px solid var(--accent);border-radius:9px;
background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;cursor:pointer}
button.plain{background:transparent;color:var(--accent)}
button:hover{text-decoration:underline}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:4px}
form+p{margin-top:1rem}
section button{margin-top:.25rem}
@media(max-width:30rem){button{width:100%;padding:.55rem .75rem}}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top}
td,code{overflow-wrap:anywhere}
.entries{margin:0 0 1.5rem;padding:0;list-style:none}
.entries li{padding:.7rem 0;border-bottom:1px solid var(--line)}
.entries small{display:block}
.pages{display:flex;justify-content:space-between;gap:1rem;margin-bottom:1.5rem}
`;

/**
 * Returns the Content-Security-Policy of a public page. It allows the style sheet with the rules of the brand, and the logo. `more` are
 * further directives, such as those for scripts; `targets` is where the page's forms may be sent.
 */
export function publicPolicy(brand: PublicBrand, { style = STYLE, more = '', targets = "'self'" } = {}): string {
  const hash = createHash('sha256')
    .update(style + brandStyle(brand))
    .digest('base64');
  const images = brand.logo === null ? 'data:' : "data: 'self'";
  return `default-src 'none'; style-src 'sha256-${hash}'; ${more}img-src ${images}; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`;
}

/** The policy of public pages without a brand: our style sheet and forms posted to us; no scripts, nothing from other origins. */
export const POLICY = publicPolicy(NO_PUBLIC_BRAND);

/** Headers of every public page that does not set its own. */
export const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
};
