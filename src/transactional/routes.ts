/**
 * The API for transactional mail (an addition to the contract): one mail to one recipient, such as a receipt or a link to sign
 * in, and its result.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, isNull } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { languageCode } from '../audience/contacts/contact-languages.ts';
import { isErased } from '../audience/contacts/erased-addresses.ts';
import { templateErrors } from '../campaigns/single-send-errors.ts';
import { senders } from '../database/schema/index.ts';
import { MAX_NAME } from '../delivery/mime/attachments.ts';
import { messages } from '../errors/field-errors.ts';
import { inTurn } from '../http/account-share.ts';
import { mailFile, sendMailFile } from '../http/mail-file.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import { readLargeJson, textBytes } from '../http/requests/large-json.ts';
import {
  described,
  email,
  line,
  MAX_TEMPLATE_CHARACTERS,
  optionalReference,
  reference,
  successWith,
  text,
} from '../http/requests/schemas.ts';
import { passedFields } from '../http/requests/validation.ts';
import type { Deps } from '../operations/deps.ts';
import { hasTemplate } from '../templates/mail-content.ts';
import { MEBIBYTE } from '../units.ts';
import { CompiledTemplates } from './content.ts';
import { listMails, readMail, readSentTransactionalMail } from './operations.ts';
import { IDEMPOTENCY_KEY, sendTransactional } from './send.ts';

const TAG = 'Transactional e-mail';
/** The maximum size of a request: 10 MiB of attachments in base64, and a template. */
const MAX_BODY_BYTES = 18 * MEBIBYTE;

const code = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
const SendBody = Type.Object({
  sender_id: described(reference(), 'Id of the sender, from the list of senders.'),
  email: described(email(), "The recipient's address."),
  name: Type.Optional(line({ description: "The recipient's name, for the field To and ((full_name))." })),
  subject: line({ description: 'The subject, which may have merge tags.' }),
  preheader: Type.Optional(line({ description: 'The preview text, shown behind the subject in lists of e-mails.' })),
  template_id: optionalReference(
    'Id of a template; 0 or 1 for none. A template with ((unsubscribe_preferences)), as all built-in templates have, is refused.',
  ),
  language: Type.Optional(
    line({
      description:
        'The language of the version of your template: an ISO 639-1 code, a tag such as pt-BR, or a name. If absent: the language of the contact with the address, else that of the account. A template without a version in this language is used itself.',
    }),
  ),
  template_json: code('The e-mail as MJML in JSON form, in place of a template.'),
  template_html: code('The e-mail as HTML, in place of a template.'),
  text: Type.Optional(
    text({
      description:
        'The plain text; without a template, it is the whole e-mail. If absent, the plain text is made from the template.',
    }),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'The values of merge tags by name, at most 200.' }),
  ),
  attachments: Type.Optional(
    Type.Unsafe<{ name: string; type?: string; content: string }[]>({
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name of the file, of at most 255 characters.' },
          type: { type: 'string', description: 'The media type of the file; application/octet-stream if absent.' },
          content: { type: 'string', description: 'The bytes of the file in base64, without line breaks.' },
        },
        required: ['name', 'content'],
      },
      description: 'In JSON only: at most 20 files of 10 MiB together.',
    }),
  ),
});

/** Registers the API for transactional mail. Its parser of large bodies stays within this plugin. */
export const transactionalRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db } = deps;
  const client = db.$client;
  const templates = new CompiledTemplates(inTurn);
  readLargeJson(app, 'attachments', MAX_BODY_BYTES);

  const senderOf = (accountId: number, id: number) =>
    db
      .select()
      .from(senders)
      .where(and(eq(senders.id, id), eq(senders.user_id, accountId), isNull(senders.deleted_at)))
      .get();

  app.post(
    '/transactional/send',
    {
      schema: {
        tags: [TAG],
        summary: 'Send one e-mail to one person (addition)',
        description:
          'For receipts, links to sign in and the like. The e-mail has a queue of its own and waits for no campaign. The request is answered once the e-mail is on disk. Only bounces and complaints suppress the e-mail, not an unsubscription; an erased address gets none. With the header Idempotency-Key the same request can be repeated for a day and sends one e-mail; another request with that key is answered 409.',
        headers: Type.Object({
          'idempotency-key': Type.Optional(
            Type.String({
              documented: { pattern: IDEMPOTENCY_KEY.source },
              description: 'Any text of 1 to 255 characters of ASCII that you use for this e-mail only.',
            }),
          ),
        }),
        body: SendBody,
        response: successWith({
          utr: Type.String({ description: 'UUID of the e-mail; the same for a repeated request.' }),
        }),
      },
      config: {
        hasLocation: true,
        check({ accountId, body: sent }, errors) {
          const body = passedFields(SendBody, Object(sent), errors);
          const { sender_id, template_id } = body;
          if (sender_id !== undefined)
            errors.reference('sender_id', () => senderOf(accountId, sender_id) !== undefined);
          if (template_id !== undefined && template_id !== 0)
            errors.reference('template_id', () => hasTemplate(db, accountId, template_id));
          if (body.language && languageCode(body.language) === null)
            errors.add('language', messages.selected('language'));
          if (isErased(client, accountId, body.email)) errors.add('email', messages.erased('email'));
          for (const [field, problem] of templateErrors(body)) errors.add(field, problem);
        },
      },
    },
    async (request, reply) => {
      const { accountId, body, headers } = request;
      const sender = senderOf(accountId, body.sender_id);
      const address = parseAddress(body.email);
      if (sender === undefined || address === null) throw new Error('an invalid sender or address passed the check');
      const { attachments = [], template_id } = body;
      const key = headers['idempotency-key'];
      const mail = {
        address,
        email: address.address,
        name: body.name ?? '',
        subject: body.subject,
        preheader: body.preheader ?? '',
        ...(template_id !== undefined && { template_id }),
        template_json: body.template_json ?? '',
        template_html: body.template_html ?? '',
        text: body.text ?? '',
        data: body.data ?? {},
        files: attachments.map(({ name, type = '', content }) => ({
          // These bytes are enough to see that a name is too long.
          name: textBytes(request, name).toString('utf8', 0, 4 * (MAX_NAME + 1)),
          type,
          base64: textBytes(request, content),
        })),
        requestedLanguage: languageCode(body.language ?? '') ?? '',
        key: key ?? null,
      };
      const utr = await sendTransactional(deps, templates, accountId, mail, sender);
      reply.header('location', `/api/transactional/details?utr=${utr}`);
      return { status: 'success' as const, message: { utr } };
    },
  );

  const routes = operationRoutes(app, deps, TAG);
  routes.read('GET /transactional/details', readMail);
  routes.read('GET /transactional/list', listMails);
  routes.send('GET /transactional/mail', readSentTransactionalMail, mailFile, (raw, reply) => sendMailFile(reply, raw));
};
