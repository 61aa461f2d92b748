/** Addition: the header with which a save says what of its mail will stay empty or as it is for everybody. */
import type { FastifyInstance } from 'fastify';
import type { Db } from '../database/open.ts';
import { type ContentWarning, contentWarnings, knownPlaceholders } from '../templates/content-warnings.ts';

/** What saves or shows a mail with the placeholders of contacts. */
const OF_CONTACTS = new Set([
  '/single/send/create',
  '/single/send/update',
  '/single/send/save',
  '/single/send/preview',
  '/automations/schedule/create',
  '/automations/schedule/add',
  '/automations/schedule/update',
  '/templates/create',
  '/templates/update',
]);
/** Its values come with the request, and one that lacks is refused. */
const WITH_DATA = '/transactional/send';
const TEXTS = ['subject', 'preheader', 'template_json', 'template_html', 'text'];
const OK = 200;

/** Sets `Sendlark-Warnings` on successful answers to requests with a mail: a JSON list in ASCII, of at most 6 kB. */
export function warnOfContent(app: FastifyInstance, { db }: { db: Db }): void {
  app.addHook('onSend', (request, reply, _payload, next) => {
    const path = request.routeOptions.url?.replace(/^\/api/, '') ?? '';
    const isOfContacts = OF_CONTACTS.has(path);
    if (reply.statusCode === OK && (isOfContacts || path === WITH_DATA)) {
      const given: Record<string, unknown> = Object.assign(Object.create(null), request.body);
      const texts = TEXTS.map((name) => given[name]).filter((text) => typeof text === 'string');
      const known = isOfContacts ? knownPlaceholders(db, request.accountId) : null;
      const warnings = contentWarnings(texts, known);
      if (warnings.length > 0) reply.header('sendlark-warnings', asciiJson(warnings));
    }
    next();
  });
}

/** JSON for a header field (RFC 9110, 5.5): other characters than ASCII are escaped. */
function asciiJson(warnings: readonly ContentWarning[]): string {
  return JSON.stringify(warnings).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
