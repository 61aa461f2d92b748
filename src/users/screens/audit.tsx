/** The page of the audit log, with the newest entries first. */
import type { FastifyInstance } from 'fastify';
import type { auditLog } from '../../database/schema/index.ts';
import { Sentence } from '../../errors/sentences.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Empty } from '../../ui/components/surface.tsx';
import { Pager, Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { sendSettings } from '../../ui/settings/frame.tsx';
import { isWordKey, type Language, useLanguage } from '../../ui/words/index.ts';
import { readAuditLog } from '../operations/audit-log.ts';

const PAGE_ROWS = 100;

type Entry = typeof auditLog.$inferSelect;

/** Registers the page of the audit log. */
export async function auditScreen(app: FastifyInstance): Promise<void> {
  app.get<{ Querystring: { before?: string } }>('/settings/audit', async (request, reply) => {
    const before = /^\d{1,15}$/.test(request.query.before ?? '') ? request.query.before : undefined;
    const audit = await ask(request, readAuditLog, {
      limit: PAGE_ROWS,
      ...(before && { before_id: before }),
    });
    const last = audit.length === PAGE_ROWS ? audit.at(-1) : undefined;
    const content = (
      <>
        <Entries entries={audit} />
        <Pager
          first={before === undefined ? null : '/settings/audit'}
          next={last === undefined ? null : `/settings/audit?before=${last.id}`}
        />
      </>
    );
    return sendSettings(request, reply, 'audit', content);
  });
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  const language = useLanguage();
  if (entries.length === 0) {
    const action = <LinkButton look="plain" href="/settings/users" label={language.say('settings.users')} />;
    return (
      <Empty title={language.say('audit.none.title')} action={action}>
        {language.say('audit.none.text')}
      </Empty>
    );
  }
  return (
    <Table
      isBrief
      caption={language.say('settings.audit')}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { heading: language.say('audit.what'), cell: (entry) => <What {...entry} /> },
        {
          heading: language.say('audit.who'),
          cell: ({ actor }) => <span class="browser">{language.sentence(actor) || language.say('audit.unknown')}</span>,
        },
        {
          heading: language.say('audit.subject'),
          cell: (entry) => <span class="browser">{subjectText(language, entry)}</span>,
        },
        { heading: language.say('audit.from'), cell: ({ address }) => address },
        { heading: language.say('audit.when'), cell: ({ created_at }) => <Time at={new Date(created_at)} /> },
      ]}
    />
  );
}

/** Returns the subject of an entry in the reader's language. The log stores roles and settings by their names in the API. */
function subjectText(language: Language, { action, subject }: Entry): string {
  if (subject instanceof Sentence) return language.sentence(subject);
  if (action === 'user_added' || action === 'user_changed') {
    return subject.replaceAll(/(?<=(?:: |\u2192 ))(?:viewer|editor|owner)\b/g, (role) =>
      knownText(language, `role.${role}`, role),
    );
  }
  // Most subjects are names that users chose, which are shown unchanged even if they look like numbers.
  if (action !== 'settings_changed') return subject;
  return subject
    .split(', ')
    .map((change) => {
      const [name = '', value] = change.split(': ');
      const texts = [knownText(language, `audit.setting.${name}`, name)];
      if (value !== undefined) texts.push(knownText(language, `audit.setting.${name}.${value}`, value));
      return texts.join(': ');
    })
    .join(', ');
}

/** Returns the text of a key; `fallback` if there is no such key. */
function knownText(language: Language, key: string, fallback: string): string {
  return isWordKey(key) ? language.fill(key, {}) : fallback;
}

function What({ action, times }: Entry) {
  const language = useLanguage();
  const text = knownText(language, `audit.${action}`, action);
  return <>{times > 1 ? language.say('audit.times', { what: text, count: times }) : text}</>;
}
