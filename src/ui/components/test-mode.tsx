/** The bar on every page of an account in test mode: it says that no recipient gets its mail, and where to change that. */
import type { Viewer } from '../viewer.ts';
import { useLanguage } from '../words/index.ts';
import { Icon } from './icon.tsx';

/** The bar that says that the account is in test mode. */
export function TestModeBar({ viewer }: { viewer: Viewer }) {
  const language = useLanguage();
  return (
    <div class="test-mode">
      <Icon name="tray" />
      <strong>{language.say('testMode.title')}</strong>
      {viewer.isOperator ? (
        <a href="/settings/sending">{language.say('testMode.connect')}</a>
      ) : (
        <span>{language.say('testMode.ask')}</span>
      )}
    </div>
  );
}
