/** The HTML document of the design page, in the user's language. */
import type { ComponentChildren } from 'preact';
import { documentOf } from '../../../http/pages/document.tsx';
import { builtUrls } from '../../../http/static-files.ts';
import { LANGUAGE_CODES, languageOfLocale } from '../../../languages.ts';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { Typeface } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { chooseLanguage } from '../../../ui/words/choose.ts';
import { isWordKey, type Language } from '../../../ui/words/index.ts';
import type { ListedVersion } from '../../versions/operations.ts';
import type { Design } from '../designs.ts';
import { designer } from '../words.en.ts';

/** Returns the language that the URL asks for, otherwise the browser's language. Links of the dashboard ask for the user's language. */
export function languageOfDesign(asked: unknown, accepted: string | undefined): Language {
  return chooseLanguage(languageOfLocale(typeof asked === 'string' ? asked : '', LANGUAGE_CODES), accepted, undefined);
}

/**
 * Returns the document of the design page of a mail. A script adds the editor to the page. `path` is the path of the page; `earlier` are
 * the versions of the mail before the present one, which the page offers to restore.
 */
export function editorPage(
  { kind, title, subject, preheader, isDraft, locked }: Design,
  path: string,
  language: Language,
  earlier: readonly ListedVersion[],
): string {
  const say: Say = (key) => language.fill(key, {});
  return documentOf(
    {
      language: language.code,
      title: language.say('designer.title', { subject: plainSubject(language, subject) }),
      more: (
        <>
          <Typeface />
          <link rel="stylesheet" href={builtUrls('grapes.css').url} />
          <link rel="stylesheet" href={builtUrls('design.css').url} />
          <script defer src={builtUrls('grapes.js').url} />
          <script defer src={builtUrls('grapes-mjml.js').url} />
          <script type="module" src={builtUrls('design').url} />
        </>
      ),
    },
    <body
      data-locked={locked === null ? '' : 'yes'}
      data-draft={isDraft ? 'yes' : ''}
      data-words={JSON.stringify(wordsOf(language))}
    >
      <header>
        <div class="what">
          {kind === 'template' || locked !== null ? (
            <>
              <h1>{plainSubject(language, subject)}</h1>
              <p title={title}>{kind === 'template' ? title : plainSubject(language, preheader)}</p>
            </>
          ) : (
            <>
              <h1 class="hidden">{plainSubject(language, subject)}</h1>
              <Line name="subject" value={subject} label={say('designer.subject')} />
              <Line name="preheader" value={preheader} label={say('designer.preheader')} />
            </>
          )}
        </div>
        <p id="state" />
        <p id="status" role="status">
          {locked === null ? say('designer.loading') : language.sentence(locked)}
        </p>
        {/* The script enables these buttons. */}
        <div class="actions">
          {kind !== 'template' &&
            (locked === null && earlier.length > 0 ? (
              <button id="earlier" class="plain" type="button" disabled>
                {language.say('versions.open')}
              </button>
            ) : (
              <a href={`${path}/versions`} target="_top">
                {language.say('versions.open')}
              </a>
            ))}
          <button id="mode" class="plain" type="button" hidden />
          <button id="preview" class="plain" type="button" disabled>
            {say('designer.preview')}
          </button>
          <button id="test" class="plain" type="button" disabled>
            {say('designer.test')}
          </button>
          <button id="save" type="button" disabled>
            {say('designer.save')}
          </button>
        </div>
      </header>
      <main id="main">
        <div id="workspace" hidden>
          <details id="parts" open>
            <summary>{say('designer.parts')}</summary>
            <div role="toolbar" id="part-tools" aria-label={say('designer.parts.tools')} />
            <ul id="part-list" />
            <button id="brand" class="plain" type="button" hidden>
              {say('designer.brand.apply')}
            </button>
            <details id="images" hidden={locked !== null}>
              <summary>{say('designer.images')}</summary>
              <p class="quiet">{say('designer.images.hint')}</p>
              <ul id="image-list" />
            </details>
            <section id="own-blocks" aria-labelledby="own-title">
              <h2 id="own-title">{say('designer.own')}</h2>
              <ul id="own-list" />
            </section>
          </details>
          <div id="editor" />
        </div>
      </main>
      <PreviewDialog say={say} />
      <PictureDialog say={say} />
      <dialog id="test-dialog" aria-label={say('designer.test')}>
        <form class="bar" id="test-form">
          <label>
            {say('designer.test.to')}{' '}
            <input id="address" type="email" required autocomplete="email" aria-describedby="who" />
          </label>{' '}
          <button type="submit">{say('designer.test.send')}</button>
          <Close say={say} />
        </form>
        <p id="who">{say('designer.test.who')}</p>
      </dialog>
      <Question
        say={say}
        id="drop"
        title="designer.blocks.drop"
        text="designer.blocks.drop.text"
        yes="designer.blocks.drop.yes"
        no="designer.blocks.drop.no"
      />
      <Question
        say={say}
        id="delete"
        title="designer.own.delete.title"
        text="designer.own.delete.text"
        yes="designer.own.delete.yes"
        no="designer.cancel"
      />
      <dialog id="keep-dialog" aria-label={say('designer.keep')}>
        <form method="dialog" class="bar">
          <label>
            {say('designer.keep.name')} <input id="keep-name" required maxlength={255} autocomplete="off" />
          </label>{' '}
          <button type="submit" value="keep">
            {say('designer.keep.yes')}
          </button>
          <Close say={say} />
        </form>
      </dialog>
      <dialog id="source-dialog" aria-labelledby="source-title">
        <form method="dialog" id="source-form">
          <h2 id="source-title">{say('designer.source')}</h2>
          <textarea id="source" class="code" spellcheck={false} aria-labelledby="source-title" rows={16} />
          <div class="bar">
            <button type="submit" value="use">
              {say('designer.source.use')}
            </button>
            <Close say={say} />
          </div>
        </form>
      </dialog>
      <EarlierDialog say={say} language={language} earlier={earlier} path={path} />
      <AttributeDialog say={say} id="show" title="designer.show.to" hint="designer.show.hint">
        <input id="show-to" class="code" spellcheck={false} maxLength={1000} {...describedBy('show')} />
      </AttributeDialog>
      <AttributeDialog say={say} id="name" title="designer.name.title" hint="designer.name.hint">
        <input id="block-name" maxLength={100} {...describedBy('name')} />
      </AttributeDialog>
      <noscript>{say('designer.noScript')}</noscript>
    </body>,
  );
}

