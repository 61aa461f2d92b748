/** How a page is registered, and pages with a single message, such as those for unknown links and URLs. */
import type {
  FastifyInstance,
  FastifyReply,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify';
import { sendMessagePage } from './document.tsx';
import { chooseWords, type PageWords } from './words/index.ts';

/** A route with the id of a record. */
export interface ById {
  Params: { id: string };
}

/** A route with the utr of a record. */
export interface ByUtr {
  Params: { utr: string };
}

/** Registers a page. The handler must ensure that a HEAD request neither changes nor counts anything. */
export function pageRoute<Route extends RouteGenericInterface>(
  app: FastifyInstance,
  url: string,
  handler: RouteOptions<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, Route>['handler'],
): void {
  app.route<Route>({ method: ['GET', 'HEAD'], url, handler });
}

/** Sends a page with a single message, in the recipient's language. */
export function messagePage(reply: FastifyReply, message: keyof PageWords['messages']): FastifyReply {
  const { messages, language } = chooseWords(reply);
  return sendMessagePage(reply, messages[message], language);
}

/** Sends the page for a link that is not ours, or whose mail is not in the database, for example because an older backup was restored. */
export function unknownLink(reply: FastifyReply): FastifyReply {
  return messagePage(reply.code(404), 'unknownLink');
}

/** Sends the page for an unknown URL. The URL may be a truncated link from a mail, which the page mentions. */
export function unknownPage(reply: FastifyReply): FastifyReply {
  return messagePage(reply.code(404), 'unknownPage');
}
