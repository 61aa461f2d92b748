/** Transactional mail (additions): one mail to one person, such as a receipt or a link to sign in, and what became of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, isNull } from 'drizzle-orm';
import Type from 'typebox';
import { findAddressId } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isErased } from '../audience/contacts/erased.ts';
import { recordUtr } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { inTurn } from '../http/account-share.ts';
import { readLargeJson, textBytes } from '../http/requests/large-json.ts';
import {
  DeliveryState,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  optionalReference,
  reference,
  successWith,
  text,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { templateErrors } from '../single-sends/single-sends.ts';
import { hasTemplate } from '../templates/mail-content.ts';
import { MAX_NAME } from '../transactional/attachments.ts';
import { CompiledTemplates } from '../transactional/content.ts';
import { findMail, listMails } from '../transactional/list.ts';
import { sendTransactional } from '../transactional/send.ts';

const tags = ['Transactional mail'];
/** 10 MB of attachments in base64, and a template. */
const MAX_BODY_BYTES = 18 * 1024 * 1024;
const DEFAULT_ROWS = 50;

const AttachmentRecord = Type.Object({ file_name: Type.String(), type: Type.String(), size: integer() });
const TransactionalMail = Type.Object({
  id: integer(),
  utr: Type.String(),
  sender_id: integer(),
  email: Type.String(),
  name: Type.String(),
  subject: Type.String(),
  attachments: Type.Array(AttachmentRecord),
  message_id: Type.String(),
  state: DeliveryState,
  attempts: integer(),
  reply: nullable(Type.String()),
  reason_code: nullable(Type.String()),
  next_try_at: nullable(isoTimestampSchema()),
  complained_at: nullable(isoTimestampSchema()),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
});

const code = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
const SendBody = Type.Object({
  sender_id: reference(),
  email: email(),
  name: Type.Optional(line({ description: "The recipient's name, for the field To and ((full_name))." })),
  subject: line({ description: 'May have placeholders.' }),
  preheader: Type.Optional(line({ description: 'Shown behind the subject in lists of mails.' })),
  template_id: optionalReference(),
  template_json: code('The mail as MJML in JSON form, in place of a template.'),
  template_html: code('The mail as HTML, in place of a template.'),
  text: Type.Optional(
    text({
      description: 'The plain text; without a template the whole mail. If not given, it is made from the template.',
    }),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'The values of placeholders by name, at most 200.' }),
  ),
  attachments: Type.Optional(
    Type.Unsafe<{ name: string; type?: string; content: string }[]>({
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name of the file, of at most 255 characters.' },
          type: { type: 'string', description: 'Its media type; application/octet-stream if not given.' },
          content: { type: 'string', description: 'Its bytes in base64, without line breaks.' },
        },
        required: ['name', 'content'],
      },
      description: 'In JSON only: at most 20 files of 10 MiB together.',
    }),
  ),
});

const ListQuery = Type.Object({
  state: Type.Optional(DeliveryState),
  email: Type.Optional(line({ description: 'Only mails to this address.' })),
  limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: `${DEFAULT_ROWS} if not given.` })),
  before_id: Type.Optional(integer({ description: 'Only those with a lower id: next_before_id of the page before.' })),
});

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

  /** The id of an address of the account; 0 if it has none like that. */
  function idOf(accountId: number, given: string): number {
    const address = parseAddress(given);
    return (address && findAddressId(db, accountId, address)) ?? 0;
  }

  app.post(
    '/transactional/send',
    {
      schema: {
        tags,
        summary: 'Send one mail to one person (addition)',
        description:
          'For receipts, links to sign in and the like. It has a queue of its own and waits for no campaign. Answered once it is on disk. Only bounces and complaints suppress it, not an unsubscription; nobody who was erased gets one. With the header Idempotency-Key the same request can be repeated for a day and sends one mail; another request with that key is answered 409.',
        headers: Type.Object({
          'idempotency-key': Type.Optional(
            Type.String({ description: 'Any text of 1 to 255 characters that you use for this mail only.' }),
          ),
        }),
        body: SendBody,
        response: successWith({ utr: Type.String() }),
      },
      config: {
        check: check(SendBody, (body, errors, { accountId }) => {
          const { sender_id, template_id } = body;
          if (sender_id !== undefined)
            errors.reference('sender_id', () => senderOf(accountId, sender_id) !== undefined);
          if (template_id !== undefined && template_id !== 0)
            errors.reference('template_id', () => hasTemplate(db, accountId, template_id));
          if (isErased(client, accountId, body.email)) errors.add('email', messages.erased('email'));
          for (const [field, wrong] of templateErrors(body)) errors.add(field, wrong);
        }),
      },
    },
    async (request, reply) => {
      const { accountId, body, headers } = request;
      const sender = senderOf(accountId, body.sender_id);
      const address = parseAddress(body.email);
      if (sender === undefined || address === null) throw new Error('an invalid sender or address passed the check');
      const { attachments = [], template_id } = body;
      const key = headers['idempotency-key'];
      const given = {
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
          // More bytes say no more than that the name is too long.
          name: textBytes(request, name).toString('utf8', 0, 4 * (MAX_NAME + 1)),
          type,
          base64: textBytes(request, content),
        })),
        key: key ?? null,
      };
      const utr = await sendTransactional(deps, templates, accountId, given, sender);
      reply.header('location', `/api/transactional/details?utr=${utr}`);
      return { status: 'success' as const, message: { utr } };
    },
  );

  app.get(
    '/transactional/details',
    {
      schema: {
        tags,
        summary: 'Read what became of a transactional mail (addition)',
        description: 'Its bodies and attachments cannot be read: they are removed when it has a final state.',
        querystring: Type.Object({ utr: identifier('The mail.') }),
        response: successWith({ mail: TransactionalMail }),
      },
    },
    async ({ accountId, query }) => {
      const mail = findMail(client, accountId, recordUtr(query.utr));
      if (mail === undefined) throw notFound('Record not found');
      return { status: 'success' as const, message: { mail } };
    },
  );

  app.get(
    '/transactional/list',
    {
      schema: {
        tags,
        summary: 'List transactional mails, newest first (addition)',
        description:
          'A page of one state may hold fewer records than the limit, even none, though next_before_id says that more follow.',
        querystring: ListQuery,
        response: successWith({ mails: Type.Array(TransactionalMail), next_before_id: nullable(integer()) }),
      },
    },
    async ({ accountId, query }) => {
      const { state, email: given, limit = DEFAULT_ROWS, before_id: before = Number.MAX_SAFE_INTEGER } = query;
      const filter = { state, addressId: given ? idOf(accountId, given) : undefined, before, limit };
      return { status: 'success' as const, message: listMails(client, accountId, filter) };
    },
  );
};
