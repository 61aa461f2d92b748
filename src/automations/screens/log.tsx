/** The page of the log of an automation: what happened to all its contacts, or to one contact, at each step, newest first. */
import type { FastifyInstance } from 'fastify';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Problems } from '../../ui/components/field.tsx';
import { plainSubject } from '../../ui/components/subject.tsx';
import { Card, Problem } from '../../ui/components/surface.tsx';
import { numberColumn, Pager, SearchForm, Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { type LogLine, readLog } from '../operations/log.ts';
import { readSummary } from '../operations/reports.ts';
import { logAddress, sendAutomationPage, whyAddress } from './changing.tsx';
import { ContactLink } from './people.tsx';

/** The number of lines on a page. */
const ROWS = 15;

interface Call extends ByUtr {
  Querystring: { email?: string; before?: string };
}

/** Registers the page of the log of an automation. */
export async function logScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/automations/:utr/log', async (request, reply) => {
    const { utr } = request.params;
    const [email = ''] = texts(request.query.email);
    const { before } = request.query;
    const { automation_name: title } = await ask(request, readSummary, { utr });
    const read = await attempt(request, readLog, {
      utr,
      limit: ROWS,
      ...(email.trim() !== '' && { email }),
      ...(before !== undefined && { before_id: before }),
    });
    const { log, next_before_id: next } = 'output' in read ? read.output : { log: [], next_before_id: null };
    const href = withQuery(logAddress(utr), { email });
    const pages = {
      first: before === undefined ? null : href,
      next: next === null ? null : withQuery(logAddress(utr), { email, before: String(next) }),
    };
    const problems = 'problems' in read ? read.problems : {};
    return sendAutomationPage(request, reply, { utr, title }, <Log {...{ utr, email, log, pages, problems }} />);
  });
}

interface LogProps {
  utr: string;
  email: string;
  log: readonly LogLine[];
  /** The URLs of the first and the next page; null if there is no such page. */
  pages: { first: string | null; next: string | null };
  problems: Problems;
}

function Log({ utr, email, log, pages, problems }: LogProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('automations.log')}>
      <SearchForm name="email" label={language.say('word.email')} find={language.say('word.find')} value={email} />
      <Problem>{Object.values(problems).flat().join(' ')}</Problem>
      {email.trim() !== '' && (
        <p>
          <a href={whyAddress(utr, email)}>{language.say('why.title')}</a>
        </p>
      )}
      {log.length === 0 ? (
        <p class="quiet-text">{language.say('automations.log.none')}</p>
      ) : (
        <div class="log-list">
          <Table
            caption={language.say('automations.log.see')}
            rows={log}
            keyOf={({ id }) => id}
            columns={[
              { heading: language.say('automations.log.what'), cell: (line) => <bdi>{lineText(language, line)}</bdi> },
              {
                heading: language.say('word.email'),
                cell: (line) => <ContactLink {...line} />,
              },
              {
                heading: language.say('automations.log.when'),
                cell: ({ happened_at: at }) => language.dateTime(new Date(at)),
              },
              // Most automations are entered only once by each contact, so the column is hidden unless it is needed.
              ...(log.some(({ run }) => run > 1) ? [numberColumn(language, 'automations.log.run', 'run')] : []),
            ]}
          />
        </div>
      )}
      <Pager {...pages} />
    </Card>
  );
}

/** Returns the kind of a step in words. */
function stepName(language: Language, kind: LogLine['kind']): string {
  return language.say(kind === null ? 'automations.log.removed' : `automations.step.${kind}`);
}

/** Returns a line in words, such as “Mail: Welcome” or “Exited: unsubscribed from all mail”. */
export function lineText(
  language: Language,
  { code, kind, subject, reason }: Pick<LogLine, 'code' | 'kind' | 'subject' | 'reason'>,
): string {
  const isEndOfWait = kind === 'wait_until' && (code === 'yes' || code === 'no');
  const what = language.say(isEndOfWait ? `automations.path.wait.${code}` : `automations.log.${code}`);
  const isStep = code !== 'entered' && code !== 'finished' && code !== 'left';
  const name = subject === null ? stepName(language, kind) : plainSubject(language, subject);
  const step = isStep ? name : '';
  const why = reason === null ? '' : language.sentence(reason);
  const about = kind === 'mail' ? why || step : [step, why].filter(Boolean).join(' – ');
  return about === '' ? what : `${what}: ${about}`;
}
