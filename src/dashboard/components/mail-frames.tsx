/** A mail as it looks, wide and narrow, and the picture of a template. */
import { useLanguage } from '../words/index.ts';

/** `source` is the path of the mail's HTML, which `sendMailFrame` sends. A narrow window shows the narrow one only. */
export function MailFrames({ source }: { source: string }) {
  const language = useLanguage();
  return (
    <div class="mail-frames">
      <figure>
        <div class="mail-sheet">
          <iframe class="wide-screen" sandbox="" src={source} title={language.say('mail.desktop')} />
        </div>
        <figcaption>{language.say('mail.desktop')}</figcaption>
      </figure>
      <figure>
        <div class="mail-sheet">
          <iframe sandbox="" src={source} title={language.say('mail.phone')} />
        </div>
        <figcaption>{language.say('mail.phone')}</figcaption>
      </figure>
    </div>
  );
}

/** The text part of a mail: `text` is its beginning, and `text_length` the characters of all of it. */
export function PlainText({ text, text_length }: { text: string; text_length: number }) {
  const language = useLanguage();
  return (
    <>
      {text_length > text.length && (
        <p class="small quiet-text">
          {language.fill('mail.textCut', { count: text.length, all: language.number(text_length) })}
        </p>
      )}
      <pre class="source">{text || language.say('mail.noText')}</pre>
    </>
  );
}

/** It says nothing that the name beside it does not, so it can be neither reached nor read aloud. */
export function TemplatePicture({ id, image, isOwn }: { id: number; image: string; isOwn: boolean }) {
  const language = useLanguage();
  if (!isOwn) return <img class="template-picture" src={`/images/templates/${image}`} alt="" loading="lazy" />;
  return (
    <div class="template-picture" inert>
      <iframe sandbox="" src={`/templates/${id}/mail`} title={language.say('templates.looks')} loading="lazy" />
    </div>
  );
}
