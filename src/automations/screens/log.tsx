/** The log of an automation: what happened to its contacts at each step, newest first, of all contacts or of one. */
import type { FastifyInstance } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import { Button } from '../../ui/components/button.tsx';
import { TextField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { numberColumn, Pager, Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { texts } from '../../users/screens/sign-in/fields.ts';
import { type LogLine, readLog } from '../operations/log.ts';
import { readSummary } from '../operations/reports.ts';
import { BackToAutomation, logAddress } from './changing.tsx';

interface Call {
  Params: { utr: string };
  Querystring: { email?: string; before?: string };
}

export async function logScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/automations/:utr/log', async (request, reply) => {
    const { utr } = request.params;
    const [email = ''] = texts(request.query.email);
    const { before } = request.query;
    const { automation_name } = await ask(request, readSummary, { utr });
    const read = await attempt(request, readLog, {
      utr,
      ...(email.trim() !== '' && { email }),
      ...(before !== undefined && { before_id: before }),
    });
    const frame = {
      title: automation_name,
      section: 'automations',
      action: <BackToAutomation utr={utr} />,
    } as const;
    const { log, next_before_id: next } = 'output' in read ? read.output : { log: [], next_before_id: null };
    const href = withQuery(logAddress(utr), { email });
    const pages = {
      first: before === undefined ? null : href,
      next: next === null ? null : withQuery(logAddress(utr), { email, before: String(next) }),
    };
    const problems = 'problems' in read ? read.problems : {};
    return sendPage(request, reply, viewerOf(request), frame, <Log {...{ email, log, pages, problems }} />);
  });
}

interface LogProps {
  email: string;
  log: readonly LogLine[];
  pages: { first: string | null; next: string | null };
  problems: Parameters<typeof TextField>[0]['problems'];
}

function Log({ email, log, pages, problems }: LogProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('automations.log')}>
      <form method="get" class="narrow">
        <TextField
          name="email"
          label={language.say('automations.forecast.email')}
          type="email"
          value={email}
          autocomplete="off"
          problems={problems}
        />
        <Button look="plain">{language.say('compose.check.see')}</Button>
      </form>
      {log.length === 0 ? (
        <p class="quiet-text">{language.say('automations.log.none')}</p>
      ) : (
        <Table
          caption={language.say('automations.log.see')}
          rows={log}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('automations.log.when'),
              cell: ({ happened_at: at }) => language.dateTime(new Date(at)),
            },
            {
              heading: language.say('automations.forecast.email'),
              cell: ({ contact_id: id, email: address }) =>
                id === null ? (
                  <bdi>{address}</bdi>
                ) : (
                  <a href={`/contacts/${id}`}>
                    <bdi>{address}</bdi>
                  </a>
                ),
            },
            { heading: language.say('automations.log.what'), cell: (line) => <bdi>{lineText(language, line)}</bdi> },
            numberColumn(language, 'automations.log.run', 'run'),
          ]}
        />
      )}
      <Pager {...pages} />
    </Card>
  );
}

/** Returns a line in words, such as “Mail: Welcome” or “Exited: unsubscribed from all mail”. */
function lineText(language: Language, { code, kind, subject, reason }: LogLine): string {
  const isOfWait = kind === 'wait_until' && (code === 'yes' || code === 'no');
  const what = language.say(isOfWait ? `automations.path.wait.${code}` : `automations.log.${code}`);
  const isStep = code !== 'entered' && code !== 'finished' && code !== 'left';
  const about =
    reason !== null
      ? language.sentence(reason)
      : isStep
        ? (subject ?? language.say(kind === null ? 'automations.log.removed' : `automations.step.${kind}`))
        : '';
  return about === '' ? what : `${what}: ${about}`;
}
