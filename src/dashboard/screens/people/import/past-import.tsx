/** What an import did, and undoing it: the page that stays when its upload is forgotten. */

import type { ApiClient } from '../../../api-client.ts';
import { LinkButton } from '../../../components/button.tsx';
import { Confirm } from '../../../components/confirm.tsx';
import { Stats, Time } from '../../../components/figures.tsx';
import { Island } from '../../../components/island.tsx';
import { LiveNotes } from '../../../components/live-notes.tsx';
import { Card } from '../../../components/surface.tsx';
import { Table } from '../../../components/table.tsx';
import { useLanguage } from '../../../words/index.ts';

const LOOK_MS = 1000;
const SHOWN_KEPT = '100';
const STATES = {
  writing: 'import.state.writing',
  done: 'import.state.done',
  undoing: 'people.job.undoing',
  undone: 'people.job.undone',
} as const;

export interface PastImport {
  id: number;
  file_name: string;
  created: number;
  updated: number;
  failed: number;
  state: 'writing' | 'done' | 'undoing' | 'undone';
  undo_until: string | null;
  is_undoable: 0 | 1;
  removed: number;
  restored: number;
  kept: number;
  created_at: string;
}

/** Somebody whom an undo left as they were. The address is null when the contact is gone for good. */
interface KeptPerson {
  contact_id: number;
  email: string | null;
  reason: 'changed' | 'moved' | 'deleted' | 'segment';
}

/** The page of an import with this id. Rejects with a 404 when the account has none. */
export async function readPastImport(api: ApiClient, id: string) {
  const [{ import: past }, { contacts }] = await Promise.all([
    api.get<{ import: PastImport }>('/contacts/imports/details', { id }),
    api.get<{ contacts: KeptPerson[] }>('/contacts/imports/kept', { id, limit: SHOWN_KEPT }),
  ]);
  return <PastImportPage past={past} kept={contacts} />;
}

/** `kept` are the first of those whom its undo left as they were. */
function PastImportPage({ past, kept }: { past: PastImport; kept: readonly KeptPerson[] }) {
  const language = useLanguage();
  const isUndoing = past.state === 'undoing';
  const isUndone = isUndoing || past.state === 'undone';
  const state = language.say(STATES[past.state]);
  const figure = (label: string, value: number) => ({ label, value: language.number(value) });
  const undone = [
    figure(language.say('import.undo.removed'), past.removed),
    figure(language.say('import.undo.restored'), past.restored),
    figure(language.say('people.job.skipped'), past.kept),
  ];
  return (
    <Island name="live" data={{ every: isUndoing ? LOOK_MS : 0, results: '#past-import' }}>
      <LiveNotes />
      <div
        id="past-import"
        class="stack"
        data-active={isUndoing ? 'yes' : 'no'}
        data-news={`${state} ${undone.map(({ label, value }) => `${label}: ${value}`).join(', ')}`}
      >
        <Card title={past.file_name}>
          <p>
            <Time at={new Date(past.created_at)} />
          </p>
          <p>{state}</p>
          <Stats
            figures={[
              figure(language.say('import.created'), past.created),
              figure(language.say('import.updated'), past.updated),
              figure(language.say('import.failed'), past.failed),
            ]}
          />
          {isUndone && <Stats figures={undone} />}
          <UndoUntil past={past} />
          <div class="buttons">
            <UndoImport past={past} />
            <LinkButton look="quiet" href="/people/recent">
              {language.say('people.recent')}
            </LinkButton>
          </div>
        </Card>
        {kept.length > 0 && <Kept kept={kept} whole={past.kept} />}
      </div>
    </Island>
  );
}

/** Until when an import can be undone, where it can. */
export function UndoUntil({ past }: { past: PastImport }) {
  const language = useLanguage();
  if (past.is_undoable === 0 || past.undo_until === null) return null;
  const time = language.dateTime(new Date(past.undo_until));
  return <p class="quiet-text">{language.say('import.undo.until', { time })}</p>;
}

/** The button that undoes an import after saying whom that is about, as long as it can be undone. */
export function UndoImport({ past }: { past: PastImport }) {
  const language = useLanguage();
  if (past.is_undoable === 0) return null;
  const label = language.say('import.undo');
  return (
    <Confirm id="undo-import" action={`/people/import/${past.id}/undo`} label={label} title={label}>
      <p>{language.say('import.undo.created', { count: past.created })}</p>
      <p>{language.say('import.undo.updated', { count: past.updated })}</p>
      <p>{language.say('import.undo.stays')}</p>
    </Confirm>
  );
}

function Kept({ kept, whole }: { kept: readonly KeptPerson[]; whole: number }) {
  const language = useLanguage();
  const title = language.say('people.job.skipped');
  return (
    <Card title={title}>
      {kept.length < whole && <p>{language.say('import.rows.shown', { rows: kept.length, count: whole })}</p>}
      <Table
        caption={title}
        rows={kept}
        keyOf={({ contact_id }) => contact_id}
        columns={[
          { heading: language.say('import.kept.person'), cell: ({ email }) => <bdi>{email ?? '–'}</bdi> },
          {
            heading: language.say('import.rows.reason'),
            cell: ({ reason }) => language.say(`import.kept.${reason}`),
          },
        ]}
      />
    </Card>
  );
}
