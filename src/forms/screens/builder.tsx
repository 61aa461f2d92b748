/** The builder of a form: its fields and texts, next to the preview of its page. */

import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { Button } from '../../ui/components/button.tsx';
import { AreaField, CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Island, LiveNotes } from '../../ui/components/island.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { fieldLabel } from '../../ui/words/known.ts';
import { MAX_TEXT } from '../operations/form-input.ts';
import { Basics } from './basics.tsx';
import type { Choices, Draft } from './draft.ts';
import { FormPreview } from './preview.tsx';

/** The texts that are collapsed at first, because most owners keep the default texts. */
const COLLAPSED_TEXTS = ['sent_text', 'confirmed_text', 'already_text', 'expired_text', 'off_text'] as const;

interface BuilderProps {
  id: number;
  draft: Draft;
  choices: Choices;
  problems: Problems;
  canChange: boolean;
}

/** The fields with which a user builds a form, beside the preview of the form's page. */
export function Builder({ id, draft, choices, problems, canChange }: BuilderProps) {
  const language = useLanguage();
  return (
    <Island name="preview">
      <div class="form-builder">
        <form method="post" action={`/forms/${id}`} class="stack">
          {/* The Enter key in a field presses the first button of a form, so the first button must be the one that saves. */}
          <button type="submit" name="do" value="save" hidden disabled={!canChange}>
            {language.say('forms.save')}
          </button>
          <fieldset class="stack form-parts" disabled={!canChange}>
            <legend class="visually-hidden">{language.say('forms.builder')}</legend>
            <Purpose {...{ draft, choices, problems }} />
            <Questions {...{ draft, choices, problems }} />
            <Page {...{ draft, choices, problems }} />
            <Mail {...{ draft, problems }} />
            <CollapsedTexts {...{ draft, problems }} />
          </fieldset>
          {canChange && (
            <div class="buttons">
              <Button name="do" value="save" label={language.say('forms.save')} />
              <Button name="do" value="show" look="plain" formnovalidate label={language.say('forms.preview.show')} />
            </div>
          )}
        </form>
        <FormPreview draft={draft} choices={choices} />
      </div>
      <LiveNotes />
    </Island>
  );
}

type PartProps = Pick<BuilderProps, 'draft' | 'problems'>;

function Purpose({ draft, choices, problems }: PartProps & { choices: Choices }) {
  const language = useLanguage();
  const segments = choices.segments.filter(({ contact_type_id: type }) => String(type) === draft.contact_type_id);
  return (
    <Card title={language.say('forms.purpose')}>
      <CheckField name="is_active" label={language.say('forms.active')} checked={draft.is_active === 1} />
      <Basics typed={draft} choices={choices} problems={problems} />
      <SelectField
        name="segment_id"
        label={language.say('forms.segment')}
        hint={language.say('forms.segment.hint')}
        options={[
          { value: '', label: language.say('forms.segment.none') },
          ...segments.map((segment) => ({ value: String(segment.id), label: segment.segment_name })),
        ]}
        value={draft.segment_id}
        problems={problems}
      />
    </Card>
  );
}

/** The fields and groups that the form may ask for. Each field is omitted, optional or required. */
function Questions({ draft, choices, problems }: PartProps & { choices: Choices }) {
  const language = useLanguage();
  // The fields that the form asks for come first, in their order.
  const asked = draft.fields.map(({ name }) => name);
  const names = [...asked, ...choices.fields.filter((name) => !asked.includes(name))];
  const options = [
    { value: '', label: language.say('forms.ask.no') },
    { value: 'asked', label: language.say('forms.ask.yes') },
    { value: 'required', label: language.say('forms.ask.required') },
  ];
  return (
    <Card title={language.say('forms.questions')}>
      <p class="quiet-text">{language.say('forms.questions.text')}</p>
      {problems.fields !== undefined && <p class="problem">{problems.fields.join(' ')}</p>}
      {names.map((name) => {
        const field = draft.fields.find((asked) => asked.name === name);
        const chosen = field?.required === 1 ? 'required' : 'asked';
        const label = fieldLabel(language, name);
        return (
          <fieldset key={name} class="form-question">
            <legend>
              <bdi>{label}</bdi>
            </legend>
            <input type="hidden" name="field" value={name} />
            <select name="ask" aria-label={language.say('forms.ask', { field: label })}>
              {options.map(({ value, label: text }) => (
                <option key={value} value={value} selected={value === (field === undefined ? '' : chosen)}>
                  {text}
                </option>
              ))}
            </select>
            <input
              type="text"
              name="label"
              value={field?.label ?? ''}
              maxLength={MAX_LINE_CHARACTERS}
              autocomplete="off"
              placeholder={language.say('forms.label')}
              aria-label={language.say('forms.labelOf', { field: label })}
            />
          </fieldset>
        );
      })}
      {choices.groups.length > 0 && (
        <fieldset>
          <legend>{language.say('forms.groups')}</legend>
          <p class="hint">{language.say('forms.groups.hint')}</p>
          {choices.groups.map((group) => (
            <CheckField
              key={group.id}
              name="group"
              value={String(group.id)}
              label={group.group_name}
              checked={draft.group_ids.includes(String(group.id))}
            />
          ))}
        </fieldset>
      )}
    </Card>
  );
}

