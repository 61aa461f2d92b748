/** The part of an import's page that shows how far it is, and at its end what became of the rows. */
import { LinkButton } from '../../components/button.tsx';
import { Meter, Stats } from '../../components/figures.tsx';
import { Island } from '../../components/island.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Upload } from './records.ts';

export interface ImportReport {
  rows: number;
  created: number;
  updated: number;
  failed: number;
  notes: string[];
  errors: { line: number }[];
}

/** `report` is null until the import has ended. */
export function ImportProgress({ upload, report }: { upload: Upload; report: ImportReport | null }) {
  const language = useLanguage();
  const isRunning = upload.state === 'running';
  const isReading = upload.whole === 0;
  return (
    <Island name="live" data={{ every: isRunning ? 1000 : 0, results: '#import-progress' }}>
      <div id="import-progress" class="stack" data-active={isRunning ? 'yes' : 'no'}>
        <Card title={upload.file_name}>
          <p role="status">{language.say(`import.state.${isRunning && isReading ? 'reading' : upload.state}`)}</p>
          {isRunning && (
            <Meter
              label={language.say('people.job.progress')}
              value={isReading ? upload.bytes_read : upload.written}
              max={isReading ? upload.bytes : upload.whole}
            />
          )}
          {report !== null && (
            <Stats
              figures={[
                { label: language.say('import.created'), value: language.number(report.created) },
                { label: language.say('import.updated'), value: language.number(report.updated) },
                { label: language.say('import.failed'), value: language.number(report.failed) },
              ]}
            />
          )}
          {!isRunning &&
            [...new Set([...upload.notes, ...(report?.notes ?? [])])].map((note) => <Notice key={note}>{note}</Notice>)}
          {report !== null && new Set(report.errors.map(({ line }) => line)).size < report.failed && (
            <p class="quiet-text">{language.say('import.errors.first', { count: report.errors.length })}</p>
          )}
          {!isRunning && (
            <div class="buttons">
              {report !== null && report.failed > 0 && (
                <LinkButton look="plain" href={`/people/import/${upload.import_id}/errors`}>
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
      </div>
    </Island>
  );
}
