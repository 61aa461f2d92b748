/** The progress and result of an import, and undoing it. */
import type { ComponentChildren } from 'preact';
import { stored } from '../../../errors/stored.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { Meter, Stats, Time } from '../../../ui/components/figures.tsx';
import { Island, LiveNotes } from '../../../ui/components/island.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel } from '../../../ui/words/known.ts';
import type { Import, KeptContact, RowProblem } from '../operations/imports.ts';
import type { Upload } from '../operations/uploads.ts';

/** How often the page of a running import or undo reads the progress. */
const POLL_MS = 1000;
/** The texts of the states of an import. */
export const STATES = {
  writing: 'import.state.writing',
  done: 'import.state.done',
  undoing: 'contacts.job.undoing',
  undone: 'contacts.job.undone',
} as const;

/** The part of a page that is updated every `every` milliseconds while something runs; `news` is announced. */
export function LivePart(part: { id: string; every: number; news: string; children: ComponentChildren }) {
  const { id, every, news, children } = part;
  return (
    <Island name="live" data={{ every, results: `#${id}` }}>
      <LiveNotes />
      <div id={id} class="stack" data-active={every > 0 ? 'yes' : 'no'} data-news={news}>
        {children}
      </div>
    </Island>
  );
}

/** Returns figures as an announcement for screen readers. */
export function spoken(figures: readonly { label: string; value: string }[] | null): string {
  return (figures ?? []).map(({ label, value }) => `${label}: ${value}`).join(', ');
}

/**
 * The page of an upload that is being imported or was imported. `report` is null before the end of the import. It stays null if nothing
 * was imported; then the upload has the failed rows.
 */
export function ImportProgress({ upload, report }: { upload: Upload; report: Import | null }) {
  const language = useLanguage();
  const isRunning = upload.state === 'running';
  const isReading = upload.whole === 0;
  const state = language.say(`import.state.${isRunning && isReading ? 'reading' : upload.state}`);
  const figures = report && [
    { label: language.say('import.created'), value: language.number(report.created) },
    { label: language.say('import.updated'), value: language.number(report.updated) },
    { label: language.say('import.failed'), value: language.number(report.failed) },
  ];
  const progress = isReading
    ? language.percent(Math.floor((100 * upload.bytes_read) / Math.max(upload.bytes, 1)) / 100)
    : language.say('word.of', { finished: upload.written, count: upload.whole });
  const { failed, errors } = report ?? upload;
  const notes = new Map([...upload.notes, ...(report?.notes ?? [])].map((note) => [stored(note), note]));
  return (
    <LivePart
      id="import-progress"
      every={isRunning ? POLL_MS : 0}
      news={`${state} ${isRunning ? progress : spoken(figures)}`}
    >
      <Card title={upload.file_name}>
        <p>{state}</p>
        {isRunning && (
          <Meter
            label={language.say('contacts.job.progress')}
            value={isReading ? upload.bytes_read : upload.written}
            max={isReading ? upload.bytes : upload.whole}
          />
        )}
        {figures && <Stats figures={figures} />}
        {!isRunning && [...notes].map(([key, note]) => <Notice key={key}>{language.fullSentence(note)}</Notice>)}
        {!isRunning && report && <UndoUntil past={report} />}
        {!isRunning && (
          <div class="buttons">
            <LinkButton href="/contacts" label={language.say('contacts.back')} />
            <LinkButton look="plain" href="/contacts/import" label={language.say('import.other')} />
            {failed > 0 && <DownloadFailed id={upload.id} />}
            {report && <UndoImport past={report} />}
          </div>
        )}
      </Card>
      {!isRunning && failed > 0 && <FailedRows errors={errors} failed={failed} />}
    </LivePart>
  );
}

