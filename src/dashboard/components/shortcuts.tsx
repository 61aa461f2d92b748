/** The dialog that lists the keys. Without it on a page, the page's script answers no keys. */
import { useLanguage } from '../words/index.ts';
import { ITEMS } from './navigation.tsx';

export function Shortcuts() {
  const language = useLanguage();
  return (
    <dialog id="shortcuts" aria-labelledby="shortcuts-title">
      <form method="dialog" class="card-head">
        <h2 id="shortcuts-title">{language.say('keys.title')}</h2>
        <button type="submit" class="plain">
          {language.say('keys.close')}
        </button>
      </form>
      <dl class="keys">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>{language.say('keys.search')}</dd>
        {ITEMS.map(({ section, label, shortcut }) => [
          <dt key={section}>
            <kbd>g</kbd> <kbd>{shortcut}</kbd>
          </dt>,
          <dd key={`${section}-goes`}>{language.say(label)}</dd>,
        ])}
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>{language.say('keys.help')}</dd>
      </dl>
      <p class="small quiet-text">{language.say('keys.off')}</p>
    </dialog>
  );
}
