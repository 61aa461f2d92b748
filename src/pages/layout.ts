/** The frame of every page, and the template tag that escapes what is put into it. */
import type { FastifyReply } from 'fastify';

/** HTML that is safe to put into a page as it is. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | null | readonly Piece[];

/** Builds HTML; every value that is not Html itself is escaped. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(strings.reduce((text, part, at) => text + write(pieces[at - 1] ?? null) + part));
}

function write(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(write).join('');
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{max-width:36rem;margin:3rem auto;padding:0 1rem}
button{font:inherit;padding:.5rem 1.25rem}
label{display:block;padding:.25rem 0}`;

/** Sends a page with this title and content. */
export function page(reply: FastifyReply, title: string, content: Html): FastifyReply {
  const text = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>
`.text;
  return reply.type('text/html; charset=utf-8').send(text);
}

/** What a link that is not ours gets. */
export function unknownLink(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'This link does not work',
    html`<p>It is incomplete or was changed. Please open it from the mail again.</p>`,
  );
}
