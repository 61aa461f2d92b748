/** The page of a mail's versions: when each was made and by whom, a preview, and a button that restores a version. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mailAddress } from '../../../automations/screens/changing.tsx';
import { stepPath } from '../../../campaigns/screens/compose/step.tsx';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { Badge, Empty, Problem } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { sendKeptMailFrame } from '../../../ui/mail-frame.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { type ListedVersion, listMailVersions, readVersion, restoreVersion, type Versions } from '../operations.ts';

interface Call {
  Params: { utr: string; id: string };
  Querystring: { version?: string };
}

const pathOf = (utr: string) => `/versions/${encodeURIComponent(utr)}`;

/** Registers the page of a mail's versions. */
export async function versionScreens(app: FastifyInstance): Promise<void> {
  // Versions are only for users who may change mails.
  app.addHook('onRequest', async (request) => requireEditor(request));

  pageRoute<Call>(app, '/versions/:utr', (request, reply) => show(request, reply));

  pageRoute<Call>(app, '/versions/:utr/:id/mail', async (request, reply) => {
    const { version } = await ask(request, readVersion, { version_id: request.params.id });
    return sendKeptMailFrame(reply, version.html, viewerOf(request).accountId);
  });

  app.post<Call>('/versions/:utr/:id/restore', async (request, reply) => {
    const { utr, id } = request.params;
    const restored = await attempt(request, restoreVersion, { version_id: id });
    if ('problems' in restored) return show(request, reply.code(restored.status), restored.text);
    setFlash(reply, 'good', 'versions.restored');
    return reply.redirect(pathOf(utr), 303);
  });

  async function show(request: FastifyRequest<Call>, reply: FastifyReply, problem = '') {
    const viewer = viewerOf(request);
    const { utr } = request.params;
    const { mail, versions } = await ask(request, listMailVersions, { mail_utr: utr });
    const chosen = versions.find(({ id }) => String(id) === request.query.version) ?? versions[1] ?? versions[0];
    const frame = {
      title: languageOf(request, viewer).say('versions.open'),
      section: mail.kind === 'single_send' ? 'campaigns' : 'automations',
      action: <BackButton utr={utr} mail={mail} />,
    } as const;
    return sendPage(request, reply, viewer, frame, <List {...{ utr, mail, versions, chosen, problem }} />);
  }
}

function BackButton({ utr, mail }: { utr: string; mail: Versions['mail'] }) {
  const href = mail.kind === 'single_send' ? stepPath(mail.utr, 'content') : mailAddress(mail.utr, utr);
  return <LinkButton look="plain" href={href} label={useLanguage().say('compose.design.back')} />;
}

interface ListProps extends Versions {
  utr: string;
  /** The version in the preview. */
  chosen: ListedVersion | undefined;
  problem: string;
}

function List({ utr, mail, versions, chosen, problem }: ListProps) {
  const language = useLanguage();
  return (
    <div class="stack">
      <Problem>{problem}</Problem>
      <p>
        <b>
          <bdi>{mail.name}</bdi>
        </b>
        {mail.subject !== '' && (
          <>
            {' · '}
            <bdi>{mail.subject}</bdi>
          </>
        )}
      </p>
      {chosen === undefined ? (
        <Empty title={language.say('versions.empty.title')} action={<BackButton utr={utr} mail={mail} />}>
          {language.say('versions.empty.text')}
        </Empty>
      ) : (
        <>
          <p class="quiet-text">{language.say('versions.about')}</p>
          <div class="versions">
            <ol>
              {versions.map((version) => (
                <li key={version.id}>
                  <a
                    href={`${pathOf(utr)}?version=${version.id}`}
                    {...(version.id === chosen.id && { 'aria-current': 'true' as const })}
                  >
                    <b>{when(language, version)}</b>
                    <span class="small">{version.made_by ?? language.say('versions.nobody')}</span>
                    {version.is_current === 1 && <Badge tone="good">{language.say('versions.now')}</Badge>}
                  </a>
                </li>
              ))}
            </ol>
            <ShownVersion utr={utr} version={chosen} />
          </div>
        </>
      )}
    </div>
  );
}

function ShownVersion({ utr, version }: { utr: string; version: ListedVersion }) {
  const language = useLanguage();
  return (
    <div class="stack">
      <h2>{when(language, version)}</h2>
      {version.is_current === 0 && (
        <div class="buttons">
          <Confirm
            id="restore"
            action={`${pathOf(utr)}/${version.id}/restore`}
            label={language.say('versions.restore')}
            look="primary"
            title={language.say('versions.restore.title')}
          >
            <p>{language.say('versions.restore.text', { when: when(language, version) })}</p>
          </Confirm>
        </div>
      )}
      <div class="mail-sheet">
        <iframe sandbox="" src={`${pathOf(utr)}/${version.id}/mail`} title={when(language, version)} />
      </div>
      <p class="quiet-text">{language.say('mail.note')}</p>
    </div>
  );
}

/** Returns when a version was made as a text; empty if the time is not valid. */
function when(language: Language, { updated_at }: ListedVersion): string {
  const time = recordTime(updated_at);
  return time === null ? '' : language.dateTime(time);
}
