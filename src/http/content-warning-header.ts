/**
 * Addition to the contract: warns about placeholders of a mail that will stay empty or unreplaced for every recipient, in a
 * header of the answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../database/open.ts';
import type { ContentWarning } from '../delivery/checks/content-checks.ts';
import { findWarnings } from '../delivery/compiling/show.ts';
import { knownPlaceholders } from '../templates/content-warnings.ts';

/** Endpoints that save or show a mail with the placeholders of contacts. */
const PATHS_FOR_CONTACTS = new Set([
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
/** The endpoint whose requests contain the values of the placeholders. It refuses a request without a value for each of them. */
const TRANSACTIONAL_PATH = '/transactional/send';
/** The parameters with the texts of a mail. */
const TEXTS = ['subject', 'preheader', 'template_json', 'template_html', 'text'];
/** The maximum wait for the warnings. The mail is already stored, and a client that gives up waiting might send it again. */
const MAX_WAIT_MS = 2000;

/** True if the answer of the endpoint at this path, with /api, may have the header `Sendlark-Warnings`. */
export function mayHaveWarnings(url: string): boolean {
  const path = withoutPrefix(url);
  return PATHS_FOR_CONTACTS.has(path) || path === TRANSACTIONAL_PATH;
}

function withoutPrefix(url: string): string {
  return url.replace(/^\/api/, '');
}

/**
 * Sets `Sendlark-Warnings` on successful answers to requests with a mail: a JSON list in ASCII, at most 6 kB long. Sets no header if the
 * warnings take longer than `MAX_WAIT_MS`.
 */
export function warnOfContent(app: FastifyInstance, { db }: { db: Db }): void {
  // The hook is added to these routes alone, so that no other answer waits for an asynchronous hook.
  app.addHook('onRoute', (route) => {
    if (!mayHaveWarnings(route.url)) return;
    const isForContacts = PATHS_FOR_CONTACTS.has(withoutPrefix(route.url));
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        if (reply.statusCode === 200) await addWarnings(request, reply, isForContacts);
        return payload;
      },
    ];
  });

  async function addWarnings(request: FastifyRequest, reply: FastifyReply, isForContacts: boolean): Promise<void> {
    const body: Record<string, unknown> = Object.assign(Object.create(null), request.body);
    const texts = TEXTS.map((name) => body[name]).filter((text) => typeof text === 'string');
    const known = isForContacts ? knownPlaceholders(db, request.accountId) : null;
    try {
      const warningsInTime = await withinTime(findWarnings(request.accountId, texts, known));
      if (warningsInTime.length > 0) reply.header('sendlark-warnings', asciiJson(warningsInTime));
    } catch (error) {
      // The request itself has succeeded. It must not fail, and be repeated, because the warnings could not be made.
      request.log.warn({ err: error }, 'the texts of a mail could not be checked for warnings');
    }
  }
}

/** Waits for warnings for `MAX_WAIT_MS` at most, then returns an empty list. Throws if the warnings could not be made. */
async function withinTime(warnings: Promise<ContentWarning[]>): Promise<ContentWarning[]> {
  const { promise: late, resolve } = Promise.withResolvers<ContentWarning[]>();
  const timer = setTimeout(resolve, MAX_WAIT_MS, []);
  return Promise.race([warnings, late]).finally(() => clearTimeout(timer));
}

/** Returns JSON for a header field (RFC 9110, 5.5): characters other than ASCII are escaped. */
function asciiJson(warnings: readonly ContentWarning[]): string {
  return JSON.stringify(warnings).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
