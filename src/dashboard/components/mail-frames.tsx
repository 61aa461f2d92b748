/** A mail as it looks, wide and narrow. */
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