function Page({ draft, choices, problems }: PartProps & { choices: Choices }) {
  const language = useLanguage();
  const area = { rows: 3, maxLength: MAX_TEXT, problems };
  return (
    <Card title={language.say('forms.page')}>
      <p class="quiet-text">{language.say('forms.page.text')}</p>
      <TextField
        name="title"
        label={language.say('forms.text.title')}
        value={draft.title}
        maxLength={MAX_LINE_CHARACTERS}
        problems={problems}
      />
      <AreaField name="intro" label={language.say('forms.text.intro')} value={draft.intro} {...area} />
      <AreaField
        name="consent_text"
        label={language.say('forms.text.consent_text')}
        hint={language.say('forms.consent.hint')}
        value={draft.consent_text}
        {...area}
      />
      <TextField
        name="privacy_url"
        label={language.say('forms.text.privacy_url')}
        value={draft.privacy_url}
        inputMode="url"
        maxLength={MAX_TEXT}
        problems={problems}
      />
      {(choices.isByConsent || draft.asks_tracking === 1) && (
        <>
          <CheckField
            name="asks_tracking"
            label={language.say('forms.asksTracking')}
            hint={language.say(choices.isByConsent ? 'forms.asksTracking.hint' : 'forms.asksTracking.unused')}
            checked={draft.asks_tracking === 1}
          />
          <AreaField
            name="tracking_text"
            label={language.say('forms.text.tracking_text')}
            value={draft.tracking_text}
            {...area}
          />
        </>
      )}
      <TextField
        name="button_text"
        label={language.say('forms.text.button_text')}
        value={draft.button_text}
        maxLength={MAX_LINE_CHARACTERS}
        problems={problems}
      />
    </Card>
  );
}

function Mail({ draft, problems }: PartProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('forms.mail')}>
      <p class="quiet-text">{language.say('forms.mail.text')}</p>
      <TextField
        name="mail_subject"
        label={language.say('forms.text.mail_subject')}
        value={draft.mail_subject}
        maxLength={MAX_LINE_CHARACTERS}
        problems={problems}
      />
      <AreaField
        name="mail_text"
        label={language.say('forms.text.mail_text')}
        value={draft.mail_text}
        rows={4}
        maxLength={MAX_TEXT}
        problems={problems}
      />
    </Card>
  );
}

function CollapsedTexts({ draft, problems }: PartProps) {
  const language = useLanguage();
  const hasProblem = [...COLLAPSED_TEXTS, 'redirect_url'].some((name) => name in problems);
  return (
    <Card>
      <details open={hasProblem}>
        <summary>{language.say('forms.later')}</summary>
        <div class="stack">
          {COLLAPSED_TEXTS.map((name) => (
            <AreaField
              key={name}
              name={name}
              label={language.say(`forms.text.${name}`)}
              value={draft[name]}
              rows={2}
              maxLength={MAX_TEXT}
              problems={problems}
            />
          ))}
          <TextField
            name="redirect_url"
            label={language.say('forms.text.redirect_url')}
            hint={language.say('forms.redirect.hint')}
            value={draft.redirect_url}
            inputMode="url"
            maxLength={MAX_TEXT}
            problems={problems}
          />
        </div>
      </details>
    </Card>
  );
}
