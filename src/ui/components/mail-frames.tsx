/** A mail in a wide and a narrow frame, and the picture of a template. */
import { LINKS_ALLOWED } from '../mail-frame.ts';
import { useLanguage } from '../words/index.ts';

/**
 * `source` is the path of the mail's HTML, which `sendMailFrame` sends; `hasLinks`: true if its links work. A narrow window
 * shows only the narrow frame. A link below each frame loads the pictures of other sites.
 */
export function MailFrames({ source, hasLinks = false }: { source: string; hasLinks?: boolean }) {
  const language = useLanguage();
  const [path = '', query = ''] = source.split('?');
  return (
    <div class="mail-frames">
      {(['desktop', 'phone'] as const).map((width) => (
        <figure key={width}>
          <div class="mail-sheet">
            <iframe
              name={`mail-${width}`}
              class={width === 'desktop' ? 'wide-screen' : undefined}
              sandbox={hasLinks ? LINKS_ALLOWED : ''}
              src={source}
              title={language.say(`mail.${width}`)}
            />
          </div>
          <figcaption>
            {language.say(`mail.${width}`)}
            <a href={`${path}?${query && `${query}&`}images=all`} target={`mail-${width}`}>
              {language.say('mail.images')}
            </a>
          </figcaption>
        </figure>
      ))}
    </div>
  );
}

/** The text part of a mail: `text` is its beginning, and `text_length` the length of all of it in characters. */
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

/** The picture is decorative, because the name is next to it, so it is hidden from the keyboard and screen readers. */
export function TemplatePicture({ id, image, isOwn }: { id: number; image: string; isOwn: boolean }) {
  const language = useLanguage();
  if (!isOwn) {
    const small = image.replace(/\.png$/, '.webp');
    return <img class="template-picture" src={`/images/templates/${small}`} alt="" loading="lazy" />;
  }
  return (
    <div class="template-picture" inert>
      <iframe sandbox="" src={`/templates/${id}/mail`} title={language.say('templates.looks')} loading="lazy" />
    </div>
  );
}
