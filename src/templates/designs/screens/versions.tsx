/**
 * The page of a mail's versions for anyone with the link to the design page: a list, a preview, and a button that restores a version. The
 * page works without scripts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../../../database/open.ts';
import { conflict, notFound } from '../../../errors/failure.ts';
import { withinShare } from '../../../http/account-share.ts';
import { POLICY, sendPublicPage } from '../../../http/pages/document.tsx';
import { pageRoute } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { sendKeptMailFrame } from '../../../ui/mail-frame.ts';
import { recordTime } from '../../../ui/record-time.ts';
import { chooseLanguage } from '../../../ui/words/choose.ts';
import type { Language } from '../../../ui/words/index.ts';
import type { Mail } from '../../mail-content.ts';
import {
  type ListedVersion,
  listVersions,
  requireVersion,
  restoreContent,
  versionHtml,
} from '../../versions/operations.ts';
import type { Design } from '../designs.ts';

/** The Content-Security-Policy of the page. The dashboard may show the page in a frame, and the page shows the mail in a frame. */
const PAGE_POLICY = `${POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")}; frame-src 'self'`;

interface Call {
  Params: { token: string; id: string };
  Querystring: { version?: string };
}

/**
 * Registers the page, the frame with the mail, and the form that restores a version. `requireDesign` returns the design of a valid link,
 * otherwise throws. `userOf` returns the id of the signed-in user if the user belongs to the mail's account, otherwise null.
 */
export async function designVersions(
  app: FastifyInstance,
  deps: Deps,
  requireDesign: (token: string) => Design,
  userOf: (request: FastifyRequest, design: Design) => number | null,
): Promise<void> {
  const { db } = deps;

  pageRoute<Call>(app, '/design/:token/versions', (request, reply) => {
    const { token } = request.params;
    const design = requireDesign(token);
    const language = chooseLanguage(
      request.session?.user.language || null,
      request.headers['accept-language'],
      undefined,
    );
    const versions = listVersions(db, requireVersioned(design));
    const chosen = versions.find(({ id }) => String(id) === request.query.version) ?? versions[1] ?? versions[0];
    return showVersions(reply, language, { token, design, versions, chosen });
  });

  pageRoute<Call>(app, '/design/:token/versions/:id/mail', async ({ params }, reply) => {
    const design = requireDesign(params.token);
    const version = requireVersionOf(design, params.id);
    return withinShare(design.user_id, async () =>
      sendKeptMailFrame(reply, await versionHtml(db, version), design.user_id),
    );
  });

  app.post<Call>('/design/:token/versions/:id', async (request, reply) => {
    const { token, id } = request.params;
    const design = requireDesign(token);
    if (design.locked !== null) throw conflict(design.locked);
    requireVersionOf(design, id);
    await withinShare(design.user_id, () => restoreContent(deps, design.user_id, id, userOf(request, design)));
    return reply.redirect(`/design/${token}`, 303);
  });

  /** Returns the version with this id. Throws 404 if the design's mail has no such version. */
  function requireVersionOf(design: Design, id: string) {
    const version = requireVersion(db, design.user_id, id);
    const { kind, id: ownerId } = requireVersioned(design);
    if (version.kind !== kind || version.owner_id !== ownerId) throw notFound('Record not found');
    return version;
  }
}

/** Returns the versions of a design's mail before the present one, the newest first. A template has none. */
export function earlierVersions(db: Db, design: Design): ListedVersion[] {
  return design.kind === 'template' ? [] : listVersions(db, requireVersioned(design)).slice(1);
}

/** Returns the mail of a design. Throws 404 for a template, which has no versions. */
function requireVersioned({ kind, id }: Design): Pick<Mail, 'kind' | 'id'> {
  if (kind === 'template') throw notFound('Record not found');
  return { kind: kind === 'single' ? 'single_send' : 'automation_mail', id };
}

interface VersionsProps {
  token: string;
  design: Design;
  versions: readonly ListedVersion[];
  chosen: ListedVersion | undefined;
}

function showVersions(reply: FastifyReply, language: Language, { token, design, versions, chosen }: VersionsProps) {
  const path = `/design/${token}/versions`;
  const when = ({ updated_at }: ListedVersion) => {
    const time = recordTime(updated_at);
    return time === null ? updated_at : language.dateTime(time);
  };
  const who = ({ made_by }: ListedVersion) => made_by ?? language.say('versions.nobody');
  const canRestore = chosen !== undefined && chosen.is_current === 0 && design.locked === null;
  reply.header('content-security-policy', PAGE_POLICY);
  return sendPublicPage(
    reply,
    language.say('versions.open'),
    <>
      <h1>{language.say('versions.open')}</h1>
      <p class="from">{design.subject}</p>
      <p>
        <a href={`/design/${token}`}>{language.say('versions.back.designer')}</a>
      </p>
      {chosen === undefined ? (
        <p>{language.say('versions.empty.text')}</p>
      ) : (
        <>
          <ol reversed>
            {versions.map((version) => (
              <li key={version.id}>
                <a href={`${path}?version=${version.id}`}>{when(version)}</a> · {who(version)}
                {version.is_current === 1 && ` · ${language.say('versions.now')}`}
              </li>
            ))}
          </ol>
          <section>
            <h2>{when(chosen)}</h2>
            {canRestore && (
              <>
                <p>{language.say('versions.restore.text', { when: when(chosen) })}</p>
                <form method="post" action={`${path}/${chosen.id}`}>
                  <button type="submit">{language.say('versions.restore')}</button>
                </form>
              </>
            )}
            <p>
              <iframe
                src={`${path}/${chosen.id}/mail`}
                sandbox=""
                title={language.say('mail.desktop')}
                width="100%"
                height="600"
              />
            </p>
          </section>
        </>
      )}
    </>,
    language.code,
  );
}
