/** The part of an import's page that shows how far it is, and at its end what became of the rows. */
import { LinkButton } from '../../../components/button.tsx';
import { Meter, Stats } from '../../../components/figures.tsx';
import { Island } from '../../../components/island.tsx';
import { LiveNotes } from '../../../components/live-notes.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { useLanguage } from '../../../words/index.ts';
import type { Upload } from '../records.ts';
import { type FailedRow, FailedRows } from './failed-rows.tsx';
import { type PastImport, UndoImport, UndoUntil } from './past-import.tsx';

const LOOK_MS = 1000;

export interface ImportReport extends PastImport {
  rows: number;
  notes: string[];
  errors: FailedRow[];
}

/** `report` is null until the import has ended, and where it imported nobody: then the upload has the rows that failed. */
export function ImportProgress({ upload, report }: { upload: Upload; report: ImportReport | null }) {
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
    : language.say('people.job.of', { finished: upload.written, count: upload.whole });
  const outcome = (figures ?? []).map(({ label, value }) => `${label}: ${value}`).join(', ');
  const { failed, errors } = report ?? upload;
  const notes = [...new Set([...upload.notes, ...(report?.notes ?? [])])];
  return (
    <Island name="live" data={{ every: isRunning ? LOOK_MS : 0, results: '#import-progress' }}>
      <LiveNotes />
      <div
        id="import-progress"
        class="stack"
        data-active={isRunning ? 'yes' : 'no'}
        data-news={`${state} ${isRunning ? progress : outcome}`}
      >
        <Card title={upload.file_name}>
          <p>{state}</p>
          {isRunning && (
            <Meter
              label={language.say('people.job.progress')}
              value={isReading ? upload.bytes_read : upload.written}
              max={isReading ? upload.bytes : upload.whole}
            />
          )}
          {figures && <Stats figures={figures} />}
          {!isRunning && notes.map((note) => <Notice key={note}>{language.sentence(note)}</Notice>)}
          {!isRunning && report && <UndoUntil past={report} />}
          {!isRunning && (
            <div class="buttons">
              {report && <UndoImport past={report} />}
              {failed > 0 && (
                <LinkButton look="plain" href={`/people/import/${upload.id}/errors`}>
                  {language.say('import.errors')}
                </LinkButton>
              )}
              <LinkButton look="plain" href="/people/import">
                {language.say('import.other')}
              </LinkButton>
              <LinkButton href="/people">{language.say('people.back')}</LinkButton>
            </div>
          )}
        </Card>
        {!isRunning && failed > 0 && <FailedRows errors={errors} failed={failed} />}
      </div>
    </Island>
  );
}