/** The permanent page of an import. `kept` are the first contacts that its undo did not change. */
export function PastImport({ past, kept }: { past: Import; kept: readonly KeptContact[] }) {
  const language = useLanguage();
  const isUndoing = past.state === 'undoing';
  const isUndone = isUndoing || past.state === 'undone';
  const state = language.say(STATES[past.state]);
  const figure = (label: string, value: number) => ({ label, value: language.number(value) });
  const undone = [
    figure(language.say('import.undo.removed'), past.removed),
    figure(language.say('import.undo.restored'), past.restored),
    figure(language.say('contacts.job.skipped'), past.kept),
  ];
  return (
    <LivePart id="past-import" every={isUndoing ? POLL_MS : 0} news={`${state} ${spoken(undone)}`}>
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
          {past.failed > 0 && <DownloadFailed id={past.id} />}
          <LinkButton look="quiet" href="/contacts/recent" label={language.say('contacts.recent')} />
        </div>
      </Card>
      {kept.length > 0 && <UnchangedContacts kept={kept} total={past.kept} />}
      {past.failed > 0 && <FailedRows errors={past.errors} failed={past.failed} />}
    </LivePart>
  );
}

function DownloadFailed({ id }: { id: number | string }) {
  const language = useLanguage();
  return <LinkButton look="plain" href={`/contacts/import/${id}/errors`} label={language.say('import.errors')} />;
}

/** Says until when an import can be undone, if it can be undone now. */
function UndoUntil({ past }: { past: Import }) {
  const language = useLanguage();
  if (past.is_undoable === 0 || past.undo_until === null) return null;
  const time = language.dateTime(new Date(past.undo_until));
  return <p class="quiet-text">{language.say('import.undo.until', { time })}</p>;
}

/** The button that undoes an import after a confirmation, while it can be undone. */
function UndoImport({ past }: { past: Import }) {
  const language = useLanguage();
  if (past.is_undoable === 0) return null;
  const label = language.say('import.undo');
  return (
    <Confirm id="undo-import" action={`/contacts/import/${past.id}/undo`} label={label} title={label}>
      <p>{language.say('import.undo.created', { count: past.created })}</p>
      <p>{language.say('import.undo.updated', { count: past.updated })}</p>
      <p>{language.say('import.undo.stays')}</p>
    </Confirm>
  );
}

function UnchangedContacts({ kept, total }: { kept: readonly KeptContact[]; total: number }) {
  const language = useLanguage();
  const title = language.say('contacts.job.skipped');
  return (
    <Card title={title}>
      {kept.length < total && <p>{language.say('import.rows.shown', { rows: kept.length, count: total })}</p>}
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

/** The maximum number of failed rows on the page, because nobody would read more. The download has all stored ones. */
const MAX_SHOWN_ROWS = 100;

/** The table of the rows that were not imported. `failed` is their number; `errors` may have only the first ones. */
export function FailedRows({ errors, failed }: { errors: readonly RowProblem[]; failed: number }) {
  const language = useLanguage();
  const shown = errors.slice(0, MAX_SHOWN_ROWS);
  const rows = new Set(shown.map(({ line }) => line)).size;
  const storedRows = new Set(errors.map(({ line }) => line)).size;
  return (
    <>
      <h2>{language.say('import.rows')}</h2>
      {rows < failed && <p>{language.say('import.rows.shown', { rows, count: failed })}</p>}
      {storedRows < failed && <p>{language.say('import.rows.kept', { rows: storedRows, count: failed })}</p>}
      <Table
        caption={language.say('import.rows')}
        rows={shown.map((error, at) => ({ ...error, at }))}
        keyOf={({ at }) => at}
        columns={[
          { heading: language.say('import.rows.line'), cell: ({ line }) => language.number(line) },
          {
            heading: language.say('import.rows.cell'),
            cell: ({ field }) => (field === '' ? language.say('import.rows.whole') : fieldLabel(language, field)),
          },
          { heading: language.say('import.rows.value'), cell: ({ value }) => <bdi>{value ?? '–'}</bdi> },
          { heading: language.say('import.rows.reason'), cell: ({ text }) => language.sentence(text) },
        ]}
      />
    </>
  );
}
