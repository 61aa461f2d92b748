/** The attachments of a campaign: the page that adds and removes them, and their card beside the content. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { makeUploadFolder } from '../../audience/import/uploads.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { readFileUpload } from '../../http/requests/file-upload.ts';
import { installMultipart } from '../../http/requests/forms.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { FileField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, attemptWith } from '../../ui/operations.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { addAttachment, MAX_ATTACHED_BYTES, removeAttachment } from '../operations/attachments.ts';
import { type Draft, readDraft } from '../operations/drafts.ts';
import { sendStep, stepPath } from './compose/step.tsx';

/** Registers the page of a campaign's attachments. */
export async function attachmentsScreen(app: FastifyInstance): Promise<void> {
  await installMultipart(app);

  pageRoute<ByUtr>(app, '/campaigns/:utr/edit/attachments', (request, reply) => show(request, reply));

  app.post<ByUtr>('/campaigns/:utr/edit/attachments', { config: { upload: true } }, async (request, reply) => {
    const { utr } = request.params;
    const added = await attemptWith(request, async ({ config }) => {
      const folder = await makeUploadFolder(config.DATABASE_PATH);
      try {
        const path = join(folder, 'attachment');
        const { fileName: name, fields, errors } = await readFileUpload(request, path, MAX_ATTACHED_BYTES);
        errors.throwIfAny();
        const { type, unchanged_since } = fields;
        const content = (await readFile(path)).toString('base64');
        return await ask(request, addAttachment, { utr, name, type, unchanged_since, content });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
    if ('problems' in added)
      return show(request, reply.code(added.status), added.problems.file?.join(' ') ?? added.text);
    setFlash(reply, 'good', 'attachments.added');
    return reply.redirect(stepPath(utr, 'attachments'), 303);
  });

  app.post<ByUtr>('/campaigns/:utr/edit/attachments/remove', async (request, reply) => {
    const { utr } = request.params;
    const unchanged_since = field(request, 'unchanged_since');
    const values = { utr, unchanged_since, attachment_id: field(request, 'attachment_id') };
    const removed = await attempt(request, removeAttachment, values);
    if ('problems' in removed) return show(request, reply.code(removed.status), removed.text);
    setFlash(reply, 'good', 'attachments.removed');
    return reply.redirect(stepPath(utr, 'attachments'), 303);
  });

  async function show(request: FastifyRequest<ByUtr>, reply: FastifyReply, problem?: string) {
    const { draft } = await ask(request, readDraft, request.params);
    return sendStep(request, reply, draft, 'content', <AttachmentsPage draft={draft} problem={problem} />);
  }
}

function AttachmentsPage({ draft, problem }: { draft: Draft; problem: string | undefined }) {
  const language = useLanguage();
  const { utr, attachments, updated_at } = draft;
  const path = stepPath(utr, 'attachments');
  return (
    <div class="stack">
      <h2>{language.say('attachments.title')}</h2>
      <p class="quiet-text">{language.say('attachments.about', { limit: language.bytes(MAX_ATTACHED_BYTES) })}</p>
      {attachments.map(({ id, file_name, size }) => (
        <Card key={id} title={file_name}>
          <p class="quiet-text">{language.bytes(size)}</p>
          <Confirm
            id={`remove-${id}`}
            action={`${path}/remove`}
            label={language.say('attachments.remove')}
            title={language.say('attachments.remove.title', { name: file_name })}
          >
            <p>{language.say('attachments.remove.text')}</p>
            <input type="hidden" name="attachment_id" value={id} />
            <input type="hidden" name="unchanged_since" value={updated_at} />
          </Confirm>
        </Card>
      ))}
      <Card title={language.say('attachments.add')}>
        <form method="post" action={path} enctype="multipart/form-data" class="stack">
          <input type="hidden" name="unchanged_since" value={updated_at} />
          <FileField
            label={language.say('attachments.file')}
            hint={language.say('attachments.file.hint')}
            problem={problem}
          />
          <Button label={language.say('attachments.save')} />
        </form>
      </Card>
      <div class="buttons">
        <LinkButton look="quiet" href={stepPath(utr, 'content')} label={language.say('compose.design.back')} />
      </div>
    </div>
  );
}

/** The card beside the content that names the attachments and links to their page. */
export function AttachmentsCard({ draft: { utr, attachments } }: { draft: Draft }) {
  const language = useLanguage();
  const files = attachments.map(({ file_name, size }) => `${file_name} (${language.bytes(size)})`).join(', ');
  return (
    <Card title={language.say('attachments.title')}>
      <p>{files === '' ? language.say('attachments.none') : <bdi>{files}</bdi>}</p>
      <div class="buttons">
        <LinkButton
          look="plain"
          href={stepPath(utr, 'attachments')}
          label={language.say(files === '' ? 'attachments.open' : 'attachments.change')}
        />
      </div>
    </Card>
  );
}
