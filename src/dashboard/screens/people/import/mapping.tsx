/** The first two forms of an import: which file, and what its columns become. */

import { fieldNameFor } from '../../../../audience/contacts/field-names.ts';
import { TRACKING_COLUMN } from '../../../../audience/import/import-rows.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { FileField, type Problems } from '../../../components/field.tsx';
import { Island } from '../../../components/island.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { ScrollRegion } from '../../../components/table.tsx';
import { useLanguage } from '../../../words/index.ts';
import { fieldLabel } from '../field-label.ts';
import type { Choices, Upload } from '../records.ts';
import { NEW_FIELD } from './new-fields.ts';
import { TypeChoice } from './type-choice.tsx';

/** The form for a file. `problem` says in the API's words why the file before was refused. */
export function ChooseFile({ problem }: { problem?: string }) {
  const language = useLanguage();
  return (
    <Island name="drop">
      <Card>
        <form method="post" action="/people/import" enctype="multipart/form-data">
          <FileField
            label={language.say('import.file')}
            hint={language.say('import.file.hint')}
            accept=".csv,text/csv"
            problem={problem}
          />
          <div class="buttons">
            <Button>{language.say('import.look')}</Button>
            <LinkButton look="plain" href="/people/migrate">
              {language.say('people.migrate')}
            </LinkButton>
            <LinkButton look="quiet" href="/people">
              {language.say('people.confirm.no')}
            </LinkButton>
          </div>
        </form>
      </Card>
    </Island>
  );
}

/** The form that says what each column becomes. Without `newType` the first contact type is proposed to have the name of the file. */
export function Mapping({
  upload,
  choices,
  type = '',
  newType,
  problems,
}: {
  upload: Upload;
  choices: Choices;
  type?: string;
  newType?: string;
  problems?: Problems;
}) {
  const language = useLanguage();
  const fields = choices.fields.map(({ field_name: name }) => name);
  // No field of contacts, so the API does not list it among them.
  const names = [...new Set([...fields, TRACKING_COLUMN])];
  const known = names.map((name) => ({ value: name, label: fieldLabel(language, name) }));
  const fieldsFor = (column: string, number: number) => {
    const name = fieldNameFor(column, number);
    return [
      { value: '', label: language.say('import.skip') },
      ...known,
      ...(known.some(({ value }) => value.toLowerCase() === name)
        ? []
        : [{ value: NEW_FIELD, label: language.say('import.newField', { name }) }]),
    ];
  };
  return (
    <form method="post" action={`/people/import/${upload.id}`} class="import-mapping stack">
      {upload.notes.map((note) => (
        <Notice key={note}>{language.sentence(note)}</Notice>
      ))}
      {problems?.mapping && (
        <Notice tone="bad" isNews>
          {problems.mapping.join(' ')}
        </Notice>
      )}
      <TypeChoice
        choices={choices}
        type={type}
        newType={newType}
        proposed={upload.file_name.replace(/\.csv$/i, '')}
        problems={problems}
      />
      <ScrollRegion label={language.say('import.columns', { name: upload.file_name })}>
        <table class="cards">
          <caption>{language.say('import.columns', { name: upload.file_name })}</caption>
          <thead>
            <tr>
              <th scope="col">{language.say('import.column')}</th>
              <th scope="col">{language.say('import.samples')}</th>
              <th scope="col">{language.say('import.field')}</th>
            </tr>
          </thead>
          <tbody>
            {upload.columns.map((column, at) => (
              <tr key={at}>
                <th scope="row">{column.name || language.say('import.unnamed', { number: at + 1 })}</th>
                <td data-label={language.say('import.samples')}>{column.samples.filter(Boolean).join(' · ')}</td>
                <td data-label={language.say('import.field')}>
                  <select name={`column${at}`} aria-label={language.say('import.fieldOf', { name: column.name })}>
                    {fieldsFor(column.name, at + 1).map(({ value, label }) => (
                      <option key={value} value={value} selected={value === (column.field ?? '')}>
                        {label}
                      </option>
                    ))}
                  </select>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <div class="buttons">
        <Button>{language.say('import.next')}</Button>
        <LinkButton look="quiet" href="/people/import">
          {language.say('import.other')}
        </LinkButton>
      </div>
    </form>
  );
}
