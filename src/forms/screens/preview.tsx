/** The preview of a form's page: the draft as visitors will see it, with controls that do not work. */
import { fieldLabel } from '../../http/pages/form-markup.tsx';
import { wordsIn } from '../../http/pages/words/index.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { Choices, Draft } from './draft.ts';

/** Shows the draft of a form as visitors will see it. */
export function FormPreview({ draft, choices }: { draft: Draft; choices: Choices }) {
  const language = useLanguage();
  const words = wordsIn(draft.language).form;
  const groups = choices.groups.filter(({ id }) => draft.group_ids.includes(String(id)));
  return (
    <section class="form-preview card" aria-labelledby="form-preview-title">
      <h2 id="form-preview-title">{language.say('forms.preview')}</h2>
      <div id="form-preview" class="form-sheet" lang={draft.language} inert>
        <p class="form-title">{draft.title}</p>
        {paragraphs(draft.intro)}
        <Field label={words.email} />
        {draft.fields.map((field) => (
          <Field
            key={field.name}
            label={fieldLabel(words, field)}
            {...(field.required === 0 && { note: words.optional })}
          />
        ))}
        {groups.length > 0 && (
          <>
            <p class="form-label">{words.groups}</p>
            {groups.map((group) => (
              <p key={group.id} class="form-choice">
                <span class="form-box checked" /> <bdi>{group.group_name}</bdi>
              </p>
            ))}
          </>
        )}
        <p class="form-choice form-consent">
          <span class="form-box" />
          <span>
            {draft.consent_text} {draft.privacy_url !== '' && <u>{words.privacy}</u>}
          </span>
        </p>
        {choices.isByConsent && draft.asks_tracking === 1 && (
          <p class="form-choice">
            <span class="form-box" />
            <span>{draft.tracking_text}</span>
          </p>
        )}
        <p>
          <span class="button primary">{draft.button_text}</span>
        </p>
      </div>
    </section>
  );
}

function Field({ label, note }: { label: string; note?: string }) {
  return (
    <div class="form-field">
      <p class="form-label">
        {label} {note !== undefined && <small>({note})</small>}
      </p>
      <div class="form-input" />
    </div>
  );
}

function paragraphs(text: string) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => <p key={index}>{line}</p>);
}