type Key = `designer.${string}` & keyof typeof designer;
type Say = (key: Key) => string;

interface AttributeProps {
  say: Say;
  id: string;
  title: Key;
  hint: Key;
  children: ComponentChildren;
}

/** A dialog with one field, for an attribute of the selected part. */
function AttributeDialog({ say, id, title, hint, children }: AttributeProps) {
  return (
    <dialog id={`${id}-dialog`} aria-labelledby={`${id}-title`}>
      <form method="dialog">
        <h2 id={`${id}-title`}>{say(title)}</h2>
        {children}
        <p id={`${id}-hint`}>{say(hint)}</p>
        <div class="bar">
          <button type="submit" value="use">
            {say('designer.source.use')}
          </button>
          <Close say={say} />
        </div>
      </form>
    </dialog>
  );
}

/** Returns the attributes of the field in an `AttributeDialog`. */
const describedBy = (id: string) => ({ 'aria-labelledby': `${id}-title`, 'aria-describedby': `${id}-hint` });

/** A field for the subject or the preview text, whose label is its placeholder. */
function Line({ name, value, label }: { name: 'subject' | 'preheader'; value: string; label: string }) {
  return (
    <input
      name={name}
      type="text"
      value={value}
      aria-label={label}
      placeholder={label}
      maxlength={255}
      autocomplete="off"
    />
  );
}

/** The button that closes a dialog without any change. */
function Close({ say }: { say: Say }) {
  return (
    <button class="plain" type="button" data-close="">
      {say('designer.cancel')}
    </button>
  );
}

/** A dialog that asks before something is lost. */
function Question(question: { say: Say; id: string; title: Key; text: Key; yes: Key; no: Key }) {
  const { say, id, title, text, yes, no } = question;
  return (
    <dialog id={`${id}-dialog`} aria-labelledby={`${id}-title`} aria-describedby={`${id}-text`}>
      <h2 id={`${id}-title`}>{say(title)}</h2>
      <p id={`${id}-text`}>{say(text)}</p>
      <form method="dialog" class="bar">
        <button type="submit" value={id}>
          {say(yes)}
        </button>
        <button type="submit" class="plain" value="">
          {say(no)}
        </button>
      </form>
    </dialog>
  );
}

