/** Backups of the installation, for its operators: making one, and restoring one that is uploaded. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../../../failure.ts';
import { isSameOrigin } from '../../../../http/same-origin.ts';
import { SENTENCES } from '../../../../sentences.ts';
import { ApiClient, ApiFailure, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import { FileField } from '../../../components/field.tsx';
import { Facts, Time } from '../../../components/figures.tsx';
import { Island } from '../../../components/island.tsx';
import { Card } from '../../../components/surface.tsx';
import { languageOf, sendBarePage } from '../../../page.tsx';
import { recordTime } from '../../../record-time.ts';
import { field } from '../../../sign-in/fields.ts';
import { requireOperator, viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { backTo, sendSettings } from '../frame.tsx';
import { type Restore, RestoreQuestion } from './restore.tsx';

const FORBIDDEN = 403;
const CONFLICT = 409;

interface BackupState {
  last_backup_at: string | null;
  database_bytes: number;
  free_bytes: number;
  restore: Restore | null;
}

export async function backupScreen(app: FastifyInstance): Promise<void> {
  // The API reads the file; the page passes it on as it comes.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));
  app.addHook('onRequest', async (request) => requireOperator(request));

  app.get('/settings/backup', (request, reply) => show(request, reply));

  app.get('/settings/backup/file', async (request, reply) => {
    // Another site could make the browser ask for it again and again.
    if (!isSameOrigin(request)) throw new Failure(FORBIDDEN, SENTENCES.other_site);
    try {
      const { headers, body } = await new ApiClient(app, request).file('/backups/download', {});
      return reply.headers({ ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).send(body);
    } catch (error) {
      if (error instanceof ApiFailure && error.status === CONFLICT)
        return show(request, reply, CONFLICT, error.message);
      throw error;
    }
  });

  app.post('/settings/backup/upload', { config: { upload: true } }, async (request, reply) => {
    const type = request.headers['content-type'] ?? '';
    const answer = await new ApiClient(app, request).upload('/backups/upload', request.body, type);
    if (answer.message !== undefined) return reply.redirect('/settings/backup', 303);
    return show(request, reply, answer.status, '', refusalText(answer));
  });

  app.post('/settings/backup/drop', async (request, reply) => {
    const fields = { upload_id: field(request, 'upload_id') };
    const answer = await new ApiClient(app, request).send('POST', '/backups/upload/drop', fields);
    if (answer.message === undefined) return show(request, reply, answer.status, refusalText(answer));
    return backTo(reply, 'backup', 'settings.done.backupDropped');
  });

  app.post('/settings/backup/restore', async (request, reply) => {
    const fields = { upload_id: field(request, 'upload_id') };
    const answer = await new ApiClient(app, request).send('POST', '/backups/restore', fields);
    if (answer.message === undefined) return show(request, reply, answer.status, refusalText(answer));
    const title = languageOf(request, viewerOf(request)).say('restore.waiting.title');
    return sendBarePage(request, reply, title, <Restarting title={title} />);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, status = 200, problem = '', fileProblem = '') {
    const { backups } = await new ApiClient(app, request).get<{ backups: BackupState }>('/backups');
    const content = <Backups {...backups} problem={fileProblem} />;
    return sendSettings(request, reply.code(status), 'backup', content, problem);
  }
}

function Backups({ problem, ...state }: BackupState & { problem: string }) {
  return (
    <>
      {state.restore === null ? <MakeOne {...state} /> : <RestoreQuestion {...state.restore} />}
      {state.restore === null && <ChooseFile problem={problem} />}
    </>
  );
}

function MakeOne({ last_backup_at, database_bytes, free_bytes }: BackupState) {
  const language = useLanguage();
  const last = recordTime(last_backup_at);
  return (
    <Card title={language.say('backup.make.title')}>
      <Facts
        facts={[
          {
            label: language.say('health.backup'),
            value: last === null ? language.say('health.noBackup') : <Time at={last} />,
          },
          { label: language.say('health.database'), value: language.bytes(database_bytes) },
          { label: language.say('health.disk'), value: language.bytes(free_bytes) },
        ]}
      />
      <p>{language.say('backup.make.text')}</p>
      <form method="get" action="/settings/backup/file">
        <Button>{language.say('backup.make.submit')}</Button>
      </form>
    </Card>
  );
}

/** The form for a backup to restore; `problem` says why the file before was refused. */
function ChooseFile({ problem }: { problem: string }) {
  const language = useLanguage();
  return (
    <Island name="drop">
      <Card title={language.say('restore.title')}>
        <p>{language.say('restore.text')}</p>
        <form method="post" action="/settings/backup/upload" enctype="multipart/form-data">
          <FileField label={language.say('restore.file')} hint={language.say('restore.file.hint')} problem={problem} />
          <div class="buttons">
            <Button look="plain">{language.say('restore.look')}</Button>
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** What is shown while the service starts again; the script goes on by itself when it has. */
function Restarting({ title }: { title: string }) {
  const language = useLanguage();
  return (
    <Island name="restart">
      <h1>{title}</h1>
      <p role="status">{language.say('restore.waiting.text')}</p>
      <p>
        <a href="/login">{language.say('restore.waiting.signIn')}</a>
      </p>
    </Island>
  );
}
