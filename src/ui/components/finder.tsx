/** The command menu: the link that opens it in a narrow window, and its dialog, which `islands/parts/finder.ts` fills. */
import type { FastifyRequest } from 'fastify';
import { useLanguage } from '../words/index.ts';
import { Icon } from './icon.tsx';

/** Returns the keys that open the menu, as they are written on the user's machine. */
export function finderKeys({ headers }: FastifyRequest): string {
  return /Macintosh|iPhone|iPad/.test(headers['user-agent'] ?? '') ? '⌘ K' : 'Ctrl K';
}

/** The link that opens the menu in a narrow window, where the navigation has no room for it. */
export function FinderLink() {
  const language = useLanguage();
  return (
    <a class="button plain find-narrow narrow-only" href="/find" data-finder-opens>
      <Icon name="search" />
      <span class="visually-hidden">{language.say('finder.title')}</span>
    </a>
  );
}

/**
 * The dialog: a combobox with a listbox, as the ARIA Authoring Practices Guide describes them. The dialog is a popover that covers the
 * window. A modal dialog would be slower, because browsers compute the styles of the page behind it anew.
 */
export function Finder() {
  const language = useLanguage();
  return (
    <dialog popover="auto" id="finder" class="over-page" aria-modal="true" aria-label={language.say('finder.title')}>
      <div class="command-menu">
        <form method="get" action="/find">
          <Icon name="search" />
          <input
            name="text"
            role="combobox"
            aria-label={language.say('finder.what')}
            aria-expanded="false"
            aria-controls="finder-found"
            aria-autocomplete="list"
            placeholder={language.say('finder.what')}
            maxlength={100}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            enterkeyhint="go"
          />
          <button type="button" class="quiet" popovertarget="finder" popovertargetaction="hide">
            <Icon name="close" />
            <span class="visually-hidden">{language.say('finder.close')}</span>
          </button>
        </form>
        <div id="finder-found" role="listbox" aria-label={language.say('finder.results')} hidden />
        <footer>
          <p data-failed={language.say('finder.failed')} />
          <p class="wide-only" aria-hidden="true">
            <kbd>↑</kbd> <kbd>↓</kbd> {language.say('finder.keys.choose')} <kbd>↵</kbd>{' '}
            {language.say('finder.keys.open')} <kbd>Esc</kbd> {language.say('finder.keys.close')}
          </p>
        </footer>
      </div>
    </dialog>
  );
}
