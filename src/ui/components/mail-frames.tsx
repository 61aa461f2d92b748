/** Components that show mails: a mail in a wide and a narrow frame, its text part, and the picture of a template. */
import { LINKS_ALLOWED } from '../mail-frame.ts';
import { useLanguage } from '../words/index.ts';

/**
 * A mail in a wide and a narrow frame. A narrow window shows only the narrow frame. `source` is the path of the mail's HTML, which
 * `sendMailFrame` sends. The links of the mail work only if `hasLinks` is true. A link below each frame loads pictures of other sites.
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

/** The beginning of a mail's text part. `text_length` is the length of the whole text part in characters. */
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

/** The picture of a template. Keyboard and screen readers skip it, because the name of the template stands next to it. */
export function TemplatePicture({ id, image, isOwn }: { id: number; image: string; isOwn: boolean }) {
  const language = useLanguage();
  if (!isOwn) {
    const fileName = image.replace(/\.png$/, '.webp');
    return <img class="template-picture" src={`/images/templates/${fileName}`} alt="" loading="lazy" />;
  }
  return (
    <div class="template-picture" inert>
      <iframe sandbox="" src={`/templates/${id}/mail`} title={language.say('templates.looks')} loading="lazy" />
    </div>
  );
}
