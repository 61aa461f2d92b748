/** The rows of a file that were not imported: where in the file, and why. */
import { Table } from '../../../components/table.tsx';
import { useLanguage } from '../../../words/index.ts';
import { fieldLabel } from '../field-label.ts';

/** One reason why a row was not imported; `field` is empty where it concerns the whole row. A row can have several. */
export interface FailedRow {
  line: number;
  field: string;
  text: string;
}

/** More reasons make a page that nobody reads; the file to download has all that are kept. */
const SHOWN = 100;

/** `failed` is the number of rows that failed, of which `errors` may name the first only. */
export function FailedRows({ errors, failed }: { errors: readonly FailedRow[]; failed: number }) {
  const language = useLanguage();
  const shown = errors.slice(0, SHOWN);
  const rows = new Set(shown.map(({ line }) => line)).size;
  const kept = new Set(errors.map(({ line }) => line)).size;
  return (
    <>
      <h2>{language.say('import.rows')}</h2>
      {rows < failed && <p>{language.say('import.rows.shown', { rows, count: failed })}</p>}
      {kept < failed && <p>{language.say('import.rows.kept', { rows: kept, count: failed })}</p>}
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
          { heading: language.say('import.rows.reason'), cell: ({ text }) => language.sentence(text) },
        ]}
      />
    </>
  );
}
