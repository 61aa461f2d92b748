/** Backups of the installation, for its operators: download a new backup, or upload one and restore it after confirmation. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { installMultipart } from '../../../http/requests/forms.ts';
import { isSameOrigin } from '../../../http/same-origin.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { FileField } from '../../../ui/components/field.tsx';
import { Facts, Time } from '../../../ui/components/figures.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { ask, attempt, attemptWith } from '../../../ui/operations.ts';
import { languageOf, sendBarePage } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOperator, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type BackupState, dropBackup, makeBackup, type Restore, readBackups, restoreBackup } from '../operations.ts';
import { makeUntilClosed, receiveBackup, sendBackup } from '../routes.ts';

/** Registers the settings page for backups. */
export async function backupScreen(app: FastifyInstance): Promise<void> {
  await installMultipart(app);
  app.addHook('onRequest', async (request) => requireOperator(request));

  app.get('/settings/backup', (request, reply) => show(request, reply));

  app.get('/settings/backup/file', async (request, reply) => {
    // Without this check, another website could make the browser request backups again and again.
    if (!isSameOrigin(request)) throw new Failure(403, sentence('other_site'));
    const outcome = await makeUntilClosed(reply, app.deps.backups, () => attempt(request, makeBackup, {}));
    if ('problem' in outcome) return show(request, reply, outcome.status, outcome.text);
    return sendBackup(
      reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }),
      outcome.output,
    );
  });

  app.post(
    '/settings/backup/upload',
    { config: { upload: true, role: 'owner', isForOperators: true } },
    async (request, reply) => {
      const uploaded = await attemptWith(request, ({ backups }) => receiveBackup(backups, request));
      if ('problem' in uploaded) return show(request, reply, uploaded.status, '', uploaded.text);
      return reply.redirect('/settings/backup', 303);
    },
  );

  app.post('/settings/backup/drop', async (request, reply) => {
    const dropped = await attempt(request, dropBackup, { upload_id: field(request, 'upload_id') });
    if ('problem' in dropped) return show(request, reply, dropped.status, dropped.text);
    return backTo(reply, 'backup', 'settings.done.backupDropped');
  });

  app.post('/settings/backup/restore', async (request, reply) => {
    const restored = await attempt(request, restoreBackup, { upload_id: field(request, 'upload_id') });
    if ('problem' in restored) return show(request, reply, restored.status, restored.text);
    const title = languageOf(request, viewerOf(request)).say('restore.waiting.title');
    return sendBarePage(request, reply, title, <Restarting title={title} />);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, status = 200, problem = '', fileProblem = '') {
    const { backups } = await ask(request, readBackups, {});
    const content = <Backups {...backups} problem={fileProblem} />;
    return sendSettings(request, reply.code(status), 'backup', content, problem);
  }
}

function Backups({ problem, ...state }: BackupState & { problem: string }) {
  return (
    <>
      {state.restore === null ? <MakeBackup {...state} /> : <RestoreQuestion {...state.restore} />}
      {state.restore === null && <ChooseFile problem={problem} />}
    </>
  );
}

function MakeBackup({ last_backup_at, database_bytes, free_bytes }: BackupState) {
  const language = useLanguage();
  const last = recordTime(last_backup_at);
  return (
    <Card title={language.say('backup.make.title')}>
      <Facts
        facts={[
          {
            label: language.say('health.backup'),
            value: (
              <span id="last-backup" role="status">
                {last === null ? language.say('health.noBackup') : <Time at={last} />}
              </span>
            ),
          },
          { label: language.say('health.database'), value: language.bytes(database_bytes) },
          { label: language.say('health.disk'), value: language.bytes(free_bytes) },
        ]}
      />
      <p>{language.say('backup.make.text')}</p>
      <Island name="last-backup">
        <form method="get" action="/settings/backup/file">
          <Button label={language.say('backup.make.submit')} />
        </form>
      </Island>
    </Card>
  );
}

/** The form to upload a backup to restore; `problem` says why the previous file was refused. */
function ChooseFile({ problem }: { problem: string }) {
  const language = useLanguage();
  return (
    <Island name="drop">
      <Card title={language.say('restore.title')}>
        <p>{language.say('restore.text')}</p>
        <form method="post" action="/settings/backup/upload" enctype="multipart/form-data">
          <FileField label={language.say('restore.file')} hint={language.say('restore.file.hint')} problem={problem} />
          <div class="buttons">
            <Button look="plain" label={language.say('restore.look')} />
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** The page shown while the service restarts. Its script leaves the page once the service is back. */
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

function RestoreQuestion(restore: Restore) {
  const language = useLanguage();
  const madeAt = recordTime(restore.made_at);
  const contactsAndMailings = (people: number, mailings: number) =>
    language.say('restore.both', {
      people: language.say('restore.people', { count: people }),
      mailings: language.say('restore.mailings', { count: mailings }),
    });
  const lost = contactsAndMailings(restore.people_lost, restore.mailings_lost);
  const losesNothing = restore.people_lost + restore.mailings_lost === 0;
  const effectOfOwn = losesNothing ? language.say('restore.nothing') : language.say('restore.lost', { lost });
  const uploadId = <input type="hidden" name="upload_id" value={restore.upload_id} />;
  return (
    <Card title={language.say('restore.question')}>
      <Facts
        facts={[
          { label: language.say('restore.file.name'), value: restore.file_name },
          {
            label: language.say('restore.made'),
            value: madeAt === null ? language.say('restore.unknown') : <Time at={madeAt} />,
          },
          { label: language.say('restore.inside'), value: contactsAndMailings(restore.people, restore.mailings) },
          { label: language.say('restore.now'), value: contactsAndMailings(restore.people_now, restore.mailings_now) },
        ]}
      />
      <Notice tone={losesNothing ? 'plain' : 'warn'}>
        <p>{restore.is_own === 0 ? language.say('restore.other', { lost }) : effectOfOwn}</p>
        {restore.left_since > 0 && <p>{language.say('restore.left', { count: restore.left_since })}</p>}
      </Notice>
      <ul>
        <li>{language.say('restore.held')}</li>
        <li>{language.say('restore.signIn')}</li>
        <li>{language.say('restore.kept')}</li>
      </ul>
      <div class="buttons">
        <Confirm
          id="restore"
          action="/settings/backup/restore"
          label={language.say('restore.submit')}
          title={language.say('restore.confirm')}
        >
          {uploadId}
          <p>{language.say('restore.lost', { lost })}</p>
        </Confirm>
        <form method="post" action="/settings/backup/drop">
          {uploadId}
          <Button look="plain" label={language.say('restore.drop')} />
        </form>
      </div>
    </Card>
  );
}
