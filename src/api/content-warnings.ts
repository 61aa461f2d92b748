/** Addition: what of a mail will stay empty or as it is for everybody, in answers and as a header of those to saves. */
import type { FastifyInstance } from 'fastify';
import type { Db } from '../database/open.ts';
import type { ContentWarning } from '../delivery/checks/content-checks.ts';
import { warnings } from '../delivery/compiling/show.ts';
import { knownPlaceholders } from '../templates/content-warnings.ts';

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
/** Its values come with the request, and one without a value for each placeholder is refused. */
const WITH_DATA = '/transactional/send';
const TEXTS = ['subject', 'preheader', 'template_json', 'template_html', 'text'];
const OK = 200;

/** Sets `Sendlark-Warnings` on successful answers to requests with a mail: a JSON list in ASCII, of at most 6 kB. */
export function warnOfContent(app: FastifyInstance, { db }: { db: Db }): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const path = request.routeOptions.url?.replace(/^\/api/, '') ?? '';
    const isOfContacts = OF_CONTACTS.has(path);
    if (reply.statusCode === OK && (isOfContacts || path === WITH_DATA)) {
      const given: Record<string, unknown> = Object.assign(Object.create(null), request.body);
      const texts = TEXTS.map((name) => given[name]).filter((text) => typeof text === 'string');
      const known = isOfContacts ? knownPlaceholders(db, request.accountId) : null;
      try {
        const found = await warnings(request.accountId, texts, known);
        if (found.length > 0) reply.header('sendlark-warnings', asciiJson(found));
      } catch (error) {
        // What was asked for is done, and must not be repeated because nothing can be said about it.
        request.log.warn({ err: error }, 'the texts of a mail could not be looked at for warnings');
      }
    }
    return payload;
  });
}

/** JSON for a header field (RFC 9110, 5.5): other characters than ASCII are escaped. */
function asciiJson(warnings: readonly ContentWarning[]): string {
  return JSON.stringify(warnings).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