/** The maximum number of versions in the dialog. The page of all versions has the others. */
const MAX_EARLIER = 8;

/** The dialog with the versions before the present one. The value of each button is the id of its version. */
function EarlierDialog({
  say,
  language,
  earlier,
  path,
}: {
  say: Say;
  language: Language;
  earlier: readonly ListedVersion[];
  path: string;
}) {
  const nameOf = ({ updated_at: at, made_by: name }: ListedVersion) => {
    const time = recordTime(at);
    return [time === null ? at : language.dateTime(time), name].filter(Boolean).join(' · ');
  };
  return (
    <dialog id="earlier-dialog" aria-labelledby="earlier-title" aria-describedby="earlier-text">
      <form method="dialog">
        <h2 id="earlier-title">{language.say('versions.open')}</h2>
        <p id="earlier-text">{say('designer.earlier.text')}</p>
        <ul class="earlier">
          {earlier.slice(0, MAX_EARLIER).map((version) => (
            <li key={version.id}>
              <button class="plain" type="submit" value={version.id}>
                {nameOf(version)}
              </button>
            </li>
          ))}
        </ul>
        <div class="bar">
          <a href={`${path}/versions`} target="_top">
            {say('designer.earlier.all')}
          </a>
          <Close say={say} />
        </div>
      </form>
    </dialog>
  );
}

function PreviewDialog({ say }: { say: Say }) {
  return (
    <dialog id="preview-dialog" aria-label={say('designer.preview')}>
      <form method="dialog" class="bar">
        <fieldset>
          <legend>{say('designer.width')}</legend>
          <label>
            <input type="radio" name="width" value="desk" checked /> {say('designer.desk')}
          </label>
          <label>
            <input type="radio" name="width" value="phone" /> {say('designer.phone')}
          </label>
        </fieldset>
        <label>
          {say('designer.contact')}{' '}
          <input id="contact" type="email" placeholder={say('designer.contact.hint')} autocomplete="off" />
        </label>{' '}
        <button id="refresh" class="plain" type="button">
          {say('designer.show')}
        </button>
        <button type="submit">{say('designer.close')}</button>
      </form>
      <p id="subject" role="status" />
      <iframe id="mail" title={say('designer.mail')} sandbox="" class="desk" />
    </dialog>
  );
}

function PictureDialog({ say }: { say: Say }) {
  return (
    <dialog id="picture-dialog" aria-labelledby="picture-title">
      <form id="picture-form" method="dialog">
        <h2 id="picture-title">{say('designer.picture')}</h2>
        <label class="drop">
          {say('designer.picture.add')}{' '}
          <input
            type="file"
            id="picture-files"
            multiple
            accept="image/png,image/jpeg,image/gif,image/webp"
            aria-describedby="picture-hint"
          />
        </label>
        <p id="picture-hint" class="quiet">
          {say('designer.picture.hint')}
        </p>
        <p id="picture-news" role="status" />
        <fieldset id="picture-list">
          <legend>{say('designer.picture')}</legend>
        </fieldset>
        <label class="field" for="picture-alt">
          {say('designer.picture.alt')}
        </label>
        <input id="picture-alt" maxlength={255} autocomplete="off" aria-describedby="picture-alt-hint" />
        <p id="picture-alt-hint" class="quiet">
          {say('designer.picture.alt.hint')}
        </p>
        <label class="choice">
          <input type="checkbox" id="picture-decoration" /> {say('designer.picture.decoration')}
        </label>
        <label class="field" for="picture-link">
          {say('designer.picture.link')}
        </label>
        <input id="picture-link" maxlength={2000} inputmode="url" autocomplete="off" placeholder="https://" />
        <p id="picture-problem" role="alert" />
        <div class="bar">
          <button type="submit" value="use">
            {say('designer.picture.use')}
          </button>
          <Close say={say} />
        </div>
      </form>
    </dialog>
  );
}

/** Returns the texts of the script by key. The script fills in their placeholders. */
function wordsOf(language: Language): Record<string, string> {
  const keys = Object.keys(designer).filter(isWordKey);
  return Object.fromEntries(keys.map((key) => [key, language.fill(key, {})]));
}
